"""Is the checkout registered at this path the branch the manifest says?

The answer pins the branch to one commit: every later stage judges, merges and clears away that commit.
"""

from __future__ import annotations

from pathlib import Path

from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import Look
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, heads_ref
from git_wave.model.reasons import Reason
from git_wave.stages._absence import accept_absent
from git_wave.stages._case import Case, Gate, Go, Step, Stop


def check(case: Case, reads: Reads) -> Step:
    if is_main(case.path, reads):
        return Stop(case, Reason.MAIN_WORKTREE, str(case.path))
    try:
        worktree = reads.worktree_at(case.path)
    except BrokenLink as error:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path}: {error}")
    except OSError as error:
        return accept_absent(case, reads, f"{case.path} cannot be read: {error.strerror}")
    try:
        look, oid, branch = looked_at(worktree, reads)
    except GitError as error:
        return accept_absent(case, reads, f"{case.path} cannot be read: {error}")
    if branch != case.ref or oid is None:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path} is on {branch}, not on {case.ref}")
    return Go(case.knowing(tip=oid, worktree=worktree, look=look))


def looked_at(worktree: Worktree, reads: Reads) -> tuple[Look | None, Oid | None, str]:
    """One look answers for HEAD and for what is uncommitted. Where it fails, HEAD alone is enough here: what is
    uncommitted is asked again where it matters. Raises GitError.
    """
    try:
        look = reads.worktree_look(worktree)
    except GitError:
        oid, branch = reads.worktree_head(worktree)
        return None, oid, branch
    return look, look.oid, heads_ref(look.branch) if look.branch else "no branch"


def is_main(path: Path, reads: Reads) -> bool:
    """Whether the path is the checkout we land into or the main worktree, however it is spelled."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    layout = reads.layout
    return real in (layout.root, layout.common_dir) or (real / ".git").resolve() == layout.common_dir


STAGE = Gate("identity", "Is the checkout registered at this path the branch the manifest says?", check)
