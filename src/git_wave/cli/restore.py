"""`git wave restore`: bring back what was discarded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from git_wave.cli.answers import run_verb
from git_wave.cli.options import FilledPath, Wait, format_option

if TYPE_CHECKING:
    from git_wave.model.interrupts import Interrupts


@click.command("restore", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("ref", metavar="REF")
@click.option("--root", type=FilledPath(), help="A checkout of the repository.  [default: the current one]")
@click.option("--wait", type=Wait(), default=0, help="Seconds to wait for a running wave.")
@format_option
def command(ref: str, root: Path | None, wait: float, output: str) -> int:
    """Bring a discarded branch and worktree back, with all that was uncommitted.

    REF is what `git wave discard` printed: a backup ref, the id of the run, or the commit of uncommitted work.
    """
    from git_wave.cli.repository import here, open_repository
    from git_wave.lifecycle.restore import Restored, restore
    from git_wave.lifecycle.workshop import workshop

    outcome = Restored()

    def act(interrupts: Interrupts) -> None:
        repository = open_repository(root or here(), interrupts=interrupts)
        with workshop(repository.door, repository.layout, repository.settings, wait) as shop:
            restore(ref, shop, outcome)

    return run_verb("restore", outcome, output, act)
