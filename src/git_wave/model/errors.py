"""The errors that cross floors.

    WaveError                  expected, has a reason code and ends a command in good order
      Refusal                  nothing may be touched; said before anything was
    GitError                   git could not answer (not: git answered "no")
      GitTimeout               ... within its time
      GitLocked                ... because somebody holds one of git's lock files
    Interrupted                a signal asked us to stop; never swallowed by a stage

Anything else that reaches the top is a defect of ours and shows its trace.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from git_wave.model.reasons import Reason


def in_words(error: BaseException) -> str:
    """What went wrong, for people: of a system call `path: what`, without Python's way of writing either."""
    if isinstance(error, OSError) and error.strerror:
        if isinstance(error.filename, str | bytes | os.PathLike):  # it may be a descriptor
            return f"{os.fsdecode(error.filename)}: {error.strerror}"
        return error.strerror
    return str(error)


class WaveError(Exception):
    """A command cannot go on. `detail` is for people: git's words, or the paths concerned, one a line."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Refusal(WaveError):
    """Said before anything was touched."""


class GitError(Exception):
    """One git command ended in a way that answers nothing.

    `code` is its exit code (negative: the signal that ended it; None: it never ran).
    """

    def __init__(self, argv: Sequence[str], code: int | None, stderr: str) -> None:
        super().__init__(stderr.strip() or f"git {' '.join(argv[:2])} exited {code}")
        self.argv = tuple(argv)
        self.code = code
        self.stderr = stderr


class GitTimeout(GitError):
    """The command and its whole process group were ended because its time was up."""


class GitLocked(GitError):
    """Another process holds a lock file of git's; `lock_file` names it. It is theirs, and is never deleted."""

    def __init__(self, argv: Sequence[str], code: int | None, stderr: str, lock_file: str) -> None:
        super().__init__(argv, code, stderr)
        self.lock_file = lock_file


class Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP arrived. A BaseException, so that no `except Exception` can swallow it."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"signal {signum}")
        self.signum = signum
