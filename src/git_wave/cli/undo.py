"""`git wave undo`: take a wave back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from git_wave.cli.logs import logging_to
from git_wave.cli.options import FilledPath, Wait
from git_wave.cli.repository import Repository, open_repository
from git_wave.cli.signals import caught
from git_wave.git.reads import Reads
from git_wave.git.writes import Writes
from git_wave.model.errors import GitError, GitLocked, Interrupted, Refusal, WaveError
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.recovery import MARK
from git_wave.report.plain import plain
from git_wave.runner import settle
from git_wave.stages._case import Hands
from git_wave.state.journal import Journal, journal_path, list_histories, new_wave_id
from git_wave.state.wave_lock import wave_lock
from git_wave.undoing import Plan, choose, make, plan_undo


@dataclass(frozen=True, slots=True)
class Outcome:
    reason: Reason
    undo: str | None = None
    undoes: str | None = None
    detail: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.reason is Reason.UNDONE

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "reason": self.reason,
            "undo": self.undo,
            "undoes": self.undoes,
            "detail": list(self.detail),
            "revert": list(self.reverts),
        }


@click.command("undo")
@click.argument("run_id", required=False, metavar="[ID]")
@click.option("--root", type=FilledPath(), help="The checkout.  [default: the current one]")
@click.option("--wait", type=Wait(), default=0, help="Seconds to wait for a running wave.")
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@click.option("--format", "output", type=click.Choice(["json", "text"]), default="json", show_default=True)
def command(run_id: str | None, root: Path | None, wait: float, dry_run: bool, output: str) -> int:
    """Take a wave back: the target goes where it was, branches and worktrees come back.

    Without an ID, the newest wave that still stands. An undo has an ID too, and can be undone. Refused when
    anything landed on top or is in the way; then the `git revert` commands are printed.
    """
    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            repository = open_repository(root or Path.cwd(), interrupts=interrupts)
            outcome = undo(repository, run_id, wait, dry_run=dry_run)
        except WaveError as error:
            outcome = Outcome(error.reason, detail=(error.detail,))
        except Interrupted:
            outcome = Outcome(Reason.INTERRUPTED)
    show(outcome, output)
    return 128 + interrupts.signum if interrupts.signum and not outcome.ok else int(not outcome.ok)


def show(outcome: Outcome, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(outcome.as_json(), indent=2))
        return
    lines = [f"{outcome.reason}: {outcome.undoes or ''}".rstrip(": "), *outcome.detail, *outcome.reverts]
    click.echo(plain("\n".join(lines)))


def undo(repository: Repository, run_id: str | None, wait: float, *, dry_run: bool) -> Outcome:
    """Raises WaveError when there is nothing to take back or it cannot be told."""
    layout = repository.layout
    with wave_lock(layout.common_dir, wait):
        undo_id = new_wave_id(layout.common_dir, datetime.now(UTC))
        door = repository.door.with_variables({MARK: undo_id})
        with Reads(door, layout) as reads:
            if not dry_run:
                settle(reads, door, layout, repository.settings, door.timeout)
            try:
                histories = list_histories(layout.common_dir)
                history = choose(histories, run_id)
                journal = Journal(journal_path(layout.common_dir, undo_id))
                writes = Writes(door, layout, journal, repository.settings.lock_timeout)
                hands = Hands(writes, layout.common_dir / "git-wave", journal)
                plan = plan_undo(history, histories, reads, hands, undo_id)
            except (GitError, OSError) as error:
                raise Refusal(Reason.GIT_FAILED, str(error)) from error
            if plan.problems:
                return Outcome(Reason.UNDO_BLOCKED, None, history.id, tuple(plan.problems), tuple(plan.reverts))
            words = tuple(step.words for step in plan.steps)
            if not dry_run:
                carry_out(plan, history.id, undo_id, reads, journal, hands)
            return Outcome(Reason.UNDONE, None if dry_run else undo_id, history.id, words)


def carry_out(plan: Plan, undoes: str, undo_id: str, reads: Reads, journal: Journal, hands: Hands) -> None:
    """Raises WaveError; the journal then says that it did not finish."""
    began = plan.history.began or {}
    head = reads.objects.commit("HEAD")
    try:
        Journal.create(journal_path(reads.layout.common_dir, undo_id))
        journal.begin("undo", undo_id, reads.layout.root, began["target"], str(head), undoes=undoes)

        def backup(tips: Mapping[str, Oid]) -> None:
            hands.git.back_up(undo_id, plan.head_from, tips)

        make(plan, backup)
        journal.write("ended", ok=True, reason=Reason.UNDONE, head=plan.head_to)
    except GitLocked as error:
        raise WaveError(Reason.REPO_LOCKED, error.lock_file) from error
    except JournalError as error:
        raise WaveError(Reason.STATE_UNWRITABLE, str(error)) from error
    except (GitError, OSError) as error:
        raise WaveError(Reason.UNDO_BLOCKED, f"stopped half-way; run the same command again: {error}") from error
