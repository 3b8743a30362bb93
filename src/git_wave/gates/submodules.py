"""Would anything of its submodules go with it?

What is lost is told first: commits that no remote of a submodule is known to have, and files that no status of the
worktree shows. A submodule that is merely checked out blocks too, harmlessly: git removes no worktree that has one,
unless it is forced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from git_wave.gates._answer import Answer, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.gates.hidden_edits import hidden
from git_wave.git.links import Worktree
from git_wave.git.reads import Reads
from git_wave.git.worktrees import IndexSurvey
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.kept import sort_ignored


def check(subject: Subject) -> Answer:
    worktree, survey, reads = subject.worktree, subject.survey, subject.reads
    if lost := list(unsaved(worktree, survey, reads, subject.terms.regenerable)):
        return blocks(Reason.WORKTREE_DIRTY, *lost)
    if there := list(initialized(worktree, survey, reads)):
        return blocks(Reason.SUBMODULES_INITIALIZED, *there, harmless=True)
    return clear()


def unsaved(worktree: Worktree, survey: IndexSurvey, reads: Reads, regenerable: frozenset[str]) -> Iterator[str]:
    """Raises GitError, OSError or BrokenLink."""
    for repository in reads.unshared_submodules(worktree, survey.submodules):
        yield f"submodule with commits that no remote has: {shown(repository)}"
    for module in reads.checked_out(worktree, survey.submodules):
        yield from in_files(module, reads, regenerable)


def in_files(module: Worktree, reads: Reads, regenerable: frozenset[str]) -> Iterator[str]:
    """What goes with a submodule's files, which no status of the worktree tells: ignored files, hidden edits."""
    for path in sort_ignored(module.path, reads.worktree_look(module).ignored, regenerable).keep:
        yield f"ignored in a submodule: {shown(str(module.path / path))}"
    survey = reads.index_survey(module)
    yield from hidden(module, survey, reads, "hidden edit in a submodule")
    for inner in reads.checked_out(module, survey.submodules):
        yield from in_files(inner, reads, regenerable)


def initialized(worktree: Worktree, survey: IndexSurvey, reads: Reads) -> Iterable[str]:
    for module in reads.checked_out(worktree, survey.submodules):
        yield f"initialized submodule: {shown(str(module.path))}"
    for repository in reads.submodule_repositories(worktree):
        yield f"repository of a submodule: {shown(str(repository))}"


GATE = Gate("submodules", "Would anything of its submodules go with it?", check, unknown=Reason.DIRT_CHECK_FAILED)
