"""`git wave doctor`: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from git_wave.cli.options import FilledPath
from git_wave.cli.repository import here
from git_wave.doctor._check import Check, Status
from git_wave.doctor.checks import Patient, examine
from git_wave.model.errors import Refusal
from git_wave.model.reasons import Reason
from git_wave.report.plain import one_line
from git_wave.settings import GIT_TIMEOUT


@click.command("doctor")
@click.option("--root", type=FilledPath(), help="The checkout.  [default: the current one]")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
def command(root: Path | None, as_json: bool) -> int:
    """Check git, settings, checkout and what earlier runs left, and say what to do. Changes nothing.

    Exit 0, with or without warnings; 1 when something is in the way of a wave or could not be checked.
    """
    try:
        directory = root or here()
    except Refusal:
        directory = Path("/")  # what needs no checkout can still be told
    checks = list(examine(Patient(os.environ, directory, GIT_TIMEOUT, datetime.now(UTC))))
    ok = all(check.status is not Status.PROBLEM for check in checks)
    if as_json:
        reason = Reason.OK if ok else Reason.PROBLEMS_FOUND
        told = [check.as_json() for check in checks]
        click.echo(json.dumps({"ok": ok, "reason": reason, "checks": told}, indent=2))
    else:
        click.echo("\n".join(lines(checks)))
    return 0 if ok else 1


def lines(checks: list[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{check.status:<8} {check.name}: {one_line(check.detail)}"
        if check.advice:
            yield f"{'':<8} -> {one_line(check.advice)}"
    counts = [f"{sum(check.status is status for check in checks)} {status}" for status in Status]
    yield ", ".join(counts)
