"""Does it merge?

The outcome is worked out beforehand, without touching the checkout: a branch that conflicts, or that would
write over a file of the user's, is never started on. What is then merged is the pinned commit, and exit 0
counts only when HEAD moved by exactly that merge and the user's own edits are as they were.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from git_wave.git.answer import Answer
from git_wave.git.history import Differences
from git_wave.git.parse import Look
from git_wave.git.patience import patiently
from git_wave.git.reads import Reads
from git_wave.git.rehearsal import Rehearsal
from git_wave.git.writes import LOCK_PATIENCE, backup_prefix
from git_wave.model.errors import GitError, GitLocked, GitTimeout, Interrupted
from git_wave.model.messages import merge_message
from git_wave.model.names import Oid, Ref
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages import _landing
from git_wave.stages._case import Act, Case, Go, Hands, Step, Stop
from git_wave.stages._landed import is_contained
from git_wave.stages._landing import Attempt, PutBack
from git_wave.stages._obstacles import edits_in_the_way, standing_in_the_way
from git_wave.state.kept import residue_place

chatter = logging.getLogger("git_wave.hooks")

# What to do next: a merge fails for many reasons, and each wants another thing.
COMMIT_STAGED = "commit or unstage what is staged in the checkout, run again"
COMMIT_EDITS = "commit or stash your edits in the checkout, run again"
SET_IDENTITY = "set user.name and user.email, run again"
HEED_HOOK = "a hook of yours may have refused: do what it says (`wave.mergeMessage` sets the message), run again"
HEED_GIT = "see to what git says, run again"
MERGED_ALREADY = "it is merged: look at what is named, run again to clear it away"
HEAD_ELSEWHERE = "look at where the branch stands now, run again"
PUT_IN_ORDER = "put the checkout in order (`git merge --abort`), run again"


def perform(case: Case, reads: Reads, hands: Hands) -> Step:
    try:
        patiently(lambda: require_unlocked(reads), hands.git.lock_patience)
        look = reads.target_look()
        if stop := not_ready(case, reads, look):
            return stop
        tree = planned_tree(case, reads)
        if not isinstance(tree, str):
            return tree
        changed = changed_by_merge(case, reads, look, tree)
        if stop := in_the_way(case, reads, look, changed):
            return stop
        attempt = Attempt(
            case.target,
            case.pinned,
            changed,
            look,
            _landing.signs_of(look, reads.layout.root),
            residue_place(reads.layout.common_dir, case.terms.wave_id, case.entry.branch),
            Ref(f"{backup_prefix(case.terms.wave_id)}staged/{case.entry.branch}"),
            tree,
        )
        facts = {"tip": case.pinned, "target": case.target.ref, "target_oid": case.target.oid, "tree": tree}
        with hands.recorder.step("merge", **facts, edited=[change.path for change in look.changes]) as outcome:
            return merge(case, reads, hands, attempt, outcome)
    except GitLocked as error:
        return Stop(case, Reason.REPO_LOCKED, error.lock_file)
    except (GitError, OSError) as error:
        return Stop(case, Reason.MERGE_FAILED, str(error))


def rehearse(case: Case, reads: Rehearsal) -> Step:
    """The same up to the merge itself, which is pretended: the next entry is tried on top of it."""
    try:
        patiently(lambda: require_unlocked(reads), LOCK_PATIENCE)
        look = reads.target_look()
        if stop := not_free(case, reads, look):
            return stop
        tree = planned_tree(case, reads)
        if not isinstance(tree, str):
            return tree
        if stop := in_the_way(case, reads, look, changed_by_merge(case, reads, look, tree)):
            return stop
        commit = reads.pretend_merge(tree, (case.target.oid, case.pinned))
    except GitLocked as error:
        return Stop(case, Reason.REPO_LOCKED, error.lock_file)
    except (GitError, OSError) as error:
        return Stop(case, Reason.MERGE_FAILED, str(error))
    return Go(case.knowing(merge_commit=commit))


def require_unlocked(reads: Reads) -> None:
    """Raises GitLocked while somebody holds the checkout's index: git would begin a merge that it cannot end."""
    if reads.index_lock_held():
        raise GitLocked(("merge",), None, "", str(reads.index_lock))


