"""Is anything uncommitted left in the worktree?

`git status` with a user's settings is no proof of clean: it can leave out untracked files, files marked
assume-unchanged or skip-worktree, commits that only a submodule holds, and operations that stand half-done. And where
somebody is still at work, clean now is not clean in a moment. The gates ask all of it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from git_wave.gates import Answer, Subject, Verb, Verdict, judge
from git_wave.git.links import BrokenLink
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.reasons import Reason
from git_wave.stages._absence import accept_absent, lost_with
from git_wave.stages._case import Case, Gate, Go, Step, Stop
from git_wave.stages._inspection import inspection_of

logger = logging.getLogger("git_wave.gates")


def check(case: Case, reads: Reads) -> Step:
    if case.worktree is None:
        return without_worktree(case, reads)
    # One look at the processes before each merge: at the three links of each, which takes milliseconds.
    subject = inspection_of(case, reads, full_census=False).subject(case.worktree.path, worktree=case.worktree)
    verdict = judge(subject, Verb.WAVE)
    note_warnings(verdict)
    if verdict.unknown:
        if reads.presence(case.path) is not Presence.PRESENT:
            return accept_absent(case, reads, f"{case.path} went away while it was checked")
        return Stop(case, unknown_reason(verdict), lines_of(verdict.unknown))
    return judged(case, subject, verdict)


def without_worktree(case: Case, reads: Reads) -> Step:
    """The directory is gone; what git still has of it may be the only place where something is."""
    try:
        lost = lost_with(case, reads) if reads.registration(case.path) else ""
    except (BrokenLink, OSError, GitError) as error:
        return Stop(case, Reason.DIRT_CHECK_FAILED, str(error))
    return Stop(case, Reason.WORKTREE_DIRTY, lost) if lost else Go(case)


def judged(case: Case, subject: Subject, verdict: Verdict) -> Step:
    look = subject.look
    if look.branch != case.entry.branch:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path} is on {look.branch or 'no branch'}")
    if look.oid != case.tip:
        return Stop(case, Reason.BRANCH_MOVED, f"pinned at {case.tip}; the branch stands at {look.oid} now")
    if verdict.against:
        return Stop(case, blocked_reason(verdict), lines_of(verdict.against))
    return Go(case.knowing(look=look, survey=subject.survey))


def unknown_reason(verdict: Verdict) -> Reason:
    return Reason.HOLDERS_CHECK_FAILED if set(verdict.unknown) == {"holders"} else Reason.DIRT_CHECK_FAILED


def blocked_reason(verdict: Verdict) -> Reason:
    """Somebody at work explains everything else; and ignored files block only if nothing worse is found."""
    if "holders" in verdict.against:
        return Reason.WORKTREE_IN_USE
    return Reason.IGNORED_OUTPUT_BLOCKS if set(verdict.against) == {"ignored_output"} else Reason.WORKTREE_DIRTY


def lines_of(answers: Mapping[str, Answer]) -> str:
    """Every finding on a line, those that several gates share once."""
    return "\n".join(dict.fromkeys(line for answer in answers.values() for line in answer.why))


def note_warnings(verdict: Verdict) -> None:
    """For the log alone: a process that hides itself is on most machines, and no entry's doing."""
    for warning in verdict.warnings:
        logger.debug("%s: %s", warning.code, warning.detail)


STAGE = Gate("dirt", "Is anything uncommitted left in the worktree?", check)
