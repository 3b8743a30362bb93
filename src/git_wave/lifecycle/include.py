"""Ignored files that a new worktree is to have all the same, as `.worktreeinclude` names them.

The file holds patterns as `.gitignore` does. What matches one and is ignored by git is copied from the checkout; what
is tracked comes with the branch anyway.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError, WaveError
from git_wave.model.reasons import Reason
from git_wave.state.below import NotRegular, replicate

NAME = ".worktreeinclude"


def copy_included(reads: Reads, worktree: Path) -> list[str]:
    """The paths that were copied. What stands in the worktree already is left. Raises WaveError."""
    root = reads.layout.root
    try:
        if not is_regular(root / NAME):
            return []
        wanted = [path for path in reads.included(root / NAME) if not os.path.lexists(worktree / path)]
        for path in wanted:
            replicate(root, worktree, path)
    except (GitError, OSError, NotRegular) as error:
        raise WaveError(Reason.INCLUDE_FAILED, f"{NAME}: {error}") from error
    return wanted


def is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False
