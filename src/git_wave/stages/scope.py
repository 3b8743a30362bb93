"""Did it stay within the declared files?

Advice only: a plan's list of files is a forecast. Nothing declared means unknown, and then git is not asked. What
the user had not committed when the worktree was made is on the branch too, up to its baseline, and is no agent's.
"""

from __future__ import annotations

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid
from git_wave.model.paths import Scope, declared_set, is_summary
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Gate, Go, Step

TOLD = 100
"""How many paths are told one by one: an agent that reformats a repository should not fill the report."""


def check(case: Case, reads: Reads) -> Step:
    scope = Scope(case.entry.files_modified)
    if not scope.declared:
        return Go(case)
    exempt = declared_set(case.entry.declared_deletions)
    try:
        outside = [
            path
            for path in reads.changed_paths(where_it_began(case, reads), case.pinned)
            if not scope.covers(path) and path not in exempt and not is_summary(path)
        ]
    except GitError as error:
        return Go(case, (case.warning(Reason.SCOPE_CHECK_UNAVAILABLE, detail=str(error)),))
    warnings = [case.warning(Reason.SCOPE_OUT_OF_DECLARED, path) for path in outside[:TOLD]]
    if len(outside) > TOLD:
        warnings.append(case.warning(Reason.SCOPE_OUT_OF_DECLARED, detail=f"and {len(outside) - TOLD} more paths"))
    return Go(case, tuple(warnings))


def where_it_began(case: Case, reads: Reads) -> Oid:
    """The baseline, when it is a commit between the merge base and the tip; else the merge base."""
    base = case.base or case.pinned
    named = case.entry.baseline and reads.commit_by_id(case.entry.baseline)
    if not named or reads.objects.parents(named) != (base,) or reads.merge_bases(named, case.pinned) != (named,):
        return base
    return named


STAGE = Gate("scope", "Did it stay within the declared files?", check)
