"""Worktrees in the making, on record from before the first change until the manifest names them.

The record is held by a lock of the kernel's: when its process ends, in whatever way, the lock is free and somebody
else can finish or undo what was begun.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from git_wave.state.atomic import replace_file
from git_wave.state.named_files import read_regular

VERSION = 1
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Intent:
    """What a create is about to make. Commits and trees are full ids.

    `tree` is what the new worktree's files are to be, `baseline` the commit of that, once made. `parents` are the
    directories above `path` that were not there before.
    """

    id: str
    manifest: str
    agent_id: str
    branch: str
    path: str
    base: str
    tree: str
    baseline: str | None = None
    parents: tuple[str, ...] = field(default_factory=tuple)

    @classmethod
    def from_json(cls, document: Any) -> Intent:
        """Raises ValueError."""
        try:
            if document.pop("v") != VERSION:
                raise ValueError("another version's")
            return cls(**{**document, "parents": tuple(document["parents"])})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(str(error)) from error


class Creating:
    """A record that this process holds."""

    def __init__(self, path: Path, intent: Intent) -> None:
        self._path = path
        self.intent = intent

    def note(self, **changes: Any) -> None:
        """Put on record what has changed, before the next step. Raises OSError."""
        self.intent = replace(self.intent, **changes)
        replace_file(self._path, json.dumps({"v": VERSION, **asdict(self.intent)}).encode())

    def forget(self) -> None:
        """The manifest names the worktree now, or nothing is left of it. Raises OSError."""
        self._path.unlink(missing_ok=True)


@contextmanager
def begun(common_dir: Path, intent: Intent) -> Iterator[Creating]:
    """Hold a record of `intent`; it stays behind unless it is forgotten. Raises OSError."""
    from filelock import FileLock

    home = directory(common_dir)
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / f"{intent.id}.lock"):
        creating = Creating(home / f"{intent.id}.json", intent)
        creating.note()
        try:
            yield creating
        finally:
            if not (home / f"{intent.id}.json").exists():
                (home / f"{intent.id}.lock").unlink(missing_ok=True)


def list_dead(common_dir: Path) -> Iterator[Creating]:
    """Records whose process has ended, each held while it is looked at. Raises OSError.

    One that cannot be understood is passed over, and stays.
    """
    home = directory(common_dir)
    if not home.is_dir():
        return
    from filelock import FileLock, Timeout

    for path in sorted(home.glob("*.json")):
        lock = FileLock(path.with_suffix(".lock"), timeout=0)
        try:
            with lock:
                intent = load_intent(path)
                if intent is not None:
                    yield Creating(path, intent)
                if not path.exists():
                    path.with_suffix(".lock").unlink(missing_ok=True)
        except Timeout:
            continue
    drop_idle_locks(home)


def load_intent(path: Path) -> Intent | None:
    try:
        return Intent.from_json(json.loads(read_regular(path)))
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def drop_idle_locks(home: Path) -> None:
    """Lock files whose record was never written, and drafts of records; a young one may be about to become one."""
    idle = (path for path in home.glob("*.lock") if not path.with_suffix(".json").exists())
    for path in (*idle, *home.glob(".*.json.*")):
        with suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > DAY:
                path.unlink()


def directory(common_dir: Path) -> Path:
    return common_dir / "git-wave" / "creating"


@contextmanager
def one_at_a_time(common_dir: Path, wait: float) -> Iterator[None]:
    """Hold the lock under which worktrees are added, so that creates do not meet at git's own lock files.

    `wait` is in seconds. Raises TimeoutError or OSError.
    """
    from filelock import FileLock, Timeout

    home = common_dir / "git-wave"
    home.mkdir(exist_ok=True)
    try:
        with FileLock(home / "worktrees.lock", timeout=wait, poll_interval=0.02):
            yield
    except Timeout as error:
        raise TimeoutError(f"{home / 'worktrees.lock'} is held by another create") from error


def list_live(common_dir: Path) -> list[Path]:
    """Where worktrees are being made right now. Raises OSError, also when a record cannot be understood."""
    home = directory(common_dir)
    if not home.is_dir():
        return []
    from filelock import FileLock, Timeout

    found = []
    for path in sorted(home.glob("*.json")):
        try:
            with FileLock(path.with_suffix(".lock"), timeout=0):
                continue
        except Timeout:
            intent = load_intent(path)
        if intent is None and path.exists():
            raise OSError(f"{path} cannot be understood")
        if intent is not None:
            found.append(Path(intent.path))
    return found
