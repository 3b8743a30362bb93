"""Is the checkout registered at this path the branch the manifest says?

The answer pins the branch to one commit: every later stage judges, merges and clears away that commit.
"""

from __future__ import annotations

from pathlib import Path

from git_wave.git.links import BrokenLink
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.reasons import Reason
from git_wave.stages._absence import accept_absent
from git_wave.stages._case import Case, Gate, Go, Step, Stop


def check(case: Case, reads: Reads) -> Step:
    if is_main(case.path, reads):
        return Stop(case, Reason.MAIN_WORKTREE, str(case.path))
    try:
        worktree = reads.worktree_at(case.path)
        look = reads.worktree_look(worktree)
    except BrokenLink as error:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path}: {error}")
    except (OSError, GitError) as error:
        return accept_absent(case, reads, f"{case.path} cannot be read: {words(error)}")
    if look.branch != case.entry.branch or look.oid is None:
        found = f"on {look.branch}" if look.branch else "on no branch"
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path} is {found}, not on {case.entry.branch}")
    return Go(case.knowing(tip=look.oid, worktree=worktree, look=look))


def is_main(path: Path, reads: Reads) -> bool:
    """Whether the path is the checkout we land into or the main worktree, however it is spelled."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    layout = reads.layout
    return real in (layout.root, layout.common_dir) or (real / ".git").resolve() == layout.common_dir


def words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


STAGE = Gate("identity", "Is the checkout registered at this path the branch the manifest says?", check)
