"""Are worktree and branch gone, and only they?

Everything is asked once more, next to the act: agents write after they report. The worktree goes only if it
stands at the merged commit with nothing uncommitted in it, and the branch only if it still stands there too.
A refusal of git's is the last word; nothing is removed in any other way.
"""

from __future__ import annotations

import os
from dataclasses import replace

from git_wave.gates import Verb, Verdict, judge
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import Look
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.rehearsal import Rehearsal
from git_wave.git.worktrees import IndexSurvey
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, GitLocked
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages._absence import LEFT_OVERS, accept_absent, lost_with
from git_wave.stages._case import Act, Case, Go, Hands, Status, Step, Stop
from git_wave.stages._ignored import rehearse_ignored, set_ignored_aside, still_ignored
from git_wave.stages._inspection import inspection_of
from git_wave.stages._lock import is_harness_lock
from git_wave.stages.dirt import lines_of
from git_wave.state.artifacts import NotRescued, digest_of


def perform(case: Case, reads: Reads, hands: Hands) -> Step:
    step = take_worktree(case, reads, hands) if case.worktree else take_registration(case, reads, hands)
    if isinstance(step, Stop):
        return step
    ending = take_branch(step.case, reads, hands)
    return replace(ending, warnings=(*step.warnings, *kept_before(case)))


def kept_before(case: Case) -> list[Advice]:
    """What a run that was cut short had kept of this worktree, and could not tell."""
    return [
        case.warning(Reason.IGNORED_OUTPUT_KEPT, place, "kept by a run that was cut short")
        for branch, place in case.terms.earlier.kept
        if branch == case.entry.branch and os.path.lexists(place)
    ]


def rehearse(case: Case, reads: Rehearsal) -> Step:
    if case.worktree is None or case.look is None:
        return Go(case)
    try:
        if stop := locked_against(case, case.worktree.lock_reason()):
            return stop
        dropped, warnings = rehearse_ignored(case, case.worktree, case.look, reads)
    except OSError as error:
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, str(error))
    return Go(case.knowing(dropped=dropped), tuple(warnings))


def take_worktree(case: Case, reads: Reads, hands: Hands) -> Step:
    """Remove a worktree that is there."""
    try:
        worktree = reads.worktree_at(case.path)
        look = reads.worktree_look(worktree)
        reason = worktree.lock_reason()
    except (OSError, GitError, BrokenLink) as error:
        return gone_meanwhile(case, reads, hands, str(error))
    if stop := not_as_merged(case, worktree, look, reads) or locked_against(case, reason):
        return stop
    if not all(os.access(place, os.W_OK | os.X_OK) for place in (worktree.path, worktree.path.parent)):
        # Git drops the registration of what it can delete only in part.
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"{worktree.path} cannot be written to")
    return clear(case, worktree, look, reason, reads, hands)


def clear(case: Case, worktree: Worktree, look: Look, reason: str | None, reads: Reads, hands: Hands) -> Step:
    """Carry to safety what is no commit, and let git remove the rest."""
    warnings: list[Advice] = []
    try:
        dropped = set_ignored_aside(case, worktree, look, reads, hands, warnings)
        if any(warning.code is Reason.IGNORED_OUTPUT_KEPT for warning in warnings):
            # Moving may have taken a while, and moved paths look different now.
            look = reads.worktree_look(worktree)
            if stop := not_as_merged(case, worktree, look, reads) or still_ignored(case, worktree, look):
                return replace(stop, warnings=tuple(warnings))
        if reason is not None:
            hands.git.unlock_worktree(worktree.path)
        drop_rescued(case, worktree, look)
        hands.git.remove_worktree(worktree.path, case.pinned, force=needs_force(case, worktree, look))
    except (OSError, GitError) as error:
        if reads.presence(case.path) is Presence.GONE:
            return gone_meanwhile(case, reads, hands, str(error))
        stop = not_removed(case, worktree, reason, reads, hands, error)
        return replace(stop, warnings=tuple(warnings))
    if reads.presence(case.path) is not Presence.GONE:
        detail = f"git reported success, but {case.path} is still there"
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, detail, tuple(warnings))
    return Go(case.knowing(dropped=dropped), tuple(warnings))


