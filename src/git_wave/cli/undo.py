"""`git wave undo`: take a wave back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from git_wave.cli.logs import logging_to
from git_wave.cli.options import FilledPath, Wait
from git_wave.cli.repository import Repository, here, open_repository
from git_wave.cli.signals import caught
from git_wave.model.errors import GitError, GitLocked, Interrupted, Refusal, WaveError
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.report.plain import plain
from git_wave.running import Run, locked_run
from git_wave.state.journal import list_histories
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
            repository = open_repository(root or here(), interrupts=interrupts)
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
    with locked_run(repository.door, repository.layout, repository.settings, wait, dry_run=dry_run) as run:
        try:
            histories = list_histories(repository.layout.common_dir)
            history = choose(histories, run_id)
            plan = plan_undo(history, histories, run)
        except (GitError, OSError) as error:
            raise Refusal(Reason.GIT_FAILED, str(error)) from error
        if plan.problems:
            return Outcome(Reason.UNDO_BLOCKED, None, history.id, tuple(plan.problems), tuple(plan.reverts))
        words = tuple(step.words for step in plan.steps)
        if not dry_run:
            carry_out(plan, history.id, run)
        return Outcome(Reason.UNDONE, None if dry_run else run.id, history.id, words)


def carry_out(plan: Plan, undoes: str, run: Run) -> None:
    """Raises WaveError; the journal then says that it did not finish."""
    began = plan.history.began or {}
    head = run.reads.objects.commit("HEAD")
    try:
        run.begin("undo", began["target"], str(head), undoes=undoes)

        def backup(tips: Mapping[str, Oid]) -> None:
            run.hands.git.back_up(run.id, plan.head_from, tips)

        make(plan, backup)
        run.journal.write("ended", ok=True, reason=Reason.UNDONE, head=plan.head_to)
    except GitLocked as error:
        raise WaveError(Reason.REPO_LOCKED, error.lock_file) from error
    except JournalError as error:
        raise WaveError(Reason.STATE_UNWRITABLE, str(error)) from error
    except (GitError, OSError) as error:
        raise WaveError(Reason.UNDO_BLOCKED, f"stopped half-way; run the same command again: {error}") from error
