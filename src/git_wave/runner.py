"""A whole run: lock, what the last run left, target, journal, backups, the wave, and the journal's end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.reads import Reads
from git_wave.git.rehearsal import rehearsal
from git_wave.model.entry import Entry, Manifest
from git_wave.model.errors import GitError, GitLocked, Refusal
from git_wave.model.names import heads_ref
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.running import Run, locked_run
from git_wave.settings import Settings
from git_wave.stages._case import EarlierWaves, Hands, Target, WaveTerms
from git_wave.state.journal import Journal, list_histories, new_wave_id
from git_wave.wave import Ended, Observer, Wave, WaveOutcome, require_target, resolve_bases


@dataclass(frozen=True, slots=True)
class Request:
    """What to land, where and how. `wait` is how many seconds the lock may be waited for."""

    manifest: Manifest
    manifest_path: Path
    settings: Settings
    merge_timeout: float
    expect_branch: str | None
    wait: float
    dry_run: bool
    now: datetime
    observer: Observer = field(default_factory=Observer)


def run_wave(door: Door, layout: Layout, request: Request) -> tuple[str, WaveOutcome]:
    """The run's id and its outcome. Raises Refusal when nothing may be touched, and nothing was."""
    if request.dry_run:
        return rehearse_wave(door, layout, request)
    with locked_run(door, layout, request.settings, request.wait, request.now) as run:
        reads, hands, journal = run.reads, run.hands, run.journal
        target = require_target(reads, request.expect_branch)
        terms = terms_for(request, run.id, reads)
        begin(run, request, target)
        journal.before_first_change = lambda: back_up(reads, hands, request.manifest, run.id, target)
        outcome = Wave(request.manifest, target, terms, reads, hands, JournalKeeper(journal, request.observer)).run()
        close(journal, outcome)
        return run.id, outcome


def rehearse_wave(door: Door, layout: Layout, request: Request) -> tuple[str, WaveOutcome]:
    """The dry run: no lock, no journal, no hands."""
    with rehearsal(door, layout) as reads:
        wave_id = new_wave_id(layout.common_dir, request.now)
        target = require_target(reads, request.expect_branch)
        terms = terms_for(request, wave_id, reads)
        return wave_id, Wave(request.manifest, target, terms, reads, None, request.observer).run()


def terms_for(request: Request, wave_id: str, reads: Reads) -> WaveTerms:
    bases = resolve_bases(request.manifest.usable, reads)
    common_dir = reads.layout.common_dir
    earlier = EarlierWaves(lambda: landed_lines(common_dir), lambda: kept_places(common_dir, wave_id))
    settings = request.settings
    return WaveTerms(
        wave_id,
        request.merge_timeout,
        bases,
        settings.configured_branches,
        earlier,
        settings.regenerable,
        settings.ignored_output,
        settings.merge_message,
    )


def landed_lines(common_dir: Path) -> tuple[Mapping[str, Any], ...]:
    """Journal lines of entries whose work reached the target, newest first; none when they cannot be read."""
    try:
        histories = list_histories(common_dir)
    except OSError:
        return ()
    lines = (line for history in reversed(histories) for line in reversed(history.entries))
    return tuple(line for line in lines if line["tip"] and (line["merge_commit"] or line["status"] == "merged_removed"))


def kept_places(common_dir: Path, but: str) -> tuple[tuple[str, str], ...]:
    """Branch and place of what runs kept that ended before they could tell, the run `but` aside."""
    try:
        histories = list_histories(common_dir)
    except OSError:
        return ()
    found = []
    for history in histories:
        if history.id == but or not history.is_wave:
            continue
        told = {entry["branch"] for entry in history.entries}
        for intent, _ in history.intents("keep"):
            if intent["branch"] and intent["branch"] not in told:
                found.append((str(intent["branch"]), os.path.join(intent["place"], str(intent["path"]).rstrip("/"))))
    return tuple(found)


def begin(run: Run, request: Request, target: Target) -> None:
    facts = {"manifest": str(request.manifest_path), "entries": len(request.manifest.entries)}
    try:
        run.begin("wave", target.ref, target.oid, **facts)
    except JournalError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error


def back_up(reads: Reads, hands: Hands, manifest: Manifest, wave_id: str, target: Target) -> None:
    """Refs of our own for HEAD and every branch that may be deleted, before anything is.

    Raises GitLocked, or JournalError when they cannot be written; then the change is not made either.
    """
    try:
        tips = {entry.branch: reads.objects.commit(heads_ref(entry.branch)) for entry in manifest.usable}
        hands.git.back_up(wave_id, target.oid, {branch: tip for branch, tip in tips.items() if tip})
    except GitLocked:
        raise
    except GitError as error:
        raise JournalError(f"backup refs: {error}") from error


def close(journal: Journal, outcome: WaveOutcome) -> None:
    """The last line. What happened has happened, whether or not it can be noted: the next run settles it."""
    reason = Reason.INTERRUPTED if outcome.signum else Reason.OK if outcome.ok else Reason.CLEANUP_BLOCKED
    try:
        journal.write("ended", ok=outcome.ok, reason=reason, head=outcome.head_after)
    except JournalError:
        return


class JournalKeeper(Observer):
    """Tells the journal which entry the steps are about and how each ended, and passes everything on."""

    def __init__(self, journal: Journal, observer: Observer) -> None:
        self._journal, self._observer = journal, observer

    def wave_began(self, total: int) -> None:
        self._observer.wave_began(total)

    def stage_began(self, number: int, entry: Entry, stage: str) -> None:
        self._journal.about(number, entry.branch)
        self._observer.stage_began(number, entry, stage)

    def entry_ended(self, number: int, ended: Ended) -> None:
        try:
            self._journal.write("entry", entry=number, **entry_facts(ended))
        except JournalError:
            pass  # the entry's own steps are on record, or could not be made
        self._observer.entry_ended(number, ended)


def entry_facts(ended: Ended) -> dict[str, Any]:
    fields = ended.entry.as_json()
    case = ended.case
    return {
        **{name: fields[name] for name in ("agent_id", "worktree_path", "branch", "expected_base")},
        "status": ended.status,
        "reason": ended.reason,
        "tip": case.tip if case else None,
        "merge_commit": case.merge_commit if case else None,
        "had_worktree": bool(case and case.worktree),
    }
