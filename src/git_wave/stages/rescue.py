"""Is every uncommitted SUMMARY safe in the main checkout?

Agents leave their SUMMARY uncommitted, and whoever runs the wave commits it. One that the branch holds comes
with the merge; any other is copied to the same path, where nothing else may stand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from git_wave.git.reads import Reads
from git_wave.git.rehearsal import Rehearsal
from git_wave.model.errors import GitError
from git_wave.model.reasons import Reason
from git_wave.stages._case import Act, Case, Go, Hands, Step, Stop
from git_wave.state.artifacts import NotRescued, Rescued, compare_artifact, find_summaries


def perform(case: Case, reads: Reads, hands: Hands) -> Step:
    return rescue(case, reads, hands.rescue)


def rehearse(case: Case, reads: Rehearsal) -> Step:
    return rescue(case, reads, compare_artifact)


def rescue(case: Case, reads: Reads, carry: Callable[[Path, Path, str], Rescued]) -> Step:
    if case.worktree is None:
        return Go(case)
    safe: list[Rescued] = []
    failed: list[str] = []
    try:
        paths = find_summaries(case.worktree.path)
        uncommitted = [path for path in paths if not reads.objects.exists(case.pinned, path)]
    except (OSError, GitError) as error:
        return Stop(case, Reason.SUMMARY_RESCUE_FAILED, str(error))
    for path in uncommitted:
        try:
            safe.append(carry(case.worktree.path, reads.layout.root, path))
        except NotRescued as error:
            failed.append(str(error))
    warnings = tuple(
        case.warning(Reason.SUMMARY_RESCUED, str(reads.layout.root / item.path)) for item in safe if item.copied
    )
    case = case.knowing(rescued={item.path: item.digest for item in safe})
    if failed:
        return Stop(case, Reason.SUMMARY_RESCUE_FAILED, "\n".join(failed), warnings)
    return Go(case, warnings)


STAGE = Act("rescue", "Is every uncommitted SUMMARY safe in the main checkout?", perform, rehearse)
