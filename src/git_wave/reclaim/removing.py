"""Taking one worktree away through git, and looking afterwards what came of it. Nothing is forced.

Git's word proves nothing either way: it may report success with the directory still there, and fail after it has
deleted half of it. What counts is what stands, and the number of entries before and after.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from git_wave.gates import Subject
from git_wave.gates.lock import named_pids
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import Registration
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, GitLocked
from git_wave.model.names import Oid
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.reclaim.fate import Fate, Outcome
from git_wave.running import Run
from git_wave.state.processes import is_dead

UNANSWERED = (OSError, GitError, BrokenLink)


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that was taken off for the removal: its reason, and when it was put there."""

    reason: str
    since: float


def take_away(subject: Subject, run: Run, fate: Fate) -> None:
    """Remove a worktree of which all has just been proven. Fills `fate` in; a JournalError or signal passes.

    Its entries were counted before that was proven: counting takes a while.
    """
    reads, worktree, tip = run.reads, subject.worktree, subject.tip
    if tip is None:
        fate.keep(Reason.UNBORN_HEAD, f"{fate.branch} has no commit yet")
        return
    path = worktree.path
    lock: Lock | None = None
    begun = False
    try:
        require_same(worktree, reads)
        lock = idle_lock(worktree)
        if lock is not None:
            run.hands.git.unlock_worktree(path, reason=lock.reason, since=lock.since)
        begun = True
        run.hands.git.remove_worktree(path, tip)
    except UNANSWERED as error:
        relock(worktree, lock, run)
        tell_failure(fate, error, reads, begun=begun)
    else:
        tell_success(fate, reads)
    if fate.outcome is Outcome.REMOVED:
        drop_left_over(path, tip, run, fate)


def require_same(worktree: Worktree, reads: Reads) -> None:
    """Is it still that very worktree, and can it be deleted whole? Raises BrokenLink or OSError."""
    now = reads.worktree_at(worktree.path)
    if now != worktree:
        raise BrokenLink(f"another worktree stands at {worktree.path} now")
    for place in (worktree.path, worktree.path.parent):
        if not os.access(place, os.W_OK | os.X_OK):
            # Git drops the registration of what it can delete only in part.
            raise BrokenLink(f"{place} cannot be written to")


def idle_lock(worktree: Worktree) -> Lock | None:
    """The lock on it, whose owners must be dead; the gates have said that it is old enough.

    Raises BrokenLink for any other lock, or OSError.
    """
    reason = worktree.lock_reason()
    if reason is None:
        return None
    pids = named_pids(reason)
    if not pids or not all(map(is_dead, pids)):
        raise BrokenLink(f"locked: {shown(reason)}")
    return Lock(reason, worktree.locked_since())


def relock(worktree: Worktree, lock: Lock | None, run: Run) -> None:
    """Put a lock back as it was, its age included."""
    try:
        if lock is not None and worktree.lock_reason() is None and worktree.admin.exists():
            run.hands.git.lock_worktree(worktree.path, lock.reason)
            os.utime(worktree.admin / "locked", (lock.since, lock.since))
    except UNANSWERED:
        return


def tell_success(fate: Fate, reads: Reads) -> None:
    found = reads.presence(fate.path)
    if found is Presence.GONE:
        fate.outcome, fate.reason, fate.why = Outcome.REMOVED, Reason.REMOVED, ()
    else:
        still = "is still there" if found is Presence.PRESENT else "cannot be looked at"
        fate.keep(Reason.WORKTREE_REMOVE_FAILED, f"git reported success, but {fate.path} {still}", unsure=True)


def tell_failure(fate: Fate, error: Exception, reads: Reads, *, begun: bool) -> None:
    """Git refused, or failed after it had deleted something."""
    reason = Reason.REPO_LOCKED if isinstance(error, GitLocked) else Reason.WORKTREE_REMOVE_FAILED
    words = str(error)
    found = reads.presence(fate.path)
    if found is Presence.GONE and begun:
        fate.outcome, fate.reason = Outcome.REMOVED, Reason.REMOVED
        fate.warn([Advice(reason, fate.branch, str(fate.path), words)])
        return
    if found is Presence.GONE:
        fate.outcome, fate.reason = Outcome.ALREADY_GONE, Reason.ALREADY_GONE
        return
    fate.keep(reason, words, unsure=True)
    if begun:
        compare(fate, words)
        if fate.outcome is Outcome.PARTIALLY_REMOVED and has_let_go(fate.path, reads):
            fate.why += ("git has let go of it: delete what is left of its files yourself",)


