"""The journal of a wave: append-only, one line a step, on the disk before the step.

A wave that is killed leaves a journal without a last line, and perhaps with a torn one. Whoever runs next reads
from it what was under way.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.model.errors import GitError
from git_wave.model.recording import JournalError
from git_wave.state.atomic import sync_directory
from git_wave.state.named_files import read_regular

VERSION = 1
ID = re.compile(r"\d{8}T\d{12}Z")
Event = Mapping[str, Any]


def waves_dir(common_dir: Path) -> Path:
    return common_dir / "git-wave" / "waves"


def journal_path(common_dir: Path, wave_id: str) -> Path:
    return waves_dir(common_dir) / f"{wave_id}.jsonl"


class Journal:
    """A journal being written. Every line is synced before the call returns."""

    def __init__(self, path: Path, seq: int = 0) -> None:
        self._path = path
        self._seq = seq
        self.before_first_change: Callable[[], None] | None = None
        self._entry: int | None = None
        self._branch: str | None = None

    @classmethod
    def create(cls, path: Path) -> Journal:
        """Raises JournalError, also when there is one of that name already."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            sync_directory(path.parent)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from error
        return cls(path)

    @classmethod
    def reopen(cls, history: History) -> Journal:
        """Go on with a journal that has no end; a torn last line is cut off. Raises JournalError."""
        try:
            os.truncate(history.path, history.whole_bytes)
        except OSError as error:
            raise JournalError(f"{history.path}: {error.strerror}") from error
        return cls(history.path, max((event["seq"] for event in history.events), default=0))

    def begin(self, kind: str, run_id: str, root: Path, target: str, head: str, **facts: Any) -> None:
        """The first line: which run this is, where, and which process makes it. Raises JournalError."""
        who = {"pid": os.getpid(), "host": socket.gethostname()}
        self.write("began", kind=kind, id=run_id, root=str(root), target=target, head=head, **who, **facts)

    def about(self, entry: int | None, branch: str | None) -> None:
        """What follows is about this entry."""
        self._entry, self._branch = entry, branch

    def write(self, event: str, **facts: Any) -> int:
        """Append one line and return its number. Raises JournalError."""
        self._seq += 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"v": VERSION, "seq": self._seq, "at": at, "event": event, **facts}
        data = f"{json.dumps(line)}\n".encode()
        try:
            append(self._path, data)
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror}") from error
        return self._seq

    @contextmanager
    def step(self, action: str, **facts: Any) -> Iterator[dict[str, Any]]:
        if first := self.before_first_change:
            self.before_first_change = None
            first()
        intent = self.write("intent", action=action, entry=self._entry, branch=self._branch, **facts)
        outcome: dict[str, Any] = {}
        try:
            yield outcome
        except BaseException as error:
            code = {"code": error.code} if isinstance(error, GitError) else {}
            self._note("failed", intent=intent, why=f"{type(error).__name__}: {error}", **code)
            raise
        self._note("done", intent=intent, **outcome)

    def _note(self, event: str, **facts: Any) -> None:
        """What happened has happened, noted or not; the next intent will not be written either."""
        try:
            self.write(event, **facts)
        except JournalError:
            return


def append(path: Path, data: bytes) -> None:
    """Append and sync; a line that could be written only in part is taken back, so that the next is whole."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    start = os.fstat(descriptor).st_size
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, start)
        raise
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class History:
    """A journal as read. `whole_bytes` is where the last whole line ends."""

    path: Path
    events: tuple[Event, ...]
    whole_bytes: int

    @property
    def id(self) -> str:
        return self.path.name.removesuffix(".jsonl")

    @property
    def began(self) -> Event | None:
        return next((event for event in self.events if event["event"] == "began"), None)

    @property
    def ended(self) -> Event | None:
        return next((event for event in self.events if event["event"] == "ended"), None)

    @property
    def is_wave(self) -> bool:
        """Whether it is a wave, or an undo of one; not a run about a single worktree."""
        return self.began is not None and self.began["kind"] in ("wave", "undo")

    @property
    def entries(self) -> tuple[Event, ...]:
        """How each entry ended; one that a crash cut short is not among them."""
        return tuple(event for event in self.events if event["event"] == "entry")

    def intents(self, action: str) -> Iterator[tuple[Event, Event | None]]:
        """Each intent of that kind, with what came of it: a `done` or `failed` line, or None."""
        closed = {event["intent"]: event for event in self.events if event["event"] in ("done", "failed")}
        for event in self.events:
            if event["event"] == "intent" and event["action"] == action:
                yield event, closed.get(event["seq"])

    @property
    def head(self) -> str | None:
        """Where it left the target: at its last merge, else where it found it."""
        merges = [done["commit"] for _, done in self.intents("merge") if done and done.get("commit")]
        merges += [intent["to"] for intent, done in self.intents("move_target") if done and done["event"] == "done"]
        if self.ended and self.ended.get("head"):
            return str(self.ended["head"])
        return str(merges[-1]) if merges else str(self.began["head"]) if self.began else None


def load_history(path: Path) -> History:
    """Read a journal; lines of an unknown version and a torn last one are passed over. Raises OSError."""
    data = read_regular(path)
    whole = data.rfind(b"\n") + 1
    events = []
    for line in data[:whole].split(b"\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_event(event):
            events.append(event)
    return History(path, tuple(events), whole)


NEEDED = {
    "began": ("kind", "id", "target", "head", "at"),
    "intent": ("action", "entry", "branch"),
    "done": ("intent",),
    "failed": ("intent", "why"),
    "entry": ("branch", "worktree_path", "expected_base", "status", "reason", "tip", "merge_commit"),
    "ended": ("ok", "reason", "head"),
}


def is_event(line: Any) -> bool:
    """Whether a parsed line is of this version and whole; any other is passed over."""
    if not isinstance(line, dict) or line.get("v") != VERSION or not isinstance(line.get("seq"), int):
        return False
    needed = NEEDED.get(str(line.get("event")))
    return needed is not None and all(key in line for key in needed)


def list_histories(common_dir: Path) -> list[History]:
    """All journals, oldest first. Raises OSError."""
    try:
        paths = sorted(waves_dir(common_dir).glob("*.jsonl"), key=lambda path: path.stem)
    except FileNotFoundError:
        return []
    return [load_history(path) for path in paths]


def last_history(common_dir: Path) -> History | None:
    """The newest journal. Raises OSError."""
    paths = waves_dir(common_dir).glob("*.jsonl")
    newest = max(paths, key=lambda path: path.stem, default=None)
    return load_history(newest) if newest else None


def new_wave_id(common_dir: Path, now: datetime) -> str:
    """The time in UTC to the microsecond; the next one after the latest there is, when the clock went back."""
    wanted = f"{now:%Y%m%dT%H%M%S%f}Z"
    latest = max((path.stem for path in waves_dir(common_dir).glob("*.jsonl") if ID.fullmatch(path.stem)), default="")
    return wanted if wanted > latest else f"{latest[:9]}{int(latest[9:-1]) + 1:012}Z"
