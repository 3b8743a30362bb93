"""Which worktree is meant: by its path, its branch, or the agent on record for it. Two are none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from git_wave.gates import Inspection
from git_wave.git.parse import Registration
from git_wave.git.presence import Presence
from git_wave.git.worktrees import spellings
from git_wave.model.errors import WaveError
from git_wave.model.names import heads_ref
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.reclaim.yard import telling_git
from git_wave.state.journal import History


@dataclass(frozen=True, slots=True)
class Target:
    """`registration` is None for one of which nothing is left but its branch."""

    path: Path
    registration: Registration | None
    branch: str | None = None


def find_target(name: str, cwd: Path, inspection: Inspection, histories: Iterable[History]) -> Target:
    """Raises WaveError with `target_unknown` or `target_ambiguous`, or when git cannot tell."""
    with telling_git():
        found = {one.path: one for one in matching(name, cwd, inspection)}
        if len(found) > 1:
            raise WaveError(Reason.TARGET_AMBIGUOUS, "\n".join(sorted(found)))
        for path, registration in found.items():
            return Target(Path(path), registration, short(registration))
        return gone_target(name, cwd, inspection, histories)


def matching(name: str, cwd: Path, inspection: Inspection) -> Iterator[Registration]:
    """Every linked worktree that the name may mean. Raises NotKnown, GitError, OSError or WaveError."""
    main, *linked = inspection.registrations
    path = cwd / name
    real = os.path.realpath(path)
    if main.path in (*spellings(path), real):
        raise WaveError(Reason.MAIN_WORKTREE, f"{main.path} is the main worktree")
    places = places_of(name, inspection)
    for one in linked:
        by_path = one.path in spellings(path) or os.path.realpath(one.path) == real
        if by_path or one.branch in (heads_ref(name), name) or one.path in places:
            yield one


def places_of(agent: str, inspection: Inspection) -> set[str]:
    """Where the agent's worktrees are. Raises WaveError when a record that may be the agent's cannot be read."""
    named = {admin: owner for admin, owner in inspection.owners.items() if named_by(owner) == agent}
    if not named:
        return set()
    if unread := [str(error) for error in inspection.owners.values() if not isinstance(error, Owner)]:
        raise WaveError(Reason.TARGET_AMBIGUOUS, "\n".join(["another record cannot be read:", *unread]))
    found = {inspection.reads.place_of(admin) for admin in named}
    return {spelled for place in found if place is not None for spelled in spellings(place)}


def named_by(owner: object) -> str | None:
    return owner.agent_id if isinstance(owner, Owner) else None


def short(registration: Registration) -> str | None:
    return registration.branch.removeprefix("refs/heads/") if registration.branch else None


def gone_target(name: str, cwd: Path, inspection: Inspection, histories: Iterable[History]) -> Target:
    """One that is no more: a path inside the managed root where nothing is, or one that a run of ours removed.

    Raises WaveError.
    """
    if (removed := removed_before(name, histories)) and is_gone(removed.path, inspection):
        return removed
    path = Path(os.path.normpath(cwd / name))
    root = inspection.terms.managed_root
    if "/" in name and root is not None and is_inside(path, root) and is_gone(path, inspection):
        return Target(path, None)
    raise WaveError(Reason.TARGET_UNKNOWN, f"no linked worktree, branch or agent {name}")


def removed_before(name: str, histories: Iterable[History]) -> Target | None:
    """The newest worktree under that branch or agent that a run on record took away, or was taking away."""
    for history in reversed(list(histories)):
        agents = {line["path"]: line.get("agent") for line, _ in history.intents("decide")}
        for action in ("remove_worktree", "drop_registration"):
            for intent, _ in history.intents(action):
                if name in (intent["branch"], agents.get(intent["path"])):
                    return Target(Path(intent["path"]), None, intent["branch"])
    return None


def is_gone(path: Path, inspection: Inspection) -> bool:
    return inspection.reads.presence(path) is Presence.GONE


def is_inside(path: Path, root: Path) -> bool:
    parent = Path(os.path.realpath(path.parent))
    return parent.is_relative_to(os.path.realpath(root)) and path.parent.is_dir()
