"""Is it free of a lock that somebody may still want?

A lock counts for nothing only when it names a process, that process is provably dead, and the lock is older than five
minutes: a harness may lock with a pid that ends while its successor takes over.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from git_wave.gates._answer import Answer, blocks, cannot_tell, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.git.links import Worktree
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.processes import is_dead

PID = re.compile(r"\bpid\b[\s:=#]*(\d+)|\A\s*(\d+)\s*\Z", re.IGNORECASE)
SETTLED = timedelta(minutes=5)


def check(subject: Subject) -> Answer:
    reason = subject.worktree.lock_reason()
    if reason is None:
        return clear()
    pids = named_pids(reason)
    if not pids:
        return blocks(Reason.LOCK_OWNER_UNKNOWN, f"locked: {shown(reason)}" if reason else "locked, without a reason")
    if alive := [pid for pid in pids if not is_dead(pid)]:
        return blocks(Reason.PID_ALIVE, f"locked by pid {alive[0]}, which is not known to be dead")
    age = lock_age(subject.worktree, subject.terms.now)
    if age is None:
        return cannot_tell(Reason.LOCK_AGE_UNKNOWN, "it cannot be told how old the lock is")
    if age <= SETTLED:
        return blocks(Reason.LOCK_TOO_FRESH, f"locked {max(age, timedelta()).seconds} seconds ago")
    return clear()


def named_pids(reason: str) -> list[int]:
    """The processes that a lock's reason names: `pid 123` anywhere, or a number and nothing else."""
    return [int(match[1] or match[2]) for match in PID.finditer(reason)]


def lock_age(worktree: Worktree, now: datetime | None) -> timedelta | None:
    try:
        locked_at = datetime.fromtimestamp(worktree.locked_since(), UTC)
    except (OSError, OverflowError, ValueError):
        return None
    return now - locked_at if now is not None else None


GATE = Gate("lock", "Is it free of a lock that somebody may still want?", check)
