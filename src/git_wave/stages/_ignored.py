"""What becomes of ignored files when their worktree goes: kept elsewhere, or gone with it, as the user has chosen."""

from __future__ import annotations

from git_wave.git.links import Worktree
from git_wave.git.parse import Look
from git_wave.git.reads import Reads
from git_wave.model.entry import Advice
from git_wave.model.ignored import IgnoredOutput
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Hands, Stop
from git_wave.state.kept import Sorting, files_in, kept_place, sort_ignored


def sorted_ignored(case: Case, worktree: Worktree, look: Look) -> Sorting:
    """Raises OSError."""
    unrescued = (path for path in look.ignored if path not in case.rescued)
    return sort_ignored(worktree.path, unrescued, case.terms.regenerable)


def rehearse_ignored(case: Case, worktree: Worktree, look: Look, reads: Reads) -> tuple[int, list[Advice]]:
    """How many would go, and what would be said of the others. Raises OSError."""
    sorting = sorted_ignored(case, worktree, look)
    if case.terms.ignored_output is IgnoredOutput.DISCARD:
        return discarded(case, worktree, sorting)
    place = kept_place(reads.layout.common_dir, case.terms.wave_id, case.entry.branch)
    return sorting.dropped, [case.warning(Reason.IGNORED_OUTPUT_KEPT, str(place / path)) for path in sorting.keep]


def set_ignored_aside(
    case: Case, worktree: Worktree, look: Look, reads: Reads, hands: Hands, warnings: list[Advice]
) -> int:
    """Carry ignored files that no build makes again to the kept place; the number of those that go."""
    place = kept_place(reads.layout.common_dir, case.terms.wave_id, case.entry.branch)
    sorting = sorted_ignored(case, worktree, look)
    if case.terms.ignored_output is IgnoredOutput.DISCARD:
        dropped, told = discarded(case, worktree, sorting)
        warnings += told
        return dropped
    for path in sorting.keep:
        kept = hands.keep(worktree.path, path, place)
        warnings.append(case.warning(Reason.IGNORED_OUTPUT_KEPT, str(kept), f"was {shown(path)}"))
    return sorting.dropped


def discarded(case: Case, worktree: Worktree, sorting: Sorting) -> tuple[int, list[Advice]]:
    """How many ignored files go with the worktree when none is kept, and what is to be said of it. Raises OSError."""
    if not sorting.keep:
        return sorting.dropped, []
    count = sum(files_in(worktree.path / path) for path in sorting.keep)
    detail = "\n".join((f"{count} file{'' if count == 1 else 's'}", *map(shown, sorting.keep)))
    warning = case.warning(Reason.IGNORED_OUTPUT_DISCARDED, str(worktree.path), detail)
    return sorting.dropped + count, [warning]


def still_ignored(case: Case, worktree: Worktree, look: Look) -> Stop | None:
    """Ignored files that were written while others were moved."""
    keep = case.terms.ignored_output is IgnoredOutput.KEEP
    late = sorted_ignored(case, worktree, look).keep if keep else ()
    detail = "written while other files were kept:\n" + "\n".join(map(shown, late))
    return Stop(case, Reason.WORKTREE_REMOVE_FAILED, detail) if late else None
