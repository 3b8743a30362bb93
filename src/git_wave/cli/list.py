"""`git wave list`: every worktree of a repository, whose it is, and whether it may go."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from git_wave.cli.answers import refuse, wants_json
from git_wave.cli.logs import logging_to
from git_wave.cli.options import FilledPath, Seconds, Wait, format_option
from git_wave.cli.repository import Repository, here, open_repository
from git_wave.cli.signals import caught
from git_wave.gates import Terms
from git_wave.gates.containment import managed_root as managed_root_of
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError, Interrupted, Refusal, WaveError
from git_wave.model.explanations import next_step
from git_wave.model.reasons import Reason
from git_wave.reclaim.inventory import Inventory, Order, take_inventory
from git_wave.reclaim.sizes import Budget
from git_wave.report.inventory_document import SORTING, inventory_document

BOUND = 30.0
"""Seconds that one git command may take at most here: one that hangs must not hold up all the others."""
WORKERS = 4


@click.command("list")
@click.option("--cwd", type=FilledPath(), help="Where to look.  [default: the current directory]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@format_option
@click.option("--sort", type=click.Choice(list(SORTING)), default="path", show_default=True)
@click.option("--managed-root", type=FilledPath(), help="Where agents' worktrees are.  [default: wave.managedRoot]")
@click.option("--size-budget", type=Wait(), default=2, show_default=True, help="Seconds for measuring; 0: do not.")
@click.option("--git-timeout", type=Seconds(), default=BOUND, show_default=True, help="Seconds for one git command.")
def command(
    cwd: Path | None,
    as_json: bool,
    output: str,
    sort: str,
    managed_root: Path | None,
    size_budget: float,
    git_timeout: float,
) -> int:
    """List every worktree of a repository, whose it is, and whether it may go.

    Also those that are gone or cannot be read, and directories below the managed root that git does not know. Reads
    only. What cannot be told is shown as such.
    """
    as_json = as_json or wants_json(output)
    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            repository = open_repository(cwd or here(), git_timeout=git_timeout, interrupts=interrupts)
            inventory = inventory_of(repository, managed_root, Budget(size_budget))
        except WaveError as error:
            return refused(error, as_json)
        except Interrupted as stopped:
            refused(WaveError(Reason.INTERRUPTED, str(stopped)), as_json)
            return 128 + stopped.signum
    show(inventory, sort, as_json)
    return 0


def refused(error: WaveError, as_json: bool) -> int:
    step = next_step(error.reason)
    document = {"ok": False, "reason": error.reason, "hint": error.detail, "next_step": step}
    click.echo(json.dumps(document) if as_json else f"what to do: {step}")
    refuse("list", error.reason, error.detail)
    return 1


def inventory_of(repository: Repository, managed_root: Path | None, budget: Budget) -> Inventory:
    """Raises Refusal."""
    with Reads(repository.door, repository.layout) as reads:
        try:
            main_root = Path(reads.list_registrations()[0].path)
            root = managed_root or managed_root_of(main_root, repository.settings.managed_root)
            terms = Terms(claims={}, regenerable=repository.settings.regenerable)
            return take_inventory(reads, Order(terms, root, datetime.now(UTC), budget, workers()))
        except GitError as error:
            raise Refusal(Reason.GIT_FAILED, str(error)) from error


def workers() -> int:
    """More than there are processors, since git waits for the disk."""
    return max(WORKERS, 2 * (os.cpu_count() or 1))


def show(inventory: Inventory, sort: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(inventory_document(inventory, sort), indent=2))
        return
    from git_wave.report.inventory_table import render_inventory
    from git_wave.report.table import console_for

    # In a pipe nothing needs to be folded, unless somebody says how wide it is.
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 200
    render_inventory(inventory, console_for(sys.stdout, width=width), sort)
