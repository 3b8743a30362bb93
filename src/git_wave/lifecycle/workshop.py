"""A run about one worktree: the lock, the run, the journals, and what it makes commits with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.lifecycle.records import Past, list_pasts
from git_wave.model.errors import Refusal
from git_wave.model.reasons import Reason
from git_wave.running import Run, locked_run
from git_wave.settings import Settings
from git_wave.state.journal import History, list_histories


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a discard or a restore works with. Histories, and the discards in them, are in order, oldest first."""

    run: Run
    snapshots: Snapshots
    settings: Settings
    histories: tuple[History, ...]
    pasts: tuple[Past, ...]

    @property
    def reads(self) -> Reads:
        return self.run.reads


@contextmanager
def workshop(
    door: Door, layout: Layout, settings: Settings, wait: float, *, dry_run: bool = False
) -> Iterator[Workshop]:
    """Hold the wave lock for a run about one worktree, which must not be the layout's root. Raises WaveError."""
    with locked_run(door, layout, settings, wait, dry_run=dry_run) as run:
        try:
            histories = tuple(list_histories(layout.common_dir))
        except OSError as error:
            raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error
        yield Workshop(run, Snapshots(door, layout), settings, histories, list_pasts(histories))
