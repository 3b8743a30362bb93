"""Is anything uncommitted left in the worktree?

`git status` with a user's settings is no proof of clean: it can leave out untracked files, files marked
assume-unchanged or skip-worktree, commits that only a submodule holds, and operations that stand half-done.
"""

from __future__ import annotations

from collections.abc import Iterator

from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import Change, Look
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.worktrees import IndexSurvey
from git_wave.model.errors import GitError
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.stages._absence import accept_absent
from git_wave.stages._case import Case, Gate, Go, Step, Stop
from git_wave.state.kept import sort_ignored

UNCOMMITTED_FILE = ("??", "A.", "AM")
"""How an uncommitted SUMMARY may show: untracked, staged, staged and then edited."""


def check(case: Case, reads: Reads) -> Step:
    if case.worktree is None:
        return Go(case)
    try:
        look = reads.worktree_look(case.worktree)
        survey = reads.index_survey(case.worktree)
        found = [*uncommitted(case, look), *beyond_status(case.worktree, survey, reads)]
    except (OSError, GitError, BrokenLink) as error:
        if reads.presence(case.path) is not Presence.PRESENT:
            return accept_absent(case, reads, f"{case.path} went away while it was checked")
        return Stop(case, Reason.DIRT_CHECK_FAILED, str(error))
    if look.branch != case.entry.branch:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{case.path} is on {look.branch or 'no branch'}")
    if look.oid != case.tip:
        return Stop(case, Reason.BRANCH_MOVED, f"pinned at {case.tip}; the branch stands at {look.oid} now")
    if found:
        return Stop(case, Reason.WORKTREE_DIRTY, "\n".join(found))
    return Go(case.knowing(look=look, survey=survey))


def uncommitted(case: Case, look: Look) -> list[str]:
    """What a look at the worktree shows, less the artifacts that are safe."""

    def is_safe(change: Change) -> bool:
        return change.code in UNCOMMITTED_FILE and change.path in case.rescued

    return [f"{change.code.replace('.', ' ')} {shown(change.path)}" for change in look.changes if not is_safe(change)]


def beyond_status(worktree: Worktree, survey: IndexSurvey, reads: Reads) -> Iterator[str]:
    """What only a closer look shows. Raises GitError, OSError, BrokenLink."""
    if survey.hidden:
        yield from (f"hidden edit: {shown(path)}" for path in reads.hidden_edits(worktree, survey.hidden))
    for repository in reads.unshared_submodules(worktree, survey.submodules):
        yield f"submodule with commits that no remote has: {shown(repository)}"
    for module in reads.checked_out(worktree, survey.submodules):
        yield from inside_submodule(module, reads)
    yield from (f"mounted inside: {shown(point)}" for point in reads.mounts_below(worktree))
    yield from (f"another worktree inside: {shown(path)}" for path in reads.worktrees_below(worktree))
    yield from (f"{operation} in progress" for operation in reads.operations_in(worktree))
    yield from (f"ref of this worktree alone: {ref}" for ref in reads.private_refs(worktree))


def inside_submodule(module: Worktree, reads: Reads) -> Iterator[str]:
    """What goes with a submodule's files, which no status of the worktree tells: ignored files, hidden edits."""
    for path in sort_ignored(module.path, reads.worktree_look(module).ignored).keep:
        yield f"ignored in a submodule: {shown(str(module.path / path))}"
    survey = reads.index_survey(module)
    if survey.hidden:
        yield from (f"hidden edit in a submodule: {shown(p)}" for p in reads.hidden_edits(module, survey.hidden))
    for inner in reads.checked_out(module, survey.submodules):
        yield from inside_submodule(inner, reads)


STAGE = Gate("dirt", "Is anything uncommitted left in the worktree?", check)
