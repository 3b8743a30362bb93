"""What stands against taking a worktree away. One question each; what cannot be told counts against it."""

from __future__ import annotations

import os

from git_wave.gates import Inspection, Terms, Verb, Verdict, judge
from git_wave.gates._beside import lost_beside
from git_wave.git.links import Worktree
from git_wave.git.parse import Registration
from git_wave.git.reads import Reads
from git_wave.lifecycle.committing import READ_ERRORS, State, beyond_commits, read_state, require_standing
from git_wave.lifecycle.subject import Subject, work_of
from git_wave.model.entry import Entry
from git_wave.model.errors import GitError, WaveError
from git_wave.model.names import Oid
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages._lock import is_harness_lock
from git_wave.state.kept import Sorting, sort_ignored

LISTED = 20
"""How many commits a refusal lists."""


def require_unlocked(subject: Subject, registration: Registration | None) -> str | None:
    """Is it unlocked, or locked by the harness? The reason of the lock, None without one. Raises WaveError."""
    try:
        told = registration.locked if registration else None
        reason = subject.worktree.lock_reason() if subject.worktree else told
    except OSError as error:
        raise WaveError(Reason.WORKTREE_LOCKED, str(error)) from error
    if reason is not None and not is_harness_lock(reason, as_entry(subject)):
        raise WaveError(Reason.WORKTREE_LOCKED, f"locked: {reason}")
    return reason


def as_entry(subject: Subject) -> Entry:
    """The entry, or what one would say."""
    if subject.claim:
        return subject.claim.entry
    return Entry(0, subject.agent_id, str(subject.path), subject.branch, "", (), (), ())


def require_no_work(subject: Subject, reads: Reads) -> None:
    """Does the branch hold nothing beyond its base and baseline? Raises WaveError."""
    try:
        work = work_of(subject, subject.tip, reads)
    except GitError as error:
        raise WaveError(Reason.BASE_UNKNOWN, str(error)) from error
    if work is None:
        raise WaveError(Reason.BASE_UNKNOWN, f"neither manifest nor owner record tells where {subject.branch} forked")
    if work:
        more = [f"and {len(work) - LISTED} more"] if len(work) > LISTED else []
        raise WaveError(Reason.HAS_COMMITS, "\n".join([*work[:LISTED], *more]))


def require_clean(state: State) -> None:
    """Is nothing uncommitted? Ignored files are another question. Raises WaveError."""
    if not state.is_clean:
        raise WaveError(Reason.WORKTREE_DIRTY, "\n".join(state.lines()))


def looked_into(worktree: Worktree, subject: Subject, reads: Reads) -> State:
    """What is uncommitted, when all of it can be saved: no commit and no move keeps what this refuses.

    Raises WaveError.
    """
    try:
        state = read_state(worktree, reads)
        require_standing(state, subject.branch, subject.tip)
        lost = list(beyond_commits(worktree, state, reads))
    except READ_ERRORS as error:
        raise WaveError(Reason.DIRT_CHECK_FAILED, str(error)) from error
    seen = {"worktree": worktree, "look": state.look, "survey": state.survey}
    verdict = judge(Inspection(reads, Terms()).subject(worktree.path, **seen), Verb.DISCARD, preserve=True)
    require_nobody_in(verdict)
    lost += [line for answer in verdict.against.values() for line in answer.why]
    if lost:
        raise WaveError(Reason.WORKTREE_DIRTY, "\n".join(dict.fromkeys(lost)))
    return state


def require_nothing_beside(subject: Subject, reads: Reads, wip: Oid | None) -> None:
    """Does nothing hang on the registration of a worktree that is gone, but for what `wip` keeps? Raises WaveError."""
    try:
        commits = [wip, *reads.objects.parents(wip)] if wip else []
        saved = [reads.objects.tree(commit) for commit in commits]
        lost = list(lost_beside(subject.path, subject.tip, reads, saved))
    except READ_ERRORS as error:
        raise WaveError(Reason.DIRT_CHECK_FAILED, str(error)) from error
    if lost:
        raise WaveError(Reason.WORKTREE_DIRTY, "\n".join(lost))


def require_nobody_in(verdict: Verdict) -> None:
    """Does nobody work there, and could every gate tell? Raises WaveError."""
    for name, answer in verdict.against.items():
        if name == "holders" or name in verdict.unknown:
            raise WaveError(answer.reason or Reason.DIRT_CHECK_FAILED, "\n".join(answer.why))


def require_removable(worktree: Worktree) -> None:
    """Can its files be deleted at all? Git drops the registration of what it deletes only in part."""
    if not all(os.access(place, os.W_OK | os.X_OK) for place in (worktree.path, worktree.path.parent)):
        raise WaveError(Reason.WORKTREE_REMOVE_FAILED, f"{worktree.path} cannot be written to")


def sorted_ignored(worktree: Worktree, state: State) -> Sorting:
    """Ignored files that must be kept, and how many a build makes again. Raises WaveError."""
    try:
        return sort_ignored(worktree.path, state.look.ignored)
    except OSError as error:
        raise WaveError(Reason.WORKTREE_REMOVE_FAILED, str(error)) from error


def require_single(subject: Subject, reads: Reads) -> None:
    """Is it the only worktree that is on the branch? Raises WaveError."""
    try:
        places = reads.heads_on(subject.ref)
    except (GitError, OSError) as error:
        raise WaveError(Reason.BRANCH_DELETE_FAILED, str(error)) from error
    if len(places) > 1:
        raise WaveError(Reason.BRANCH_DELETE_FAILED, "checked out more than once: " + ", ".join(map(shown, places)))
