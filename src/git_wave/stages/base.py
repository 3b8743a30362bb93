"""Did the branch fork where it should?

With several best common ancestors, each must be allowed: any of them may have been the fork point.
"""

from __future__ import annotations

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Gate, Go, Step, Stop
from git_wave.stages._landed import earlier_landings, is_contained, nothing_left_to_judge


def check(case: Case, reads: Reads) -> Step:
    if case.base is not None:
        return Go(case)
    try:
        found = reads.merge_bases(case.target.oid, case.pinned)
    except GitError as error:
        return Stop(case, Reason.BASE_CHECK_FAILED, str(error))
    allowed = {case.terms.bases.get(name) for name in case.entry.allowed_bases} - {None}
    if found == (case.tip,):
        return nothing_left_to_judge(case, merge_that_brought(case, reads))
    if not found:
        return Stop(case, Reason.BASE_MISMATCH, "the histories have no commit in common")
    if wrong := [oid for oid in found if oid not in allowed]:
        if again := landed_in_part(case, reads, found):
            return again
        expected = ", ".join(case.entry.allowed_bases)
        return Stop(case, Reason.BASE_MISMATCH, f"forked from {', '.join(wrong)}; allowed: {expected}")
    return Go(case.knowing(base=found[0], several_bases=len(found) > 1))


def merge_that_brought(case: Case, reads: Reads) -> Oid | None:
    """The merge by which an earlier wave brought this tip, where it can be found."""
    if case.terms.bases.get(case.entry.expected_base) == case.tip:
        return None
    try:
        return next((one.merge for one in earlier_landings(case, reads) if one.tip == case.tip), None)
    except GitError:
        return None


def landed_in_part(case: Case, reads: Reads, found: tuple[Oid, ...]) -> Go | None:
    """A branch that went on after an earlier wave landed it forked, by now, from what was landed; and one that
    was brought over by hand may have forked anywhere.
    """
    try:
        if set(found) <= {one.tip for one in earlier_landings(case, reads)}:
            return Go(case.knowing(base=found[0], several_bases=len(found) > 1))
        if is_contained(case.pinned, case, reads):
            return nothing_left_to_judge(case)
    except GitError:
        return None
    return None


STAGE = Gate("base", "Did the branch fork where it should?", check)
