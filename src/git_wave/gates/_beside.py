"""What hangs on the registration of a worktree whose directory is gone, and would be lost with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from git_wave.git.links import BrokenLink, Worktree, is_there
from git_wave.git.parse import Difference
from git_wave.git.reads import Reads
from git_wave.git.worktrees import spellings
from git_wave.model.names import Oid
from git_wave.model.paths import shown


def lost_beside(
    path: Path,
    tip: Oid,
    reads: Reads,
    saved: Collection[Oid] = (),
    is_safe: Callable[[Difference], bool] = lambda _: False,
) -> Iterator[str]:
    """One line for each thing. `saved` are trees that are kept elsewhere, `is_safe` tells whether what is staged is.

    Raises OSError, GitError or BrokenLink when that cannot be told.
    """
    admin = next((one for one in reads.admin_directories() if str(reads.place_of(one)) in spellings(path)), None)
    if admin is None:
        raise BrokenLink(f"the administrative directory of {path} was not found")
    beside = Worktree(path, admin)
    yield from (f"{name} in progress" for name in reads.operations_in(beside))
    yield from (f"ref of this worktree alone: {ref}" for ref in reads.private_refs(beside))
    yield from (f"commits that no remote of a submodule has: {one}" for one in reads.unshared_submodules(beside, ()))
    if not is_there(admin / "index"):
        return
    if all(reads.staged_beside(admin, tree) for tree in saved):
        # What is staged to be deleted is in the commit.
        written = (one for one in reads.staged_beside(admin, tip) if one.status != "D")
        yield from (f"staged, and not committed so: {shown(one.path)}" for one in written if not is_safe(one))
