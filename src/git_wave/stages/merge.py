"""Does it merge?

The outcome is worked out beforehand, without touching the checkout: a branch that conflicts, or that would
write over a file of the user's, is never started on. What is then merged is the pinned commit, and exit 0
counts only when HEAD moved by exactly that merge and the user's own edits are as they were.
"""

from __future__ import annotations

from git_wave.git.parse import Look
from git_wave.git.reads import Reads, Rehearsal
from git_wave.model.errors import GitError, GitTimeout, Interrupted
from git_wave.model.names import Oid
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages import _landing
from git_wave.stages._case import Act, Case, Go, Hands, Step, Stop


def perform(case: Case, reads: Reads, hands: Hands) -> Step:
    try:
        look = reads.target_look()
        if stop := not_ready(case, reads, look) or would_not_merge(case, reads):
            return stop
        if case.base == case.tip:
            return Go(case.knowing(reason=Reason.ALREADY_LANDED))
        return merge(case, reads, hands, _landing.note(case, reads, look))
    except (GitError, OSError) as error:
        return Stop(case, Reason.MERGE_FAILED, str(error))


def rehearse(case: Case, reads: Rehearsal) -> Step:
    """The same up to the merge itself, which is pretended: the next entry is tried on top of it."""
    try:
        look = reads.target_look()
        if stop := not_free(case, reads, look) or would_not_merge(case, reads):
            return stop
        if case.base == case.tip:
            return Go(case.knowing(reason=Reason.ALREADY_LANDED))
        tree, _ = reads.merged_tree(case.target.oid, case.pinned)
        edited = {change.path for change in look.changes}
        if overlap := [path for path in reads.changed_paths(case.target.oid, tree) if path in edited]:
            listed = "\n".join(map(shown, overlap))
            return Stop(case, Reason.MERGE_FAILED, f"git would refuse to merge over edits in the checkout:\n{listed}")
        commit = reads.pretend_merge(tree, (case.target.oid, case.pinned))
    except (GitError, OSError) as error:
        return Stop(case, Reason.MERGE_FAILED, str(error))
    return Go(case.knowing(merge_commit=commit))


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
        return Stop(case, Reason.MERGE_FAILED, f"git merges only when nothing is staged in the checkout:\n{listed}")
    return None


def would_not_merge(case: Case, reads: Reads) -> Stop | None:
    if case.base == case.tip:
        return None
    if problem := reads.identity_problem:
        return Stop(case, Reason.MERGE_FAILED, f"no identity to commit with; set user.name and user.email\n{problem}")
    _, conflicts = reads.merged_tree(case.target.oid, case.pinned)
    if conflicts:
        return Stop(case, Reason.MERGE_FAILED, "\n".join(f"conflict: {shown(path)}" for path in conflicts))
    if standing := _landing.standing_in_the_way(case, reads):
        return Stop(case, Reason.WOULD_OVERWRITE, "\n".join(map(shown, standing)))
    return None


def merge(case: Case, reads: Reads, hands: Hands, before: _landing.Before) -> Step:
    subject = f"chore: merge executor worktree ({case.entry.branch})"
    try:
        answer = hands.git.merge(case.pinned, case.target.ref, subject, case.terms.merge_timeout)
    except GitTimeout as error:
        return failed(case, reads, hands, before, Reason.MERGE_TIMED_OUT, str(error))
    except Interrupted:
        _landing.put_back(case, before, reads, hands)
        raise
    said = "\n".join(part.strip() for part in (answer.stderr, answer.text) if part.strip())
    if answer.code != 0:
        return failed(case, reads, hands, before, Reason.MERGE_FAILED, said)
    commit, problem = _landing.landed_commit(case, before, reads)
    if commit is None:
        if reads.objects.commit("HEAD") == before.target.oid:
            return failed(case, reads, hands, before, Reason.MERGE_FAILED, f"{problem}\n{said}")
        return Stop(case, Reason.MERGE_FAILED, f"{problem}\n{said}")
    return landed(case.knowing(merge_commit=commit), reads, before, commit, problem)


def landed(case: Case, reads: Reads, before: _landing.Before, commit: Oid, problem: str) -> Step:
    """Merged. Anything odd about it keeps worktree and branch where they are."""
    if edits := _landing.touched_edits(before, reads):
        problem = "edits of yours changed while merging: " + ", ".join(map(shown, edits))
    if missing := _landing.missing_files(case, reads):
        problem = "merged, but these files are missing in the checkout: " + ", ".join(map(shown, missing))
    if problem:
        return Stop(case, Reason.MERGE_FAILED, f"{problem}\nthe merge commit is {commit}")
    return Go(case)


def failed(case: Case, reads: Reads, hands: Hands, before: _landing.Before, reason: Reason, detail: str) -> Stop:
    outcome = _landing.put_back(case, before, reads, hands)
    return Stop(case, reason, "\n".join(filter(None, (detail, outcome.detail))), halt=outcome.halt)


STAGE = Act("merge", "Does it merge?", perform, rehearse)
