"""Clear away locked worktrees whose owner is dead and whose work is in the default branch.

The lock names its owner by pid. Only a process that is provably not there is dead: a pid that was used again is
alive, and the worktree stays.
"""

from __future__ import annotations

from pathlib import Path

from git_wave.gates import Kind, NotKnown, Subject, Verb, judge
from git_wave.git.presence import Presence
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError
from git_wave.model.reasons import Reason
from git_wave.reclaim.fate import Fate
from git_wave.reclaim.reap import Candidate, Sweep, sweep_through
from git_wave.reclaim.targets import short
from git_wave.reclaim.yard import Yard, telling_git

NAMES = {
    Reason.REMOVED: Reason.PID_DEAD_AND_MERGED,
    Reason.WOULD_REMOVE: Reason.PID_DEAD_AND_MERGED,
    Reason.WORKTREE_REMOVE_FAILED: Reason.REMOVE_FAILED,
}


def reap_orphans(sweep: Sweep, yard: Yard, *, dry_run: bool) -> None:
    """Fills `sweep` in; raises WaveError or Interrupted."""
    with telling_git():
        locked = [one for one in yard.reads.list_registrations()[1:] if one.locked is not None]
    # A lock is how git is told of a disk that may come back: what is not there is left alone.
    gone = [one for one in locked if yard.reads.presence(Path(one.path)) is Presence.GONE]
    sweep.warnings += [Advice(Reason.REGISTRATION_KEPT, short(one), one.path, "locked, and not there") for one in gone]
    there = [one for one in locked if one not in gone]
    candidates = [Candidate(Fate(Path(one.path), short(one)), one, names=NAMES) for one in there]
    sweep_through(candidates, is_orphan, sweep, yard, dry_run=dry_run, drop_gone=False)


def is_orphan(candidate: Candidate, subject: Subject) -> bool:
    """The lock first, then whether its work is in the default branch, then everything else."""
    fate = candidate.fate
    verdict = judge(subject, Verb.REAP_ORPHANS)
    free = fate.judged(verdict)
    answer = verdict.against.get("lock")
    if answer is not None:
        fate.keep(answer.reason or Reason.CANNOT_TELL, *answer.why, unsure=answer.kind is Kind.CANNOT_TELL)
        return False
    try:
        if subject.worktree.lock_reason() is None:
            fate.keep(Reason.LOCK_OWNER_UNKNOWN, "it is not locked any more")
            return False
        return is_merged(candidate, subject) and free
    except (NotKnown, GitError, OSError) as error:
        fate.keep(Reason.CANNOT_TELL, str(error), unsure=True)
        return False


def is_merged(candidate: Candidate, subject: Subject) -> bool:
    """Whether the branch's tip is in the default branch. Raises NotKnown or GitError."""
    ref, fate = candidate.registration.branch, candidate.fate
    tip = subject.reads.objects.commit(ref) if ref else None
    if tip is None:
        fate.keep(Reason.CANNOT_RESOLVE_BRANCH_TIP, f"{ref} is no commit" if ref else "it is on no branch")
        return False
    default = subject.inspection.default_ref
    if count := subject.reads.commits_outside(tip, default):
        fate.keep(Reason.BRANCH_NOT_MERGED, f"{count} commit{'s' if count > 1 else ''} not in {default}")
    return not count