def not_removed(
    case: Case, worktree: Worktree, reason: str | None, reads: Reads, hands: Hands, error: Exception
) -> Stop:
    """Git did not remove it, or not all of it: then it has dropped the registration all the same."""
    if not registered_now(case, reads):
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"{LEFT_OVERS}: {case.path}\n{error}")
    relock(worktree, reason, hands)
    return refused_by_git(case, error, Reason.WORKTREE_REMOVE_FAILED)


def drop_rescued(case: Case, worktree: Worktree, look: Look) -> None:
    """Delete the untracked artifacts that are safe in the main checkout, so that git need not be forced."""
    for change in look.changes:
        if change.code == "??" and change.path in case.rescued:
            os.unlink(worktree.path / change.path)


def needs_force(case: Case, worktree: Worktree, look: Look) -> bool:
    """Git's own refusal is the last safeguard; it is switched off only where git would refuse what is fine: an
    artifact that was staged, and submodules, which were looked into.
    """
    staged = any(change.code != "??" for change in look.changes)
    return staged or bool(case.survey and case.survey.submodules) or os.path.lexists(worktree.admin / "modules")


def registered_now(case: Case, reads: Reads) -> bool:
    """Whether git still knows the worktree; "cannot tell" counts as yes."""
    try:
        return reads.is_registered(case.path)
    except GitError:
        return True


def not_as_merged(case: Case, worktree: Worktree, look: Look, reads: Reads) -> Stop | None:
    """Does the worktree still stand exactly where it was merged?"""
    if case.worktree is None or worktree.admin != case.worktree.admin:
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"another worktree stands at {case.path} now")
    if (look.oid, look.branch) != (case.tip, case.entry.branch):
        where = f"{look.branch or 'no branch'} at {look.oid}"
        return Stop(case, Reason.BRANCH_MOVED, f"merged at {case.tip}; the worktree is on {where} now")
    # Marks and submodules are few: where dirt saw none, the index is not listed once more.
    known = {"worktree": worktree, "look": look, "survey": case.survey or IndexSurvey((), ())}
    verdict = judge(inspection_of(case, reads, full_census=True).subject(worktree.path, **known), Verb.WAVE)
    if "holders" in verdict.against:
        return Stop(case, unknown_or_in_use(verdict), lines_of(verdict.against))
    try:
        again = [shown(path) for path in case.rescued if written_again(case, worktree, path)]
    except (OSError, NotRescued) as error:
        again = [str(error)]
    if late := "\n".join(filter(None, (lines_of(verdict.against), *again))):
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"written after it was checked:\n{late}")
    return None


def unknown_or_in_use(verdict: Verdict) -> Reason:
    return Reason.HOLDERS_CHECK_FAILED if "holders" in verdict.unknown else Reason.WORKTREE_IN_USE


def written_again(case: Case, worktree: Worktree, path: str) -> bool:
    """Whether an artifact is not what was brought to safety. Raises NotRescued."""
    return os.path.lexists(worktree.path / path) and digest_of(worktree.path, path) != case.rescued[path]


def locked_against(case: Case, reason: str | None) -> Stop | None:
    if reason is None or is_harness_lock(reason, case.entry):
        return None
    return Stop(case, Reason.WORKTREE_LOCKED, f"locked: {reason}")


def relock(worktree: Worktree, reason: str | None, hands: Hands) -> None:
    """Put back a lock that was taken off for a removal that then failed."""
    try:
        if reason is not None and worktree.lock_reason() is None:
            hands.git.lock_worktree(worktree.path, reason)
    except (OSError, GitError):
        return


