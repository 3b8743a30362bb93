"""So that the agent sees what the user sees: the uncommitted state of a checkout, read and made again elsewhere.

The state is read as two trees, what is staged and what is on disk, with an index of our own: nothing of the user's is
written to. Files are then copied, bytes and permission bits, rather than checked out, since a filter may give back
something else than it took. The copy is proven by git: the files of the new worktree must make the very same tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from git_wave.git.indexes import Indexes
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import SUBMODULE, Difference, Look
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.lifecycle.plan import Limits
from git_wave.model.errors import GitError, Refusal, WaveError
from git_wave.model.names import Oid
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.below import NotRegular, replicate

SIDECARS = (".git-wave", ".claude/worktrees", ".agent_context", ".multica", ".trusty-mpm-worktree")
"""Directories in which this tool and harnesses keep their own files beside the user's."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A checkout's uncommitted state. `staged` and `files` are trees, `base` that of HEAD; `size` is in bytes."""

    base: Oid
    staged: Oid
    files: Oid
    changes: tuple[Difference, ...]
    tracked: int
    untracked: int
    size: int
    skipped: int

    @property
    def deleted(self) -> list[str]:
        return [change.path for change in self.changes if change.status == "D"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is not replayed: more than `limits` allow; further `sidecars`; the `manifest`, where it is untracked."""

    limits: Limits
    sidecars: tuple[str, ...]
    manifest: Path

    def is_ours(self, path: Path) -> bool:
        """Also of the files beside the manifest that recorders lock and replace it with."""
        return path == self.manifest or (
            path.parent == self.manifest.parent and path.name.startswith(f".{self.manifest.name}.")
        )


def capture(head: Oid, reads: Reads, snapshots: Snapshots, bounds: Bounds) -> Captured | None:
    """The uncommitted state of the checkout at `head`; None when there is none. Raises WaveError."""
    try:
        look = reads.checkout_look()
        require_replayable(look, reads)
        survey = reads.index_survey(reads.checkout)
        require_whole_submodules(reads, survey.submodules)
        untracked, skipped = sorted_out(look, reads, bounds)
        if not untracked and not survey.hidden and all(change.code == "??" for change in look.changes):
            return None
        size = require_copyable(reads.layout.root, untracked, bounds.limits)
        base = reads.objects.tree(head)
        staged = snapshots.index_tree(reads.checkout)
        files = snapshots.files_tree(reads.checkout, survey.hidden, untracked)
        changes = snapshots.changes(base, files)
    except (GitError, OSError, BrokenLink) as error:
        raise WaveError(Reason.REPLAY_FAILED, f"the checkout could not be read: {error}") from error
    if (staged, files) == (base, base):
        return None
    tracked = len({change.path for change in changes} - set(untracked))
    return Captured(base, staged, files, changes, tracked, len(untracked), size, skipped)


def require_replayable(look: Look, reads: Reads) -> None:
    busy = [*reads.operations(), *(f"unmerged: {shown(path)}" for path in look.unmerged)]
    if busy:
        raise Refusal(Reason.REPO_BUSY, "\n".join(busy))


def require_whole_submodules(reads: Reads, submodules: Sequence[str]) -> None:
    """A submodule is replayed as the commit it points to; edits inside are nowhere that could be replayed."""
    edited = [str(module.path) for module in reads.checked_out(reads.checkout, submodules) if is_edited(module, reads)]
    if edited:
        raise unreplayable("edits inside a submodule", edited)


def is_edited(module: Worktree, reads: Reads) -> bool:
    return bool(reads.worktree_look(module).changes)


def sorted_out(look: Look, reads: Reads, bounds: Bounds) -> tuple[list[str], int]:
    """Untracked files to replay, and how many other things were left out on purpose."""
    found = [change.path for change in look.changes if change.code == "??"]
    sidecars = (*SIDECARS, *bounds.sidecars)
    root = reads.layout.root
    rest = [path for path in found if not (is_sidecar(path, sidecars) or bounds.is_ours(root / path))]
    repositories = [path for path in rest if path.endswith("/")]
    others = [path for path in repositories if reads.registration(root / path.rstrip("/")) is None]
    if others:
        raise unreplayable("a repository of its own", others)
    return [path for path in rest if not path.endswith("/")], len(found) - len(rest) + len(repositories)


