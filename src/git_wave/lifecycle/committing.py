"""Committing whatever a worktree holds: everything on disk that is not ignored.

The commit is made with an index of our own. Until the branch has moved, the worktree's files and index and every
ref are as they were; then its index is brought along. A command that is killed in between finishes when it is run
again, since what is on disk is then what the branch holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from git_wave.git.links import BrokenLink, Worktree, is_there
from git_wave.git.parse import Look
from git_wave.git.patience import patiently
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.git.worktrees import IndexSurvey
from git_wave.git.writes import Writes
from git_wave.model.errors import GitError, GitLocked, WaveError
from git_wave.model.names import Oid, Ref
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason

READ_ERRORS = (OSError, GitError, BrokenLink)


@dataclass(frozen=True, slots=True)
class Tools:
    """What it takes to look at a worktree, to make commits of what is in it, and to put them on its branch."""

    reads: Reads
    snapshots: Snapshots
    writes: Writes


@dataclass(frozen=True, slots=True)
class State:
    """What a worktree holds that is not committed, as one look saw it. `hidden` are the marked files on disk."""

    look: Look
    survey: IndexSurvey
    hidden_edits: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not self.look.changes and not self.hidden_edits

    @property
    def untracked(self) -> list[str]:
        """Files; a directory among the untracked is a repository of its own."""
        return [change.path for change in self.look.changes if change.code == "??" and change.path[-1:] != "/"]

    def lines(self) -> list[str]:
        """One line for each thing, as `git status` would tell it."""
        seen = [f"{change.code.replace('.', ' ')} {shown(change.path)}" for change in self.look.changes]
        return [*seen, *(f"hidden edit: {shown(path)}" for path in self.hidden_edits)]


def read_state(worktree: Worktree, reads: Reads) -> State:
    """Raises OSError or GitError."""
    look, survey = reads.worktree_look(worktree), reads.index_survey(worktree)
    return State(look, survey, reads.hidden_edits(worktree, survey.hidden) if survey.hidden else ())


def require_standing(state: State, branch: str, tip: Oid) -> None:
    """Is it on that branch at that commit, without unmerged paths? Raises WaveError."""
    if state.look.unmerged:
        raise WaveError(Reason.UNMERGED_PATHS, "\n".join(map(shown, state.look.unmerged)))
    if state.look.branch != branch:
        raise WaveError(Reason.BRANCH_MISMATCH, f"the worktree is on {state.look.branch or 'no branch'} now")
    if state.look.oid != tip:
        raise WaveError(Reason.STILL_CHANGING, f"{branch} was at {tip} and is at {state.look.oid} now")


def beyond_commits(worktree: Worktree, state: State, reads: Reads) -> Iterator[str]:
    """What no commit of the worktree's branch can hold: repositories inside, and edits inside submodules.

    Raises OSError, GitError or BrokenLink.
    """
    for change in state.look.changes:
        if change.code == "??" and change.path.endswith("/"):
            yield f"a repository of its own: {shown(change.path)}"
    yield from submodule_edits(worktree, state.survey, reads)


def submodule_edits(worktree: Worktree, survey: IndexSurvey, reads: Reads) -> Iterator[str]:
    for module in reads.checked_out(worktree, survey.submodules):
        inside = read_state(module, reads)
        yield from (f"in the submodule {shown(str(module.path))}: {line}" for line in inside.lines())
        yield from submodule_edits(module, inside.survey, reads)


@dataclass(slots=True)
class Commission:
    """What is to be committed where; and what came of it, also when it then failed.

    `keep_at` is the ref for what was staged and is on disk in another version: `staged` once it is kept there.
    """

    branch: str
    message: str
    keep_at: Ref
    tip: Oid | None = None
    commit: Oid | None = None
    staged: Ref | None = None


def commit_everything(worktree: Worktree, job: Commission, tools: Tools) -> None:
    """Raises WaveError: with `still_changing` a commit may have been made, with any other reason nothing changed."""
    state, tip = look_closely(worktree, job.branch, tools.reads)
    job.tip = new = tip
    if state.is_clean:
        return
    try:
        tree = tools.snapshots.files_tree(worktree, state.survey.hidden, state.untracked)
        if tree != tools.reads.objects.tree(tip):
            new = tools.snapshots.commit(tree, [tip], job.message)
        staged = staged_apart(worktree, state, (tip, new), tools)
        patiently(lambda: require_free_index(worktree), tools.writes.lock_patience)
    except GitLocked as error:
        raise WaveError(Reason.COMMIT_FAILED, f"{error.lock_file} is held") from error
    except READ_ERRORS as error:
        raise WaveError(Reason.COMMIT_FAILED, str(error)) from error
    if new != tip or staged:
        move(job.branch, new, tip, {job.keep_at: staged} if staged else {}, tools)
        job.staged = job.keep_at if staged else None
        job.tip, job.commit = new, new if new != tip else None
    bring_index(worktree, job.branch, new, state.hidden_edits, tools)


def look_closely(worktree: Worktree, branch: str, reads: Reads) -> tuple[State, Oid]:
    """What is there, if a commit can hold it, and the tip it stands on. Raises WaveError."""
    try:
        state = read_state(worktree, reads)
        tip = state.look.oid
        if tip is None:
            raise WaveError(Reason.UNBORN_HEAD, f"{branch} has no commit yet")
        require_standing(state, branch, tip)
        if operations := reads.operations_in(worktree):
            raise WaveError(Reason.OPERATION_IN_PROGRESS, "\n".join(f"{name} in progress" for name in operations))
        if not is_there(worktree.admin / "index"):
            # Everything would count as deleted: whoever made the worktree never finished its checkout.
            raise WaveError(Reason.DIRT_CHECK_FAILED, f"{worktree.path} has no index, so nothing was checked out there")
        beyond = list(beyond_commits(worktree, state, reads))
    except READ_ERRORS as error:
        raise WaveError(Reason.DIRT_CHECK_FAILED, str(error)) from error
    if beyond:
        raise WaveError(Reason.NOT_COMMITTABLE, "\n".join(beyond))
    return state, tip


def staged_apart(worktree: Worktree, state: State, commits: tuple[Oid, Oid], tools: Tools) -> Oid | None:
    """A commit of what is staged, where it is neither on disk so nor committed: bringing the index along drops it."""
    if not state.look.staged:
        return None
    tip, new = commits
    staged = tools.snapshots.index_tree(worktree)
    before = tools.reads.objects.parents(tip)[:1]
    if staged in {tools.reads.objects.tree(commit) for commit in (tip, new, *before)}:
        return None
    return tools.snapshots.commit(staged, [tip], "git-wave: staged, and other than on disk", sign=False)


def require_free_index(worktree: Worktree) -> None:
    """Raises GitLocked while somebody holds the lock file of the worktree's index."""
    lock = worktree.admin / "index.lock"
    if is_there(lock):
        raise GitLocked(("read-tree",), None, f"{lock} is held", str(lock))


def move(branch: str, new: Oid, tip: Oid, kept: Mapping[Ref, Oid], tools: Tools) -> None:
    """Raises WaveError unless the branch stands at `new` afterwards."""
    try:
        tools.writes.move_branch(branch, new, tip, kept)
    except (GitError, OSError) as error:
        if not stands_at(branch, new, tools.reads):
            raise WaveError(Reason.COMMIT_FAILED, str(error)) from error


def stands_at(branch: str, oid: Oid, reads: Reads) -> bool:
    try:
        return reads.objects.commit(f"refs/heads/{branch}") == oid
    except GitError:
        return False


def bring_index(worktree: Worktree, branch: str, new: Oid, marked: Sequence[str], tools: Tools) -> None:
    """Have the index hold the new commit, and look whether that is all there is. Raises WaveError."""
    try:
        tools.writes.set_index(worktree, new, marked)
        state = read_state(worktree, tools.reads)
    except READ_ERRORS as error:
        raise WaveError(Reason.STILL_CHANGING, f"{branch} is at {new}; its index could not follow: {error}") from error
    require_standing(state, branch, new)
    if not state.is_clean:
        raise WaveError(Reason.STILL_CHANGING, f"{branch} is at {new}; since then:\n" + "\n".join(state.lines()))