def not_ready(case: Case, reads: Reads, look: Look) -> Stop | None:
    """Does the checkout stand where it stood when this entry's turn came, and is it free?"""
    if (look.branch, look.oid) != (case.target.branch, case.target.oid):
        where = f"{look.branch or 'no branch'} at {look.oid}"
        return Stop(case, Reason.TARGET_MOVED, f"{case.target.branch} at {case.target.oid} became {where}")
    return not_free(case, reads, look)


def not_free(case: Case, reads: Reads, look: Look) -> Stop | None:
    """Is anything in progress or staged in the checkout, which git would not merge into?"""
    if busy := [*reads.operations(), *(f"unmerged: {shown(path)}" for path in look.unmerged)]:
        return Stop(case, Reason.REPO_BUSY, "\n".join(busy))
    if look.staged and case.base != case.tip:
        listed = "\n".join(map(shown, look.staged))
        detail = f"git merges only when nothing is staged in the checkout:\n{listed}"
        return Stop(case, Reason.MERGE_FAILED, detail, advice=COMMIT_STAGED)
    return None


def planned_tree(case: Case, reads: Reads) -> Oid | Step:
    """The tree that the merge will make; or the step that ends it here, because it would not merge or need not."""
    if case.base == case.tip:
        return Go(case.knowing(reason=Reason.ALREADY_LANDED))
    tree, conflicts = reads.merged_tree(case.target.oid, case.pinned)
    if (conflicts or tree == reads.objects.tree(case.target.oid)) and is_contained(case.pinned, case, reads):
        return Go(case.knowing(reason=Reason.ALREADY_LANDED))
    if conflicts:
        return Stop(case, Reason.MERGE_FAILED, "\n".join(f"conflict: {shown(path)}" for path in conflicts))
    if problem := reads.identity_problem:
        detail = f"no identity to commit with; set user.name and user.email\n{problem}"
        return Stop(case, Reason.MERGE_FAILED, detail, advice=SET_IDENTITY)
    return tree


def changed_by_merge(case: Case, reads: Reads, look: Look, tree: Oid) -> Differences:
    """What the merge will change in the checkout.

    With one fork point and nothing of the user's in the checkout's tracked files, the branch's own changes cover it;
    otherwise the two trees are compared.
    """
    if look.changes or case.several_bases or reads.target_hidden:
        return reads.differences(case.target.oid, tree)
    return case.changed


def in_the_way(case: Case, reads: Reads, look: Look, changed: Differences) -> Stop | None:
    if edits := edits_in_the_way(changed, look, reads):
        listed = "\n".join(map(shown, edits))
        detail = f"the merge would write over your edits in the checkout:\n{listed}"
        return Stop(case, Reason.MERGE_FAILED, detail, advice=COMMIT_EDITS)
    if standing := standing_in_the_way(changed, reads):
        return Stop(case, Reason.WOULD_OVERWRITE, "\n".join(map(shown, standing)))
    return None


