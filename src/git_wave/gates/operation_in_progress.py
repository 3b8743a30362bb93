"""Is something half-done in it?

A merge, rebase, cherry-pick, revert or bisect may stand with a clean status. Refs that live with the worktree alone
(`refs/worktree`, `refs/bisect`, `refs/rewritten`) go with it, and so may commits.
"""

from __future__ import annotations

from collections.abc import Iterator

from git_wave.gates._answer import Answer, blocks_for
from git_wave.gates._subject import Gate, Subject
from git_wave.git.links import Worktree
from git_wave.git.reads import Reads
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    unmerged = (f"unmerged: {shown(path)}" for path in subject.look.unmerged)
    return blocks_for(Reason.OPERATION_IN_PROGRESS, [*unmerged, *half_done(subject.worktree, subject.reads)])


def half_done(worktree: Worktree, reads: Reads) -> Iterator[str]:
    """Raises OSError."""
    yield from (f"{operation} in progress" for operation in reads.operations_in(worktree))
    yield from (f"ref of this worktree alone: {ref}" for ref in reads.private_refs(worktree))


GATE = Gate("operation_in_progress", "Is something half-done in it?", check, unknown=Reason.DIRT_CHECK_FAILED)
