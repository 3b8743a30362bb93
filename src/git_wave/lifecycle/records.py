"""What a discard puts on record before it changes anything: enough to finish it, and to take it back.

It is the intent `discard` in the run's journal. The discard is finished when that intent is done.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from git_wave.git.writes import backup_prefix
from git_wave.model.names import Oid, Ref, heads_ref
from git_wave.state.journal import Event, History


@dataclass(frozen=True, slots=True)
class Record:
    """One discard. Paths are absolute; `recorded` and `owner` are what the manifest and the owner's record held.

    `wip` is the commit that holds what was uncommitted. `earlier` are pairs of kept place and path: what runs which
    were cut short had moved out of the same worktree.
    """

    run_id: str
    path: str
    branch: str
    tip: Oid
    wip: Oid | None = None
    agent_id: str | None = None
    manifest: str | None = None
    recorded: Any = None
    owner: Mapping[str, Any] | None = None
    earlier: tuple[tuple[str, str], ...] = ()

    @property
    def ref(self) -> Ref:
        return heads_ref(self.branch)

    @property
    def backup(self) -> Ref:
        return Ref(f"{backup_prefix(self.run_id)}heads/{self.branch}")

    @property
    def wip_ref(self) -> Ref:
        return Ref(f"{backup_prefix(self.run_id)}wip/{self.branch}")

    @property
    def refs(self) -> dict[Ref, Oid]:
        """What keeps the commits."""
        return {self.backup: self.tip, **({self.wip_ref: self.wip} if self.wip else {})}

    @property
    def restore(self) -> str:
        """The command that takes it back."""
        return f"git wave restore {self.wip_ref if self.wip else self.backup}"

    def facts(self) -> dict[str, Any]:
        """As the journal holds it; the branch stands in the line already."""
        return {name: value for name, value in asdict(self).items() if name not in ("run_id", "branch")}


@dataclass(frozen=True, slots=True)
class Past:
    """A discard as its journal tells it. `kept` are pairs of place and path; `restored_by` is the run's id."""

    record: Record
    finished: bool
    removal_begun: bool
    kept: tuple[tuple[str, str], ...]
    restored_by: str | None = None

    def still_kept(self) -> tuple[tuple[str, str], ...]:
        return tuple(pair for pair in self.kept if os.path.lexists(kept_at(pair)))


def kept_at(pair: tuple[str, str]) -> Path:
    place, path = pair
    return Path(place) / path.rstrip("/")


def list_pasts(histories: Iterable[History]) -> tuple[Past, ...]:
    """Every discard on record, oldest first."""
    histories = tuple(histories)
    restored = {h.began["undoes"]: h.id for h in histories if is_restore(h) and h.began and h.ended and h.ended["ok"]}
    return tuple(past for history in histories for past in pasts_in(history, restored.get(history.id)))


def is_restore(history: History) -> bool:
    return history.began is not None and history.began["kind"] == "restore"


def pasts_in(history: History, restored_by: str | None) -> list[Past]:
    kept = tuple((str(line["place"]), str(line["path"])) for line, _ in history.intents("keep"))
    begun = any(True for _ in history.intents("remove_worktree"))
    found = []
    for intent, closed in history.intents("discard"):
        record = record_in(intent, history.id)
        finished = closed is not None and closed["event"] == "done"
        found.append(Past(record, finished, begun, (*record.earlier, *kept), restored_by))
    return found


def record_in(intent: Event, run_id: str) -> Record:
    """The record that an intent `discard` holds."""
    names = [name for name in Record.__dataclass_fields__ if name in intent and name not in ("run_id", "earlier")]
    fields: dict[str, Any] = {name: intent[name] for name in names}
    earlier = tuple((str(place), str(path)) for place, path in intent.get("earlier") or ())
    return Record(run_id=run_id, earlier=earlier, **fields)
