"""What a create is asked for, and all that can be refused before anything is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from git_wave.git.reads import Reads
from git_wave.model.entry import Manifest
from git_wave.model.errors import GitError, Refusal, WaveError, in_words
from git_wave.model.manifest import entry_from, manifest_from
from git_wave.model.names import Oid, branch_name_error, heads_ref
from git_wave.model.reasons import Reason
from git_wave.recording import require_new, require_usable

STORE = Path(".claude/worktrees")
UNRESOLVED = "0" * 40


@dataclass(frozen=True, slots=True)
class Limits:
    """How much untracked content a replay copies: files, and bytes."""

    files: int = 2000
    size: int = 200 << 20


@dataclass(frozen=True, slots=True)
class Order:
    """What the flags said. `path` and `branch` are None, and `base` empty, where they were left out."""

    manifest: Path
    agent_id: str
    root: Path | None
    path: str | None = None
    branch: str | None = None
    base: str | None = None
    files: tuple[str, ...] = ()
    deletions: tuple[str, ...] = ()
    unique: bool = False
    lock: bool = False
    owner_pid: int | None = None
    session: str | None = None
    parent: str | None = None
    replay: bool = False
    baseline: bool = True
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Plan:
    """An order that can be carried out as far as can be told without git. All paths are real ones."""

    order: Order
    root: Path
    branch: str

    @property
    def agent_id(self) -> str:
        return self.order.agent_id.strip()

    @property
    def base(self) -> str:
        return (self.order.base or "HEAD").strip()

    def path_for(self, branch: str) -> Path:
        """Where the worktree goes. Raises WaveError with `path_outside_root`."""
        return inside(self.root, self.order.path or STORE / branch)

    def candidates(self) -> Iterator[str]:
        """Branch names to try in turn: one, or with `--unique` as many as it takes."""
        yield self.branch
        number = 1
        while self.order.unique:
            number += 1
            yield f"{self.branch}-{number}"


def plan_create(order: Order) -> Plan:
    """Raises WaveError with the reason, before git or the manifest is looked at."""
    if not order.agent_id.strip():
        raise WaveError(Reason.MISSING_FIELD, "missing or blank: --agent-id")
    if order.root is None:
        raise WaveError(Reason.ROOT_REQUIRED, "--root is missing: the directory that the worktree must stay inside of")
    for flag, value in (("--agent-id", order.agent_id), ("--branch", order.branch), ("--path", order.path)):
        require_said(flag, value, Reason.INVALID_ENTRY)
    require_said("--base", order.base, Reason.BASE_UNRESOLVED)
    branch = (order.branch or f"agent-{order.agent_id}").strip()
    if why := branch_name_error(branch):
        raise WaveError(Reason.INVALID_ENTRY, f"{branch!r} is no valid git branch name: {why}")
    plan = Plan(order, real_root(order.root), branch)
    plan.path_for(branch)
    return plan


def require_said(flag: str, value: str | None, reason: Reason) -> None:
    """A value that is blank is a shell variable that was unset, and no default; one with a dash is an option."""
    if value is not None and (not value.strip() or value.strip().startswith("-")):
        raise WaveError(reason, f"{flag} is blank or begins with a dash: {value!r}")


def real_root(root: Path) -> Path:
    try:
        real = root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise WaveError(Reason.NOT_A_CHECKOUT, in_words(error)) from error
    if not real.is_dir():
        raise WaveError(Reason.NOT_A_CHECKOUT, f"{root} is no directory")
    return real


def inside(root: Path, path: str | Path) -> Path:
    """`path`, taken from `root` if it is relative, as a real path strictly inside it."""
    wanted = root / path
    if ".." in Path(path).parts or "\0" in str(path):
        raise WaveError(Reason.PATH_OUTSIDE_ROOT, f"{path} holds a `..`")
    try:
        real = wanted.parent.resolve() / wanted.name
    except (OSError, RuntimeError) as error:
        raise WaveError(Reason.PATH_OUTSIDE_ROOT, f"{path}: {in_words(error)}") from error
    if root not in real.parents:
        raise WaveError(Reason.PATH_OUTSIDE_ROOT, f"{real} is not inside {root}")
    return real


def require_free(path: Path, reads: Reads) -> None:
    """Nothing may stand at the path, and it may not be inside git's own directories. Raises WaveError."""
    homes = {reads.layout.git_dir, reads.layout.common_dir}
    if homes & {path, *path.parents}:
        raise WaveError(Reason.PATH_OUTSIDE_ROOT, f"{path} is inside git's own directory")
    standing = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if standing == path or not standing.is_dir():
        raise WaveError(Reason.PATH_EXISTS, f"something stands at {standing}")
    main = reads.registrations[0]
    for other in reads.registrations:
        if Path(other.path) == path:
            raise WaveError(Reason.PATH_EXISTS, f"git has a worktree registered at {path}, though it is not there")
        if other.path != str(reads.layout.root) and Path(other.path) in path.parents and other is not main:
            raise WaveError(Reason.PATH_OUTSIDE_ROOT, f"{path} is inside another worktree, {other.path}")


def require_recordable(plan: Plan, branch: str, path: Path, document: Any, pattern: str) -> Manifest:
    """The entry that will be written must read back, and be no other's. Raises WaveError."""
    known = manifest_from(document, pattern)
    raw = raw_entry(plan, branch, path, Oid(UNRESOLVED))
    require_new(require_usable(entry_from(raw, len(known.entries), "", pattern)), known)
    return known


def raw_entry(plan: Plan, branch: str, path: Path, base: Oid) -> dict[str, Any]:
    return {
        "agent_id": plan.agent_id,
        "worktree_path": str(path),
        "branch": branch,
        "expected_base": base,
        "files_modified": list(plan.order.files),
        "declared_deletions": list(plan.order.deletions),
    }


def resolved_base(plan: Plan, reads: Reads) -> Oid:
    """The commit to fork from. Raises WaveError."""
    name = plan.base
    try:
        head, base = reads.objects.commit("HEAD"), reads.objects.commit(name)
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    if base is None and head is None:
        raise WaveError(Reason.NO_COMMIT, f"{reads.layout.root} has no commit yet to fork from")
    if base is None:
        raise WaveError(Reason.BASE_UNRESOLVED, f"{name} is no commit here")
    if plan.order.replay and base != head:
        raise WaveError(Reason.BASE_NOT_HEAD, f"uncommitted work is an edit of HEAD ({head}), not of {base}")
    return base


def is_taken(branch: str, reads: Reads) -> bool:
    return reads.objects.commit(heads_ref(branch)) is not None


def require_room(branch: str, reads: Reads) -> None:
    """No branch may be a part of the way to this one, nor this one of the way to another. Raises WaveError."""
    above = [parent for parent in map(str, Path(branch).parents) if parent != "." and is_taken(parent, reads)]
    if above or reads.has_branches_below(branch):
        other = above[0] if above else f"{branch}/..."
        raise WaveError(Reason.BRANCH_EXISTS, f"there cannot be a branch {branch} beside {other}")
