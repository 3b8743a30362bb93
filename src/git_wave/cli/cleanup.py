"""`cleanup-wave`: land a wave."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from git_wave import runner
from git_wave.cli.logs import logging_to
from git_wave.cli.options import Filled, FilledPath, Seconds, Wait, manifest_option
from git_wave.cli.repository import Repository, here, open_repository, require_same_repository
from git_wave.cli.signals import caught
from git_wave.model.entry import Manifest
from git_wave.model.errors import Interrupted, Refusal
from git_wave.model.interrupts import Interrupts
from git_wave.model.manifest import entries_in, manifest_from, root_in
from git_wave.model.reasons import Reason
from git_wave.report.document import outcome_document, refused_document, unread_document
from git_wave.runner import Request
from git_wave.state.manifest_file import load_document
from git_wave.wave import Observer


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line said."""

    manifest: Path
    root: Path | None
    expect_branch: str | None
    merge_timeout: float | None
    git_timeout: float | None
    wait: float
    dry_run: bool
    output: str
    quiet: bool
    verbose: bool
    log_file: Path | None


@click.command("cleanup-wave", context_settings={"help_option_names": ["-h", "--help"]})
@manifest_option
@click.option("--root", type=FilledPath(), help="The checkout to land into, instead of the manifest's.")
@click.option("--expect-branch", type=Filled(), help="Refuse unless the checkout is on this branch.")
@click.option("--merge-timeout", type=Seconds(), help="For one merge with its hooks.  [default: 600]")
@click.option("--git-timeout", type=Seconds(), help="For any other git command.  [default: 120]")
@click.option("--wait", type=Wait(), default=0, help="Seconds to wait for another wave.  [default: 0]")
@click.option("--dry-run", is_flag=True, help="Run every check, touch nothing, say what would happen.")
@click.option(
    "--format", "output", type=click.Choice(["auto", "json", "text", "markdown"]), default="auto", show_default=True,
    help="auto: a table on a terminal, JSON elsewhere. markdown: a summary for a CI job.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Every git command on standard error.")
@click.option("--log-file", type=FilledPath(), help="Write a debug log there.")
def command(**given: Any) -> int:
    """Land a wave of agents' branches into one checkout and clear their worktrees away.

    Exit 0 means that every entry landed and was cleared; 1 that something did not; 2 wrong usage.
    """
    flags = Flags(**given)
    if flags.output == "auto":
        flags = Flags(**{**given, "output": "text" if sys.stdout.isatty() else "json"})
    try:
        with logging_to(quiet=flags.quiet, verbose=flags.verbose, log_file=flags.log_file):
            with caught() as interrupts:
                document = land(flags, interrupts)
                show(document, flags)
    except OSError as error:
        raise click.ClickException(str(error)) from error
    return (
        128 + interrupts.signum
        if document["reason"] == Reason.INTERRUPTED and interrupts.signum
        else exit_code(document)
    )


def exit_code(document: dict[str, Any]) -> int:
    return 0 if document["ok"] else 1


def land(flags: Flags, interrupts: Interrupts) -> dict[str, Any]:
    """Run the wave; whatever comes of it is a document."""
    try:
        with interrupts.interruptible():  # it may be a pipe, whose writer takes its time
            parsed = load_document(flags.manifest)
        entries, named_root = entries_in(parsed), root_in(parsed)
    except Refusal as refusal:
        return unread_document(refusal)
    except Interrupted as interrupted:
        stopped = Refusal(Reason.INTERRUPTED, str(interrupted))
        return refused_document(stopped, Manifest(None, ()), flags.root, dry_run=flags.dry_run)
    root = flags.root or (Path(named_root) if named_root else None)
    manifest = manifest_from(parsed)
    try:
        if not entries:
            raise Refusal(Reason.EMPTY_MANIFEST, f"{flags.manifest} holds no entry")
        root = root or here()
        repository = open_repository(root, git_timeout=flags.git_timeout, interrupts=interrupts)
        manifest = manifest_from(parsed, repository.settings.branch_pattern)
        require_same_repository(repository, flags.root, named_root)
        return run_wave(repository, manifest, flags)
    except Refusal as refusal:
        return refused_document(refusal, manifest, root, dry_run=flags.dry_run)
    except Interrupted as interrupted:
        stopped = Refusal(Reason.INTERRUPTED, str(interrupted))
        return refused_document(stopped, manifest, root, dry_run=flags.dry_run)


def run_wave(repository: Repository, manifest: Manifest, flags: Flags) -> dict[str, Any]:
    layout, settings = repository.layout, repository.settings
    with view_for(flags) as observer:
        request = Request(
            manifest,
            flags.manifest,
            settings,
            flags.merge_timeout or settings.merge_timeout,
            flags.expect_branch,
            flags.wait,
            flags.dry_run,
            datetime.now(UTC),
            observer,
        )
        wave_id, outcome = runner.run_wave(repository.door, layout, request)
    return outcome_document(outcome, wave_id, layout.root)


def view_for(flags: Flags) -> AbstractContextManager[Observer]:
    """A live view where a person watches and nothing else writes to that terminal."""
    if flags.output == "text" and sys.stderr.isatty() and not (flags.quiet or flags.verbose):
        from git_wave.report.table import LiveView

        return LiveView(sys.stderr)
    return nullcontext(Observer())


def show(document: dict[str, Any], flags: Flags) -> None:
    if flags.output == "json":
        click.echo(json.dumps(document, indent=2))
        return
    if flags.output == "markdown":
        from git_wave.report.markdown import render_markdown

        click.echo(render_markdown(document), nl=False)
        return
    from git_wave.report.table import console_for, render_document

    # In a pipe nothing needs to be folded, unless somebody says how wide it is.
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 200
    render_document(document, console_for(sys.stdout, width=width))