def gone_meanwhile(case: Case, reads: Reads, hands: Hands, why: str) -> Step:
    """The worktree does not answer any more: clear its registration if it is gone, keep it otherwise."""
    accepted = accept_absent(case, reads, why)
    if isinstance(accepted, Stop):
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, accepted.detail)
    step = take_registration(accepted.case, reads, hands)
    if isinstance(step, Stop):
        return Stop(case, step.reason, step.detail, accepted.warnings)
    return Go(step.case, accepted.warnings)


def take_registration(case: Case, reads: Reads, hands: Hands) -> Step:
    """Drop the registration of a worktree whose directory is gone: this one and no other."""
    if reads.presence(case.path) is not Presence.GONE:
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"{case.path} was gone, and is there again")
    try:
        if (now := reads.objects.commit(case.ref)) not in (case.tip, None):
            return Stop(case, Reason.BRANCH_MOVED, f"merged at {case.tip}; the branch stands at {now} now")
        registered = reads.registration(case.path)
        if registered is None:
            return Go(case)
        if stop := locked_against(case, registered.locked):
            return stop
        if lost := lost_with(case, reads):
            return Stop(case, Reason.WORKTREE_REMOVE_FAILED, lost)
        if registered.locked is not None:
            hands.git.unlock_worktree(case.path)
        hands.git.drop_registration(case.path, case.pinned)
    except (BrokenLink, OSError, GitError) as error:
        try:
            if not reads.is_registered(case.path):
                return Go(case)
        except GitError:
            pass
        return refused_by_git(case, error, Reason.WORKTREE_REMOVE_FAILED)
    return Go(case)


def take_branch(case: Case, reads: Reads, hands: Hands) -> Step:
    """Delete the branch if it still stands at the merged commit and nobody has it checked out."""
    try:
        if reads.objects.commit(case.ref) is None:
            return take_section(case, hands)
        if elsewhere := reads.heads_on(case.ref):
            detail = "checked out in " + ", ".join(elsewhere)
            return Stop(case, Reason.BRANCH_DELETE_FAILED, detail, status=Status.WARNING)
        hands.git.delete_branch(case.entry.branch, case.pinned, case.terms.wave_id)
    except (GitError, OSError) as error:
        return branch_stays(case, reads, str(error))
    return take_section(case, hands)


def take_section(case: Case, hands: Hands) -> Step:
    """Drop the branch's own section of git's config, as deleting it with `git branch` would."""
    if case.entry.branch not in case.terms.configured_branches:
        return Go(case)
    try:
        hands.git.remove_branch_config(case.entry.branch)
    except GitLocked as error:
        return Stop(case, Reason.REPO_LOCKED, error.lock_file, status=Status.WARNING)
    except GitError as error:
        return Stop(case, Reason.BRANCH_DELETE_FAILED, str(error), status=Status.WARNING)
    return Go(case)


def refused_by_git(case: Case, error: Exception, reason: Reason) -> Stop:
    """Git did not do it: because somebody holds a lock file, or for another reason."""
    if isinstance(error, GitLocked):
        return Stop(case, Reason.REPO_LOCKED, error.lock_file)
    return Stop(case, reason, str(error))


def branch_stays(case: Case, reads: Reads, why: str) -> Step:
    """Deleting failed: because it is gone already, because it moved, or for a reason of git's."""
    try:
        now = reads.objects.commit(case.ref)
    except GitError as error:
        return Stop(case, Reason.BRANCH_DELETE_FAILED, f"{why}\n{error}", status=Status.WARNING)
    if now is None:
        return Go(case)
    if now != case.tip:
        return Stop(case, Reason.BRANCH_MOVED, f"merged at {case.tip}; the branch stands at {now} now")
    return Stop(case, Reason.BRANCH_DELETE_FAILED, why, status=Status.WARNING)


STAGE = Act("teardown", "Are worktree and branch gone, and only they?", perform, rehearse)
