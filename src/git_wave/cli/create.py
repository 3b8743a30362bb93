"""`git wave create`: a worktree and a branch for one agent, recorded in the manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from git_wave.cli.answers import refuse as refuse_verb
from git_wave.cli.answers import wants_json
from git_wave.cli.options import Seconds, format_option, manifest_option

if TYPE_CHECKING:
    from git_wave.lifecycle.create import Created
    from git_wave.lifecycle.plan import Order
    from git_wave.model.errors import WaveError
    from git_wave.model.interrupts import Interrupts

MOST = "With --replay-dirty: how much of what is untracked may be copied."


@click.command("create", context_settings={"help_option_names": ["-h", "--help"]})
@manifest_option
@click.option("--agent-id", default="", help="Who will work there.  [required]")
@click.option("--root", help="The checkout, or a directory of it.  [required]")
@click.option("--path", help="Where the worktree goes.  [default: <root>/.claude/worktrees/<branch>]")
@click.option("--branch", help="Its branch.  [default: agent-<id>]")
@click.option("--base", help="The commit to fork from.  [default: HEAD]")
@click.option("--files", multiple=True, help="Declared scope, paths separated by white space. Repeatable.")
@click.option("--file", "file_", multiple=True, help="One path of the declared scope, verbatim. Repeatable.")
@click.option("--deletions", multiple=True, help="Declared deletions, separated by white space. Repeatable.")
@click.option("--deletion", multiple=True, help="One declared deletion, verbatim. Repeatable.")
@click.option("--replay-dirty", is_flag=True, help="Let the agent see what is uncommitted in the checkout.")
@click.option(
    "--baseline",
    type=click.Choice(["commit", "none"]),
    default="commit",
    show_default=True,
    help="With --replay-dirty: commit that work on the branch first, or leave it uncommitted.",
)
@click.option("--max-untracked-files", type=click.IntRange(0), default=2000, show_default=True, help=MOST)
@click.option("--max-untracked-bytes", type=click.IntRange(0), default=200 << 20, show_default=True, help=MOST)
@click.option("--unique", is_flag=True, help="If the branch exists, take the next free name with a number.")
@click.option("--lock", is_flag=True, help="Lock the worktree against removal by others.")
@click.option("--owner-pid", type=click.IntRange(1), help="With --lock: the process that the worktree belongs to.")
@click.option("--session", help="The session in which the agent runs.")
@click.option("--parent", help="The session that sent the agent.")
@click.option("--checkout-timeout", type=Seconds(), help="Seconds that git may take to make the worktree.")
@click.option("--git-timeout", type=Seconds(), help="Seconds for any other git command.")
@format_option
def command(**given: Any) -> int:
    """Make a branch and a worktree for one agent, and record them in the manifest.

    What the command makes is gone again when it fails. With --replay-dirty the agent sees what the user sees, and the
    checkout is only read; landing such a branch brings the user's uncommitted work back as a commit of its own, unless
    --baseline=none is given.
    """
    # Imported here: asking for help, or naming a wrong flag, needs neither git nor the models.
    from git_wave.cli.logs import logging_to
    from git_wave.cli.signals import caught
    from git_wave.model.errors import Interrupted, WaveError
    from git_wave.model.reasons import Reason

    as_json = wants_json(given["output"])
    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            created = run(order := order_from(given), given["checkout_timeout"], given["git_timeout"], interrupts)
        except WaveError as error:
            return refuse(error, as_json=as_json)
        except Interrupted as interrupted:
            refuse(WaveError(Reason.INTERRUPTED, str(interrupted)), as_json=as_json)
            return 128 + interrupted.signum
    show(created, order.manifest, as_json=as_json)
    return 0


def order_from(given: dict[str, Any]) -> Order:
    from git_wave.lifecycle.plan import Limits, Order

    root = Path(given["root"]) if (given["root"] or "").strip() else None
    return Order(
        Path(os.path.abspath(given["manifest"])),
        given["agent_id"],
        root if root is None or root.is_absolute() else Path.cwd() / root,
        given["path"],
        given["branch"],
        given["base"],
        (*(path for group in given["files"] for path in group.split()), *filter(str.strip, given["file_"])),
        (*(path for group in given["deletions"] for path in group.split()), *filter(str.strip, given["deletion"])),
        given["unique"],
        given["lock"],
        given["owner_pid"],
        given["session"],
        given["parent"],
        given["replay_dirty"],
        given["baseline"] == "commit",
        Limits(given["max_untracked_files"], given["max_untracked_bytes"]),
    )


def run(
    order: Order, checkout_timeout: float | None, git_timeout: float | None, interrupts: Interrupts | None = None
) -> Created:
    """Raises WaveError or Interrupted."""
    from git_wave.cli.repository import open_repository, require_same_repository
    from git_wave.lifecycle.create import create
    from git_wave.lifecycle.making import Opened
    from git_wave.lifecycle.plan import plan_create
    from git_wave.model.interrupts import Interrupts
    from git_wave.model.manifest import entries_in, root_in
    from git_wave.state.manifest_file import load_document

    plan = plan_create(order)
    with (interrupts or Interrupts()).interruptible():  # it may be a pipe, whose writer takes its time
        document = load_document(order.manifest)
    entries_in(document)
    repository = open_repository(plan.root, git_timeout=git_timeout, interrupts=interrupts)
    require_same_repository(repository, plan.root, root_in(document))
    timeout = checkout_timeout or repository.settings.checkout_timeout
    return create(plan, Opened(repository.door, repository.layout, repository.settings, timeout))


def refuse(error: WaveError, *, as_json: bool) -> int:
    from git_wave.lifecycle.create import LeftBehind
    from git_wave.model.explanations import next_step
    from git_wave.report.plain import one_line

    step = next_step(error.reason)
    if as_json:
        left = str(error.path) if isinstance(error, LeftBehind) else None
        told = {"hint": one_line(error.detail), "next_step": step, "preserved_path": left}
        click.echo(json.dumps({"ok": False, "reason": error.reason, **told}))
    else:
        click.echo(f"what to do: {step}")
    refuse_verb("create", error.reason, error.detail)
    return 1


def show(created: Created, manifest: Path, *, as_json: bool) -> None:
    from git_wave.report.plain import one_line

    if as_json:
        click.echo(json.dumps(document_of(created, manifest), indent=2))
        return
    click.echo(one_line(f"{created.entry['branch']}  {created.cwd}"))
    for warning in created.warnings:
        click.echo(one_line(f"{warning.code}: {warning.detail or warning.path or ''}"), err=True)


def document_of(created: Created, manifest: Path) -> dict[str, Any]:
    captured = created.captured
    counts = captured and {"tracked": captured.tracked, "untracked": captured.untracked, "bytes": captured.size}
    return {
        "ok": True,
        "reason": created.reason,
        "entry": created.entry,
        "manifest_path": str(manifest),
        "worktree_path": str(created.path),
        "branch": created.entry["branch"],
        "base": created.entry["expected_base"],
        "baseline": created.entry.get("baseline"),
        "cwd": str(created.cwd),
        "locked": created.locked,
        "replayed": counts,
        "warnings": [warning.as_json() for warning in created.warnings],
    }
