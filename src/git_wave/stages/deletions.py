"""Does it delete only what was declared?

A rename takes its old path away. That is fine when no scope was declared, or when the old path is in the
declared scope or among the declared deletions; otherwise the old path counts as deleted, so that a deletion
cannot pass dressed as a rename. What was taken for a rename is told in the result.
"""

from __future__ import annotations

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.paths import Scope, declared_set, shown
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Gate, Go, Step, Stop
from git_wave.stages._landed import is_contained, nothing_left_to_judge


def check(case: Case, reads: Reads) -> Step:
    declared = declared_set(case.entry.declared_deletions)
    scope = Scope(case.entry.files_modified)
    undeclared: list[str] = []
    renames: list[tuple[str, str]] = []
    try:
        differences = reads.differences(case.base or case.pinned, case.pinned)
        for change in differences:
            if change.status == "D" and change.path not in declared:
                undeclared.append(change.path)
            if change.status == "R" and change.old is not None:
                renames.append((change.old, change.path))
                if scope.declared and not scope.covers(change.old) and change.old not in declared:
                    undeclared.append(change.old)
    except GitError as error:
        return Stop(case, Reason.DELETION_CHECK_FAILED, str(error))
    case = case.knowing(differences=differences, renames=tuple(renames))
    if undeclared and by_hand(case, reads):
        return nothing_left_to_judge(case)
    if undeclared:
        return Stop(case, Reason.BRANCH_CONTAINS_DELETIONS, "\n".join(map(shown, undeclared)))
    return Go(case)


def by_hand(case: Case, reads: Reads) -> bool:
    """Whether somebody brought the same changes over already, these deletions among them."""
    try:
        return is_contained(case.pinned, case, reads)
    except GitError:
        return False


STAGE = Gate("deletions", "Does it delete only what was declared?", check)