def is_sidecar(path: str, sidecars: Iterable[str]) -> bool:
    """Whether a whole part of `path`, at any depth, is a sidecar's name.

    >>> is_sidecar("deep/.claude/worktrees/agent-1/x", [".claude/worktrees"])
    True
    >>> is_sidecar("my.multica/x", [".multica"])
    False
    """
    return any(f"/{name.strip('/')}/" in f"/{path.rstrip('/')}/" for name in sidecars if name.strip("/"))


def require_copyable(root: Path, untracked: Sequence[str], limits: Limits) -> int:
    """The bytes to copy. Raises WaveError when it is too much, or not of a kind that can be copied."""
    size = 0
    outside = []
    for path in untracked:
        status = os.lstat(root / path)
        if stat.S_ISREG(status.st_mode):
            size += status.st_size
        elif stat.S_ISLNK(status.st_mode) and leads_outside(path, os.readlink(root / path)):
            outside.append(path)
    if outside:
        raise unreplayable("a symbolic link that is absolute or leads out of the repository", outside)
    if len(untracked) > limits.files or size > limits.size:
        allowed = f"{limits.files} files and {limits.size} bytes allowed"
        told = f"{len(untracked)} untracked files with {size} bytes; {allowed}"
        raise WaveError(Reason.REPLAY_TOO_LARGE, told)
    return size


def leads_outside(path: str, target: str) -> bool:
    """Whether a link, copied as it is, would lead anywhere but to the same place of the new worktree.

    >>> leads_outside("a/link", "../b"), leads_outside("a/link", "../../b"), leads_outside("link", "/etc")
    (False, True, True)
    """
    lands = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return target.startswith("/") or lands.split("/")[0] in ("..", ".git")


def unreplayable(why: str, paths: Iterable[str]) -> WaveError:
    return WaveError(Reason.REPLAY_FAILED, "\n".join(f"{why}: {shown(path)}" for path in paths))


def replay(captured: Captured, source: Path, worktree: Worktree, indexes: Indexes) -> None:
    """Make the captured state in a fresh worktree, files and index. Raises WaveError unless it is proven the same."""
    try:
        clear_away(captured.changes, worktree.path)
        made = [change for change in captured.changes if change.status != "D"]
        for change in made:
            if change.mode == SUBMODULE:
                (worktree.path / change.path).mkdir(parents=True, exist_ok=True)
            else:
                replicate(source, worktree.path, change.path)
        match_directories((change.path for change in made), source, worktree.path)
        tree = indexes.take_files(worktree, captured.changes)
    except NotRegular as error:
        raise unreplayable("no regular file", [str(error)]) from error
    except (OSError, GitError) as error:
        raise WaveError(Reason.REPLAY_FAILED, str(error)) from error
    if tree != captured.files:
        raise WaveError(Reason.REPLAY_FAILED, "the copy is not what was read: the checkout changed meanwhile")


def match_directories(paths: Iterable[str], source: Path, target: Path) -> None:
    """Give the directories above these paths the permissions they have at the source; the owner may always write."""
    above = {parent for path in paths for parent in Path(path).parents} - {Path(".")}
    for directory in sorted(above, key=lambda path: len(path.parts), reverse=True):
        mode = stat.S_IMODE(os.lstat(source / directory).st_mode) | stat.S_IRWXU
        if mode != stat.S_IMODE(os.lstat(target / directory).st_mode):
            os.chmod(target / directory, mode)


def clear_away(changes: Sequence[Difference], root: Path) -> None:
    """Take away what is not there any more, or is there as something else, directories that get empty included."""
    for change in changes:
        place = root / change.path
        if change.mode == SUBMODULE and change.status != "T":
            continue
        if change.status == "D" or change.status == "T":
            if place.is_dir() and not place.is_symlink():
                place.rmdir()
            else:
                place.unlink(missing_ok=True)
            if change.status == "D":
                drop_empty(place.parent, root)


def drop_empty(directory: Path, root: Path) -> None:
    while directory != root:
        try:
            directory.rmdir()
        except OSError:
            return
        directory = directory.parent
