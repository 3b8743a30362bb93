"""`git wave finalize`: commit what an agent left in its worktree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from git_wave.cli.answers import named_from, repository_of, run_verb
from git_wave.cli.options import Filled, Wait, format_option, which_worktree

if TYPE_CHECKING:
    from git_wave.model.interrupts import Interrupts


@click.command("finalize", context_settings={"help_option_names": ["-h", "--help"]})
@which_worktree
@click.option("--message", type=Filled(), help="The commit's message.")
@click.option("--drop-empty", is_flag=True, help="Take worktree and branch away when the branch holds no work.")
@click.option("--wait", type=Wait(), default=0, help="With --drop-empty: seconds to wait for a running wave.")
@format_option
def command(
    path: Path | None,
    manifest: Path | None,
    agent_id: str | None,
    root: Path | None,
    message: str | None,
    drop_empty: bool,
    wait: float,
    output: str,
) -> int:
    """Commit whatever an agent left in its worktree, and say whether its branch holds any work.

    No hook of the repository can stop the commit but one on refs. When it cannot be made, exit 1, and the worktree
    stays as it is.
    """
    from git_wave.lifecycle.finalize import Finalized, Order, finalize

    named = named_from(path, manifest, agent_id)
    outcome = Finalized()

    def act(interrupts: Interrupts) -> None:
        repository = repository_of(named, root, interrupts)
        order = Order(named, message, drop_empty, wait)
        finalize(repository.door, repository.layout, repository.settings, order, outcome)

    return run_verb("finalize", outcome, output, act)