def merge(case: Case, reads: Reads, hands: Hands, attempt: Attempt, outcome: dict[str, Any]) -> Step:
    """Merge and look at what came of it; `outcome` is what the journal will say."""
    try:
        answer = patiently(lambda: merge_once(case, reads, hands, attempt), hands.git.lock_patience)
    except GitLocked as error:
        reason = Reason.REPO_LOCKED if os.path.lexists(error.lock_file) else Reason.MERGE_FAILED
        return Stop(case, reason, f"{error.lock_file}\n{error}")
    except GitTimeout as error:
        back = _landing.put_back(attempt, reads, hands, killed=True)
        return failed(case, reads, attempt, back, outcome, Reason.MERGE_TIMED_OUT, str(error))
    except Interrupted:
        _landing.put_back(attempt, reads, hands, killed=True)
        raise
    said = "\n".join(part.strip() for part in (answer.stderr, answer.text) if part.strip())
    if answer.code != 0:
        back = _landing.put_back(attempt, reads, hands)
        return failed(case, reads, attempt, back, outcome, Reason.MERGE_FAILED, said, advice=refused_by(reads))
    if heard := "\n".join(line for line in said.splitlines() if not line.startswith("Merge made by the ")):
        chatter.info("%s", heard)
    commit, problem = _landing.landed_commit(attempt, reads)
    if commit is None:
        if reads.objects.commit("HEAD") == attempt.target.oid:
            back = _landing.put_back(attempt, reads, hands)
            detail = f"{problem}\n{said}"
            return failed(case, reads, attempt, back, outcome, Reason.MERGE_FAILED, detail, advice=refused_by(reads))
        outcome["commit"] = below = _landing.merge_below(attempt, reads)
        return Stop(case.knowing(merge_commit=below), Reason.MERGE_FAILED, problem, advice=HEAD_ELSEWHERE)
    outcome["commit"] = commit
    return landed(case.knowing(merge_commit=commit), reads, attempt, problem)


def merge_once(case: Case, reads: Reads, hands: Hands, attempt: Attempt) -> Answer:
    """One try. GitLocked is raised only when the checkout is as it was, so that a repeat is harmless."""
    message = merge_message(case.terms.merge_message, case.entry.branch, case.entry.agent_id)
    answer = hands.git.merge(case.pinned, case.target.ref, message, case.terms.merge_timeout)
    lock_file = answer.lock_file if answer.code != 0 else None
    if answer.code != 0 and (reads.index_lock_held() or "stash failed" in answer.stderr):
        # With edits in the checkout git saves them first, and where the index is locked says only that this failed.
        lock_file = lock_file or str(reads.index_lock)
    if lock_file and not _landing.put_back(attempt, reads, hands).detail:
        raise GitLocked(answer.argv, answer.code, answer.stderr, lock_file)
    return answer


def landed(case: Case, reads: Reads, attempt: Attempt, problem: str) -> Step:
    """Merged. Anything odd about it keeps worktree and branch where they are."""
    if edits := _landing.touched_edits(attempt, reads):
        problem = "edits of yours changed while merging: " + ", ".join(map(shown, edits))
    if missing := _landing.missing_files(attempt, reads):
        problem = "merged, but these files are missing in the checkout: " + ", ".join(map(shown, missing))
    if problem:
        detail = f"{problem}\nthe merge commit is {case.merge_commit}"
        return Stop(case, Reason.MERGE_FAILED, detail, advice=MERGED_ALREADY)
    return Go(case)


def failed(
    case: Case,
    reads: Reads,
    attempt: Attempt,
    back: PutBack,
    outcome: dict[str, Any],
    reason: Reason,
    detail: str,
    advice: str = "",
) -> Stop:
    """Not merged. What could not be put back is on record for the next run, which tries again."""
    if back.halt:
        outcome["left"] = dict(back.left)
    # A hook that ran after the merge may be what failed: then it is merged, and told so.
    case = case.knowing(merge_commit=_landing.merge_below(attempt, reads))
    if back.halt:
        advice = PUT_IN_ORDER
    elif case.merge_commit:
        advice = MERGED_ALREADY
    return Stop(case, reason, "\n".join(filter(None, (detail, back.detail))), halt=back.halt, advice=advice)


def refused_by(reads: Reads) -> str:
    """What to do about a merge that has no conflict and that git refused all the same."""
    return HEED_HOOK if reads.merge_hooks() else HEED_GIT


STAGE = Act("merge", "Does it merge?", perform, rehearse)
