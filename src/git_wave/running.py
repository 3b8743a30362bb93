"""A run that changes something: the lock, what the last run left, a journal, and hands that write to it.

Every run has an id, by which its journal, its backups and the git commands that it starts are known.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.layout import Layout, layout_of
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.git.writes import Writes
from git_wave.model.errors import GitError, GitLocked, Refusal
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.recovery import MARK, settle_last_run
from git_wave.settings import Settings
from git_wave.stages._case import Hands
from git_wave.state.journal import Journal, journal_path, last_history, new_wave_id
from git_wave.state.wave_lock import wave_lock
from git_wave.unfinished import Tools, settle_creations

logger = logging.getLogger("git_wave.running")


@dataclass(frozen=True, slots=True)
class Run:
    """A run that holds the repository's lock. Its journal is a file from `begin` on."""

    id: str
    reads: Reads
    journal: Journal
    hands: Hands
    settings: Settings

    def begin(self, kind: str, target: str, head: str, **facts: Any) -> None:
        """Write the journal's first line. Raises JournalError."""
        Journal.create(journal_path(self.reads.layout.common_dir, self.id))
        self.journal.begin(kind, self.id, self.reads.layout.root, target, head, **facts)


@contextmanager
def locked_run(
    door: Door, layout: Layout, settings: Settings, wait: float, now: datetime | None = None, *, dry_run: bool = False
) -> Iterator[Run]:
    """Hold the wave lock, waiting for it up to `wait` seconds, with the last run settled.

    A dry run holds it too, and settles nothing. Raises Refusal when nothing may be begun.
    """
    with wave_lock(layout.common_dir, wait):
        run_id = new_wave_id(layout.common_dir, now or datetime.now(UTC))
        door = door.with_variables({MARK: run_id})
        with Reads(door, layout) as reads:
            if not dry_run:
                settle(reads, door, layout, settings)
            journal = Journal(journal_path(layout.common_dir, run_id))
            writes = Writes(door, layout, journal, settings.lock_timeout)
            yield Run(run_id, reads, journal, Hands(writes, layout.common_dir / "git-wave", journal), settings)


def settle(reads: Reads, door: Door, layout: Layout, settings: Settings) -> None:
    """Whatever a killed run left. Raises Refusal."""
    hands = Hands(Writes(door, layout, lock_patience=settings.lock_timeout), layout.common_dir / "git-wave")
    try:
        begun_in = where_begun(door, layout)
        if begun_in == layout:
            settle_last_run(reads, hands, door.timeout)
        else:
            there = Writes(door, begun_in, lock_patience=settings.lock_timeout)
            with Reads(door, begun_in) as reads_there:
                settle_last_run(reads_there, Hands(there, hands.home), door.timeout)
        tools = Tools(reads, hands.git, Snapshots(door, layout), door.timeout)
        for one in settle_creations(tools, forget_completed=False):
            if not one.completed:
                logger.warning("a create of %s was cut short: %s", one.intent.branch, one.left or "taken back")
    except (OSError, JournalError) as error:
        raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error
    except GitLocked as error:
        raise Refusal(Reason.REPO_LOCKED, error.lock_file) from error
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error


def where_begun(door: Door, layout: Layout) -> Layout:
    """The checkout in which the last run was begun: what it left half-done in one is not settled in another.

    Where that is no checkout any more, there is nothing to put back in it. Raises OSError.
    """
    last = last_history(layout.common_dir)
    root = last.began.get("root") if last and last.began else None
    if not isinstance(root, str) or Path(root) == layout.root:
        return layout
    try:
        there = layout_of(door, Path(root))
    except Refusal:
        return layout
    return there if there.common_dir == layout.common_dir else layout
