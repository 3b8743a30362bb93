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
        oid, ref = reads.worktree_head(worktree)
    except BrokenLink as error:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path}: {error}")
    except (OSError, GitError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return accept_absent(case, reads, f"{case.path} cannot be read: {why}")
    if ref != case.ref or oid is None:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path} is on {ref}, not on {case.ref}")
    return Go(case.knowing(tip=oid, worktree=worktree))


def is_main(path: Path, reads: Reads) -> bool:
    """Whether the path is the checkout we land into or the main worktree, however it is spelled."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    layout = reads.layout
    return real in (layout.root, layout.common_dir) or (real / ".git").resolve() == layout.common_dir


STAGE = Gate("identity", "Is the checkout registered at this path the branch the manifest says?", check)
