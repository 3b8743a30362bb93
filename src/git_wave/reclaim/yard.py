"""Where a reclaiming verb works: the repository, seen from its main worktree, and the terms put to the gates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.gates import Expected, Inspection, NotKnown, Terms
from git_wave.gates.containment import managed_root
from git_wave.git.door import Door
from git_wave.git.layout import Layout, layout_of
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.model.entry import Entry
from git_wave.model.errors import GitError, Refusal, WaveError
from git_wave.model.manifest import manifest_from
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.reclaim.fate import Fate
from git_wave.running import Run, locked_run
from git_wave.settings import Settings
from git_wave.state.creating import list_live
from git_wave.state.manifest_file import load_document

ANYBODY = Expected()
BOUND = 30.0
"""Seconds that any git command of these verbs may take. One that takes longer has not answered."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository as the command line found it, and the directory in which the command was called."""

    door: Door
    layout: Layout
    settings: Settings
    cwd: Path


@dataclass(frozen=True, slots=True)
class Yard:
    """A run in the main worktree, with what it takes to look at any other."""

    run: Run
    place: Place
    snapshots: Snapshots

    @property
    def reads(self) -> Reads:
        return self.run.reads

    def inspection(self, paths: Iterable[Path] = ()) -> Inspection:
        """A pass over these worktrees: nothing that was read before is believed."""
        reads, settings = self.reads, self.place.settings
        found = Inspection(reads, Terms(), tuple(paths))
        return found.again(
            managed_root=managed_root(reads.layout.root, settings.managed_root),
            claims=claims(found, self.place),
            regenerable=settings.regenerable,
            now=datetime.now(UTC),
        )

    def fresh(self, path: Path, expected: Expected = ANYBODY) -> Inspection:
        """A pass over one worktree, right before something is done to it."""
        return self.inspection([path]).again(expected=expected)

    def begin(self, kind: str, **facts: Any) -> None:
        """The journal's first line. Raises Refusal when it cannot be written, or git cannot tell where HEAD is."""
        try:
            head = self.reads.objects.commit("HEAD")
            target = self.reads.list_registrations()[0].branch
            self.run.begin(kind, target or "HEAD", head or "", **facts)
        except GitError as error:
            raise Refusal(Reason.GIT_FAILED, str(error)) from error
        except JournalError as error:
            raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error

    @contextmanager
    def ending(self) -> Iterator[Ending]:
        """Write the last line when the run has ended, however it did."""
        end = Ending()
        try:
            yield end
        finally:
            self._note("ended", ok=end.ok, reason=end.reason, head=None)

    @contextmanager
    def decision(self, fate: Fate) -> Iterator[None]:
        """One line before a worktree is decided about, and one after. Raises JournalError."""
        journal = self.run.journal
        journal.about(None, fate.branch)
        with journal.step("decide", path=str(fate.path), agent=fate.agent_id, tip=fate.tip) as told:
            yield
            told.update(outcome=fate.outcome, reason=fate.reason, why=list(fate.why))

    def _note(self, event: str, **facts: Any) -> None:
        """What happened has happened, whether or not it can be noted."""
        try:
            self.run.journal.write(event, **facts)
        except JournalError:
            return


@dataclass(slots=True)
class Ending:
    """What a run's last line will say."""

    reason: Reason = Reason.INTERRUPTED
    ok: bool = False


@contextmanager
def telling_git() -> Iterator[None]:
    """Turn what stops a question from being answered into a WaveError."""
    try:
        yield
    except (NotKnown, GitError, OSError) as error:
        raise WaveError(Reason.GIT_FAILED, str(error)) from error


@contextmanager
def opened(place: Place, wait: float, *, dry_run: bool) -> Iterator[Yard]:
    """Hold the wave lock for a run in the main worktree. Raises Refusal."""
    door = place.door
    with locked_run(door, place.layout, place.settings, wait, dry_run=dry_run) as run:
        yield Yard(run, place, Snapshots(door, place.layout))


def main_layout(door: Door, layout: Layout) -> Layout:
    """The same repository seen from its main worktree, or from its git directory where it has none. Raises Refusal."""
    if layout.git_dir == layout.common_dir:
        return layout
    try:
        with Reads(door, layout) as reads:
            root = Path(reads.list_registrations()[0].path)
        found = layout_of(door, root)
        if found.git_dir == layout.common_dir:
            return found
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    except Refusal:
        pass  # bare, or its main worktree is elsewhere
    return Layout(layout.common_dir, layout.common_dir, layout.common_dir)


def require_authority(layout: Layout, cwd: Path) -> None:
    """Is the repository's real root at or below the real current directory? Raises WaveError."""
    try:
        here = Path(os.path.realpath(cwd, strict=True))
    except OSError as error:
        raise WaveError(Reason.NOT_AUTHORIZED, f"{cwd}: {error.strerror}") from error
    if not layout.root.is_relative_to(here):
        raise WaveError(Reason.NOT_AUTHORIZED, f"{layout.root} is not at or below {here}")


def claims(inspection: Inspection, place: Place) -> Mapping[Path, str] | None:
    """Paths that something else is known to use, each with who; None when that could not be found out.

    The command's own directory; worktrees that a create is making; and entries of the manifests that owner records
    name, where an entry gives a worktree to another agent than the record beside it does.
    """
    try:
        found = {place.cwd: "this command, which was called there"}
        found |= dict.fromkeys(list_live(inspection.reads.layout.common_dir), "a create that is under way")
        return found | claimed_by_entries(inspection, place.settings.branch_pattern)
    except (NotKnown, OSError, WaveError):
        return None


def claimed_by_entries(inspection: Inspection, pattern: str) -> dict[Path, str]:
    """Raises NotKnown, OSError or WaveError."""
    reads = inspection.reads
    owners = [(admin, owner) for admin, owner in inspection.owners.items() if isinstance(owner, Owner)]
    agents = {str(reads.place_of(admin)): owner.agent_id for admin, owner in owners}
    found = {}
    for manifest in sorted({Path(owner.manifest) for _, owner in owners if owner.manifest}):
        if reads.presence(manifest) is Presence.GONE:
            continue
        for path, entry in entries_of(manifest, reads.layout.root, pattern):
            agent = agents.get(os.path.realpath(path), agents.get(str(path)))
            if None not in (agent, entry.agent_id) and agent != entry.agent_id:
                found[path] = f"agent {entry.agent_id} in {manifest}"
    return found


def entries_of(manifest: Path, root: Path, pattern: str) -> Iterator[tuple[Path, Entry]]:
    """Raises Refusal."""
    known = manifest_from(load_document(manifest), pattern)
    for entry in known.usable:
        yield Path(known.orchestrator_root or root) / entry.worktree_path, entry
