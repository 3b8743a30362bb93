"""Does it hold edits that git is told to overlook?

Files marked assume-unchanged or skip-worktree are compared with the index as any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from git_wave.gates._answer import Answer, blocks_for
from git_wave.gates._subject import Gate, Subject
from git_wave.git.links import Worktree
from git_wave.git.reads import Reads
from git_wave.git.worktrees import IndexSurvey
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    return blocks_for(Reason.WORKTREE_DIRTY, hidden(subject.worktree, subject.survey, subject.reads))


def hidden(tree: Worktree, survey: IndexSurvey, reads: Reads, what: str = "hidden edit") -> Iterator[str]:
    """Raises GitError or OSError."""
    if survey.hidden:
        yield from (f"{what}: {shown(path)}" for path in reads.hidden_edits(tree, survey.hidden))


GATE = Gate("hidden_edits", "Does it hold edits that git is told to overlook?", check, unknown=Reason.DIRT_CHECK_FAILED)
