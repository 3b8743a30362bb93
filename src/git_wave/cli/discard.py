"""`git wave discard`: take a worktree and its branch away without landing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from git_wave.cli.answers import named_from, repository_of, run_verb
from git_wave.cli.options import Wait, format_option, which_worktree

if TYPE_CHECKING:
    from git_wave.model.interrupts import Interrupts


@click.command("discard", context_settings={"help_option_names": ["-h", "--help"]})
@which_worktree
@click.option("--force", is_flag=True, help="Also with commits or uncommitted files, which a backup then keeps.")
@click.option("--dry-run", is_flag=True, help="Ask everything, change nothing.")
@click.option("--wait", type=Wait(), default=0, help="Seconds to wait for a running wave.")
@format_option
def command(
    path: Path | None,
    manifest: Path | None,
    agent_id: str | None,
    root: Path | None,
    force: bool,
    dry_run: bool,
    wait: float,
    output: str,
) -> int:
    """Take a worktree, its branch and its entry in the manifest away without landing.

    Refused when the branch holds commits beyond its base or baseline, or the worktree anything uncommitted, unless
    --force is given. `git wave restore` with the ref that is printed brings all of it back.
    """
    from git_wave.lifecycle.discard import Discarded, discard
    from git_wave.lifecycle.subject import home_of
    from git_wave.lifecycle.workshop import workshop

    named = named_from(path, manifest, agent_id)
    outcome = Discarded()

    def act(interrupts: Interrupts) -> None:
        repository = repository_of(named, root, interrupts)
        home = home_of(repository.door, repository.layout, named, repository.settings.branch_pattern)
        with workshop(repository.door, home, repository.settings, wait, dry_run=dry_run) as shop:
            discard(named, shop, outcome, force=force, dry_run=dry_run)

    return run_verb("discard", outcome, output, act)
