"""The gates that wave and verbs put to a worktree before it may go, and which of them each verb asks how strictly.

A gate is a file here and a line in each of the two tables; docs/GATES.md shows the second one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from git_wave.gates import (
    containment,
    dirt,
    hidden_edits,
    holders,
    ignored_output,
    in_use,
    lock,
    operation_in_progress,
    ownership,
    registration,
    repositories,
    submodules,
    unpushed,
)
from git_wave.gates._answer import Answer, Kind, NotKnown
from git_wave.gates._subject import Expected, Gate, Inspection, Subject, Terms
from git_wave.model.entry import Advice
from git_wave.model.reasons import Reason

__all__ = [
    "DEMANDS",
    "GATES",
    "Answer",
    "Demand",
    "Expected",
    "Gate",
    "Inspection",
    "Kind",
    "NotKnown",
    "Subject",
    "Terms",
    "Verb",
    "Verdict",
    "judge",
]

GATES: tuple[Gate, ...] = (
    containment.GATE,
    ownership.GATE,
    in_use.GATE,
    registration.GATE,
    lock.GATE,
    operation_in_progress.GATE,
    dirt.GATE,
    hidden_edits.GATE,
    submodules.GATE,
    repositories.GATE,
    unpushed.GATE,
    ignored_output.GATE,
    holders.GATE,
)
"""In the order in which they are asked: what is cheap first, and the processes last, nearest to the act."""


class Verb(StrEnum):
    WAVE = "wave"
    DISCARD = "discard"
    REMOVE = "remove"
    REAP = "reap"
    REAP_ORPHANS = "reap-orphans"


class Demand(StrEnum):
    """How strictly a verb asks a gate. Whatever is asked must be clear, and "cannot tell" is not."""

    REQUIRED = "required"
    UNLESS_PRESERVED = "unless preserved"
    """Required, unless the caller commits what is found first. "Cannot tell" blocks all the same."""
    LOSSES = "losses only"
    """What blocks harmlessly may pass."""
    BY_SETTING = "if `wave.ignoredOutput=block`"
    MOVED = "moved instead"
    """Not asked: what it would find is carried to safety before the removal."""
    NOT_ASKED = "–"


R, P, L, S, N = Demand.REQUIRED, Demand.UNLESS_PRESERVED, Demand.LOSSES, Demand.BY_SETTING, Demand.NOT_ASKED
M = Demand.MOVED
VERBS = (Verb.WAVE, Verb.DISCARD, Verb.REMOVE, Verb.REAP, Verb.REAP_ORPHANS)
TABLE: dict[str, tuple[Demand, ...]] = {
    "containment": (R, R, R, R, R),
    "ownership": (N, N, N, R, N),
    "in_use": (N, N, R, R, R),
    "registration": (N, N, R, R, R),
    "lock": (N, N, R, R, R),
    "operation_in_progress": (R, R, R, R, R),
    "dirt": (R, P, P, R, R),
    "hidden_edits": (R, P, R, R, R),
    "submodules": (L, L, R, R, R),
    "repositories": (R, R, R, R, R),
    "unpushed": (N, N, N, R, N),
    "ignored_output": (S, M, R, R, R),
    "holders": (R, R, R, R, R),
}
DEMANDS: dict[Verb, dict[str, Demand]] = {
    verb: {gate: demands[column] for gate, demands in TABLE.items()} for column, verb in enumerate(VERBS)
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all gates that a verb asks have answered. `against` holds those that keep the worktree, by gate."""

    verb: Verb
    answers: Mapping[str, Answer]
    against: Mapping[str, Answer]

    @property
    def may_go(self) -> bool:
        return not self.against

    @property
    def warnings(self) -> tuple[Advice, ...]:
        return tuple(warning for answer in self.answers.values() for warning in answer.warnings)

    @property
    def blocked(self) -> dict[str, Answer]:
        return {gate: answer for gate, answer in self.against.items() if answer.kind is Kind.BLOCKS}

    @property
    def unknown(self) -> dict[str, Answer]:
        return {gate: answer for gate, answer in self.against.items() if answer.kind is Kind.CANNOT_TELL}

    @property
    def reason(self) -> Reason:
        """The code of the first gate that keeps it, `ok` when none does."""
        return next((answer.reason for answer in self.against.values() if answer.reason), Reason.OK)

    def as_json(self) -> list[dict[str, Any]]:
        """What keeps it, for results."""
        return [
            {"gate": gate, "answer": answer.kind, "reason": answer.reason, "why": list(answer.why)}
            for gate, answer in self.against.items()
        ]


def judge(subject: Subject, verb: Verb, *, preserve: bool = False) -> Verdict:
    """Ask every gate that the verb asks, all of them before answering.

    With `preserve`, the caller is going to commit what is uncommitted before it removes anything.
    """
    demands = DEMANDS[verb]
    asked = [gate for gate in GATES if is_asked(demands[gate.name], subject.terms)]
    answers = {gate.name: gate.ask(subject) for gate in asked}
    against = {name: answer for name, answer in answers.items() if keeps(answer, demands[name], preserve=preserve)}
    return Verdict(verb, answers, against)


def is_asked(demand: Demand, terms: Terms) -> bool:
    return terms.ignored_blocks if demand is Demand.BY_SETTING else demand not in (Demand.NOT_ASKED, Demand.MOVED)


def keeps(answer: Answer, demand: Demand, *, preserve: bool) -> bool:
    if answer.kind is not Kind.BLOCKS:
        return answer.kind is Kind.CANNOT_TELL
    if demand is Demand.UNLESS_PRESERVED:
        return not preserve
    return not (demand is Demand.LOSSES and answer.harmless)
