"""The form of one explanation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Where a code appears."""

    LANDED = "landed"
    BLOCKED = "blocked"
    WARNING = "warning"
    REFUSED = "wave refused"
    RECORD = "record refused"
    UNDO = "undo"
    HARNESS = "around a wave"
    CREATED = "created"
    CREATE = "create refused"
    LIFECYCLE = "worktree verb"
    KEPT = "worktree kept"
    KEPT_FILES = "kept files"
    RECLAIM = "reclaim"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry of the registry: `meaning` and `advice` are plain sentences; `next_step` fits a table cell."""

    kinds: tuple[Kind, ...]
    stage: str
    meaning: str
    advice: str
    next_step: str = ""


LANDED, BLOCKED, WARNING = (Kind.LANDED,), (Kind.BLOCKED,), (Kind.WARNING,)
REFUSED, RECORD = (Kind.REFUSED,), (Kind.RECORD,)
CREATE, LIFECYCLE, BLOCKED_ANYWHERE = (Kind.CREATE,), (Kind.LIFECYCLE,), (Kind.BLOCKED, Kind.LIFECYCLE)
RERUN = "Then run the same command again: what has landed stays landed."
