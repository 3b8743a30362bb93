"""Does it hold a repository that git does not tell of?

What lies below a `.git` is in no status: of a repository that cannot be read, git says nothing at all. Among ignored
files a repository is kept with them, unless it works only where it stands: a worktree of another repository is nobody's
to move.
"""

from __future__ import annotations

from collections.abc import Iterator

from git_wave.gates._answer import Answer, blocks_for, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.git.links import Worktree
from git_wave.git.nested import is_empty, is_tied, repositories_below
from git_wave.git.reads import Reads
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    found = list(repositories_below(subject.worktree.path))
    return blocks_for(Reason.WORKTREE_DIRTY, told(found, subject)) if found else clear()


def told(found: list[str], subject: Subject) -> Iterator[str]:
    """One line for each that would be lost, or torn from what it belongs to. Raises OSError or GitError."""
    tree = subject.worktree
    modules = set(checked_out_in(tree, subject.survey.submodules, subject.reads))
    ignored = tuple(path for path in subject.look.ignored if path.endswith("/"))
    seen = tuple(change.path for change in subject.look.changes if change.code == "??" and change.path.endswith("/"))
    for path in found:
        where = tree.path / path
        if where in modules or path.startswith(seen) or is_empty(where):
            continue
        around = next((one for one in ignored if f"{path}/".startswith(one)), None)
        if around is None and where.name == ".git":
            yield f"a repository that git does not tell of: {shown(path)}"
        elif around is not None and is_tied(where, tree.path / around):
            yield f"a repository that works only where it stands: {shown(path)}"


def checked_out_in(tree: Worktree, submodules: tuple[str, ...], reads: Reads) -> Iterator[object]:
    """The `.git` of each submodule that is checked out there, and in those. Raises OSError or GitError."""
    for module in reads.checked_out(tree, submodules):
        yield module.path / ".git"
        yield from checked_out_in(module, reads.index_survey(module).submodules, reads)


GATE = Gate("repositories", "Does it hold a repository that git does not tell of?", check, Reason.DIRT_CHECK_FAILED)