def has_let_go(path: Path, reads: Reads) -> bool:
    """Whether git has dropped the registration of what it could not delete whole."""
    try:
        return not reads.is_registered(path)
    except GitError:
        return False


def compare(fate: Fate, words: str) -> None:
    """Is everything still there that was counted before? Not knowing is no "yes"."""
    before = fate.entries[0] if fate.entries else None
    after = count_entries(fate.path)
    fate.entries = (before, after)
    if before is None or after is None or after < before:
        fate.outcome = Outcome.PARTIALLY_REMOVED
        told = ["an unknown number of" if number is None else str(number) for number in (before, after)]
        fate.why = (words, f"{told[0]} entries before, {told[1]} after")


def drop_left_over(path: Path, tip: Oid, run: Run, fate: Fate) -> None:
    """Where the directory is gone and its registration is still there, drop that one."""
    try:
        if run.reads.is_registered(path):
            run.hands.git.drop_registration(path, tip)
    except (GitError, JournalError) as error:
        fate.warn([Advice(Reason.REGISTRATION_KEPT, fate.branch, str(path), str(error))])


def count_entries(path: Path) -> int | None:
    """Files and directories below; None where not all of them can be listed."""

    def fail(error: OSError) -> None:
        raise error

    try:
        return sum(len(folders) + len(files) for _, folders, files in os.walk(path, onerror=fail))
    except OSError:
        return None


# -- worktrees whose directory is gone


def look_gone(registration: Registration, reads: Reads, fate: Fate) -> None:
    """Nothing answers at the path: is the worktree gone, or is a disk not mounted?"""
    path = Path(registration.path)
    fate.tip = Oid(registration.head) if registration.head else None
    try:
        admin = admin_of(path, reads)
        proven = admin is None or reads.stood_in(path, admin)
    except UNANSWERED as error:
        fate.keep(Reason.CANNOT_TELL, f"nothing is at {path}: {error}", unsure=True)
        return
    if not proven:
        why = f"nothing is at {path}, and {path.parent} has not changed since: is a disk not mounted?"
        fate.keep(Reason.CANNOT_TELL, why, unsure=True)
        return
    fate.outcome, fate.reason = Outcome.ALREADY_GONE, Reason.ALREADY_GONE


def clear_registration(registration: Registration, run: Run, fate: Fate) -> None:
    """Drop the registration of a worktree that is gone, if that loses nothing; a warning says why where it stays."""
    try:
        why = why_kept(registration, run.reads)
        if why is None and fate.tip is not None:
            run.hands.git.drop_registration(fate.path, fate.tip)
    except UNANSWERED as error:
        why = str(error)
    if why is not None:
        fate.warn([Advice(Reason.REGISTRATION_KEPT, fate.branch, str(fate.path), why)])


def why_kept(registration: Registration, reads: Reads) -> str | None:
    """Why the registration of a worktree that is gone must stay, None when it need not.

    Raises OSError, GitError or BrokenLink.
    """
    path = Path(registration.path)
    admin = admin_of(path, reads)
    if admin is None or registration.head is None:
        return "its administrative directory was not found"
    if registration.locked is not None:
        return f"it is locked: {shown(registration.locked)}"
    if registration.branch is None:
        return "its HEAD is detached, so that its commits may be nowhere else"
    beside = Worktree(path, admin)
    if found := [*reads.operations_in(beside), *reads.private_refs(beside)]:
        return f"something is half-done in it: {', '.join(found)}"
    if reads.submodule_repositories(beside):
        return "it has repositories of submodules"
    if reads.staged_beside(admin, Oid(registration.head)):
        return "something is staged in it"
    if reads.presence(path) is not Presence.GONE:
        return "it is there again"
    return None


def admin_of(path: Path, reads: Reads) -> Path | None:
    return next((one for one in reads.admin_directories() if reads.place_of(one) == path), None)
