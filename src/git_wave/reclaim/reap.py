"""Clear away what the agents of a session that has ended left behind.

A session's end is the proof that its agents have ended; a turn's end is none, and nothing here asks for one. Whose a
worktree is stands in the record beside it. Every worktree is decided about by itself, and kept at the least doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from git_wave.gates import Expected, Inspection, Subject, Verb, judge
from git_wave.git.parse import Registration
from git_wave.git.presence import Presence
from git_wave.model.entry import Advice
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.reclaim.fate import Fate, Outcome
from git_wave.reclaim.removing import clear_registration, count_entries, look_gone, take_away
from git_wave.reclaim.targets import short
from git_wave.reclaim.yard import ANYBODY, Yard, telling_git


@dataclass(slots=True)
class Sweep:
    """All that was decided. `about` are facts for the result, such as the session."""

    about: dict[str, Any] = field(default_factory=dict)
    reason: Reason = Reason.OK
    hint: str = ""
    run_id: str | None = None
    fates: list[Fate] = field(default_factory=list)
    warnings: list[Advice] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Kept for a known reason is well; what could not be told, or was left half-done, is not."""
        return self.reason is Reason.OK

    def settle(self) -> None:
        """The sweep's own reason, once all is decided."""
        if unsure := [fate for fate in self.fates if fate.unsure]:
            self.reason = Reason.REAP_INCOMPLETE
            self.hint = "; ".join(f"{fate.path}: {fate.reason}" for fate in unsure)

    def as_json(self) -> dict[str, Any]:
        counts = Counter(fate.outcome for fate in self.fates)
        return {
            "id": self.run_id,
            **self.about,
            **{outcome: counts[outcome] for outcome in Outcome},
            "worktrees": [fate.as_json() for fate in self.fates],
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A worktree to be decided about. `expected` is whose it must be, `names` what its sweep calls some reasons."""

    fate: Fate
    registration: Registration
    expected: Expected = ANYBODY
    names: Mapping[Reason, Reason] = field(default_factory=dict)

    def name(self) -> None:
        self.fate.reason = self.names.get(self.fate.reason, self.fate.reason)


Decide = Callable[[Candidate, Subject], bool]
"""Takes a look in, and says whether the worktree may go; `Fate` says why not."""


def reap(session: str, sweep: Sweep, yard: Yard, *, dry_run: bool) -> None:
    """Fills `sweep` in; raises WaveError or Interrupted."""
    sweep.about["session"] = session
    with telling_git():
        inspection = yard.inspection()
        candidates = sorted(candidates_of(session, inspection, sweep), key=lambda one: one.fate.path)
    sweep_through(candidates, may_go, sweep, yard, dry_run=dry_run)


def candidates_of(session: str, inspection: Inspection, sweep: Sweep) -> Iterator[Candidate]:
    """Worktrees whose record names the session as parent, or as the one it runs in. Raises what gates raise."""
    by_path = {one.path: one for one in inspection.registrations[1:]}
    for admin, owner in inspection.owners.items():
        if not isinstance(owner, Owner):
            sweep.warnings.append(Advice(Reason.OWNER_UNCONFIRMED, None, str(admin), str(owner)))
            continue
        if session not in (owner.parent, owner.session):
            continue
        place = inspection.reads.place_of(admin)
        registration = by_path.get(str(place))
        if place is None or registration is None:
            sweep.warnings.append(Advice(Reason.NOT_REGISTERED, owner.branch, str(place or admin), None))
            continue
        role = "parent" if owner.parent == session else "session"
        fate = Fate(place, short(registration), agent_id=owner.agent_id)
        yield Candidate(fate, registration, Expected(agent=owner.agent_id, **{role: session}))


def may_go(candidate: Candidate, subject: Subject) -> bool:
    return candidate.fate.judged(judge(subject, Verb.REAP))


def sweep_through(
    candidates: Iterable[Candidate], decide: Decide, sweep: Sweep, yard: Yard, *, dry_run: bool, drop_gone: bool = True
) -> None:
    """Decide about each, one after the other, on record. Raises Refusal."""
    candidates = list(candidates)
    sweep.fates += [candidate.fate for candidate in candidates]
    if not candidates or dry_run:
        first_look(candidates, decide, yard)
        for candidate in candidates:
            candidate.name()
        sweep.settle()
        return
    yard.begin("reap", **sweep.about)
    sweep.run_id = yard.run.id
    with yard.ending() as end:
        going = first_look(candidates, decide, yard)
        for candidate in candidates:
            record(candidate, going, decide, yard, drop_gone=drop_gone)
        sweep.settle()
        end.reason, end.ok = sweep.reason, sweep.ok


def first_look(candidates: list[Candidate], decide: Decide, yard: Yard) -> set[Path]:
    """One look at all of them, and at the processes once: which may go as far as that can be seen."""
    there = [one for one in candidates if yard.reads.presence(one.fate.path) is not Presence.GONE]
    inspection = yard.inspection(one.fate.path for one in there)
    going = set()
    for candidate in candidates:
        fate = candidate.fate
        if candidate not in there:
            look_gone(candidate.registration, yard.reads, fate)
            continue
        subject = expecting(inspection, candidate.expected).subject(fate.path)
        fate.learn(subject)
        if decide(candidate, subject):
            fate.outcome, fate.reason = Outcome.WOULD_REMOVE, Reason.WOULD_REMOVE
            going.add(fate.path)
    return going


def expecting(inspection: Inspection, expected: Expected) -> Inspection:
    """The same pass, for a worktree that should be somebody else's."""
    return replace(inspection, terms=replace(inspection.terms, expected=expected))


def record(candidate: Candidate, going: set[Path], decide: Decide, yard: Yard, *, drop_gone: bool) -> None:
    """One decision on record, carried out."""
    fate = candidate.fate
    try:
        with yard.decision(fate):
            if fate.outcome is Outcome.ALREADY_GONE and drop_gone:
                clear_registration(candidate.registration, yard.run, fate)
            elif fate.path in going:
                carry_out(candidate, decide, yard)
            candidate.name()
    except JournalError as error:
        fate.keep(Reason.JOURNAL_FAILED, str(error), unsure=True)


def carry_out(candidate: Candidate, decide: Decide, yard: Yard) -> None:
    """Ask everything again, its owner first of all, and remove it."""
    fate = candidate.fate
    if yard.reads.presence(fate.path) is Presence.GONE:
        look_gone(candidate.registration, yard.reads, fate)
        return
    fate.entries = (count_entries(fate.path), None)
    again = yard.fresh(fate.path, candidate.expected).subject(fate.path)
    fate.learn(again)
    if decide(candidate, again):
        take_away(again, yard.run, fate)
