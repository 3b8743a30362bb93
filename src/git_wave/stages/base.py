"""Did the branch fork where it should?

With several best common ancestors, each must be allowed: any of them may have been the fork point.
"""

from __future__ import annotations

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Gate, Go, Step, Stop


def check(case: Case, reads: Reads) -> Step:
    try:
        found = reads.merge_bases(case.target.oid, case.pinned)
    except GitError as error:
        return Stop(case, Reason.BASE_CHECK_FAILED, str(error))
    allowed = {case.terms.bases.get(name) for name in case.entry.allowed_bases} - {None}
    if not found:
        return Stop(case, Reason.BASE_MISMATCH, "the histories have no commit in common")
    if wrong := [oid for oid in found if oid not in allowed]:
        expected = ", ".join(case.entry.allowed_bases)
        return Stop(case, Reason.BASE_MISMATCH, f"forked from {', '.join(wrong)}; allowed: {expected}")
    return Go(case.knowing(base=found[0]))


STAGE = Gate("base", "Did the branch fork where it should?", check)
