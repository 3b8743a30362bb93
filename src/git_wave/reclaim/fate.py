"""What became of one worktree. It fills on the way, so that what stands in it is true however the verb ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from git_wave.gates import NotKnown, Subject, Verdict
from git_wave.model.entry import Advice
from git_wave.model.explanations import next_step
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason


class Outcome(StrEnum):
    REMOVED = "removed"
    ALREADY_GONE = "already_gone"
    """Nothing stands at the path, and it was not this command that took it away."""
    KEPT = "kept"
    PARTIALLY_REMOVED = "partially_removed"
    """Git failed after it had deleted something."""
    WOULD_REMOVE = "would_remove"


@dataclass(slots=True)
class Fate:
    """One worktree and what was decided. `tip` is the commit it stood at when it was last looked at.

    `why` has one finding a line. `unsure` is set where it is kept because something could not be found out, or where
    git did not do what it was to do.
    """

    path: Path
    branch: str | None = None
    tip: Oid | None = None
    agent_id: str | None = None
    outcome: Outcome = Outcome.KEPT
    reason: Reason = Reason.OK
    why: tuple[str, ...] = ()
    blockers: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[Advice] = field(default_factory=list)
    entries: tuple[int | None, int | None] | None = None
    unsure: bool = False

    @property
    def is_done(self) -> bool:
        return self.outcome not in (Outcome.KEPT, Outcome.PARTIALLY_REMOVED)

    def keep(self, reason: Reason, *why: str, unsure: bool = False) -> None:
        self.outcome, self.reason, self.why, self.unsure = Outcome.KEPT, reason, why, unsure

    def learn(self, subject: Subject) -> None:
        """What is known of the worktree before the gates are asked. What cannot be read, they tell."""
        try:
            self.tip, owner = subject.tip, subject.owner
            self.branch = subject.look.branch
        except NotKnown:
            return
        self.agent_id = owner.agent_id if owner else None

    def judged(self, verdict: Verdict) -> bool:
        """Take a verdict in; whether the worktree may go."""
        self.blockers = verdict.as_json()
        self.warn(verdict.warnings)
        if not verdict.may_go:
            why = dict.fromkeys(line for answer in verdict.against.values() for line in answer.why)
            self.keep(verdict.reason, *why, unsure=bool(verdict.unknown))
        return verdict.may_go

    def warn(self, warnings: Iterable[Advice]) -> None:
        """Once each: what a recheck says again is no news."""
        self.warnings += [warning for warning in warnings if warning not in self.warnings]

    def as_json(self) -> dict[str, Any]:
        before, after = self.entries or (None, None)
        return {
            "worktree_path": str(self.path),
            "branch": self.branch,
            "tip": self.tip,
            "agent_id": self.agent_id,
            "outcome": self.outcome,
            "reason": self.reason,
            "why": list(self.why),
            "next_step": "" if self.is_done else next_step(self.reason),
            "blockers": self.blockers,
            "entries_before": before,
            "entries_after": after,
            "warnings": [warning.as_json() for warning in self.warnings],
        }
