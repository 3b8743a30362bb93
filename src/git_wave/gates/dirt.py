"""Is anything in it uncommitted?"""

from __future__ import annotations

from collections.abc import Iterator

from git_wave.gates._answer import Answer, blocks_for
from git_wave.gates._subject import Gate, Subject
from git_wave.git.parse import Change, Look
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason

UNCOMMITTED_FILE = ("??", "A.", "AM")
"""How an uncommitted file that is safe elsewhere may show: untracked, staged, staged and then edited."""


def check(subject: Subject) -> Answer:
    return blocks_for(Reason.WORKTREE_DIRTY, uncommitted(subject.look, subject.terms.safe))


def uncommitted(look: Look, safe: frozenset[str]) -> Iterator[str]:
    """What a look at the worktree shows, less the files that are safe elsewhere."""

    def is_safe(change: Change) -> bool:
        return change.code in UNCOMMITTED_FILE and change.path in safe

    return (f"{change.code.replace('.', ' ')} {shown(change.path)}" for change in look.changes if not is_safe(change))


GATE = Gate("dirt", "Is anything in it uncommitted?", check, unknown=Reason.DIRT_CHECK_FAILED)
