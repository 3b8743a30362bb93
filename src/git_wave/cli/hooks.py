"""`git wave hooks`: our entries in Claude Code's settings, in, out, and looked at."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from git_wave.cli.options import FilledPath
from git_wave.cli.repository import here, open_repository
from git_wave.harness.hooks import PROGRAM
from git_wave.harness.settings_file import Scope, SettingsFile, load_states, settings_path, state_dir
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.reasons import Reason
from git_wave.report.plain import one_line

scope_option = click.option(
    "--scope", type=click.Choice([str(scope) for scope in Scope]), default="project", show_default=True,
    help="project: shared with everyone; local: yours, in this checkout; user: yours, everywhere.",
)  # fmt: skip
root_option = click.option("--root", type=FilledPath(), help="The checkout.  [default: the current one]")
program_option = click.option("--program", type=FilledPath(), help="Call git-wave by this path.  [default: git wave]")
format_option = click.option(
    "--format", "output", type=click.Choice(["auto", "json", "text"]), default="auto", show_default=True,
    help="auto: text on a terminal, JSON elsewhere.",
)  # fmt: skip


@click.group("hooks")
def command() -> None:
    """Let Claude Code call git-wave when worktrees and sessions come and go."""


@command.command("install")
@scope_option
@root_option
@program_option
@format_option
def install(scope: str, root: Path | None, program: Path | None, output: str) -> int:
    """Put our entries into Claude Code's settings, beside whatever stands there. Done twice, it changes nothing."""
    shell = shlex.quote(str(program)) if program else PROGRAM
    return change(Scope(scope), root, output, "install", lambda file: file.install(shell))


@command.command("uninstall")
@scope_option
@root_option
@format_option
def uninstall(scope: str, root: Path | None, output: str) -> int:
    """Take our entries out again. A file that is otherwise as it was becomes what it was, byte for byte."""
    return change(Scope(scope), root, output, "uninstall", SettingsFile.uninstall)


def change(scope: Scope, root: Path | None, output: str, verb: str, act: Callable[[SettingsFile], bool]) -> int:
    told: dict[str, Any] = {"scope": scope, "settings_path": None}
    try:
        path = settings_path(scope, project_for(scope, root), os.environ)
        told["settings_path"] = str(path)
        told["changed"] = changed = act(SettingsFile(path, state_dir(os.environ)))
    except WaveError as error:
        click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": error.detail, **told}))
        click.echo(f"hooks {verb}: {error.reason} — {one_line(error.detail)}", err=True)
        return 1
    if is_json(output):
        click.echo(json.dumps({"ok": True, "reason": Reason.OK, **told}))
    else:
        click.echo(one_line(f"{path}: {f'{verb}ed' if changed else 'nothing to change'}"))
    return 0


def project_for(scope: Scope, root: Path | None) -> Path | None:
    return None if scope is Scope.USER else open_repository(root or here()).layout.root


def is_json(output: str) -> bool:
    return output == "json" or (output == "auto" and not sys.stdout.isatty())


@command.command("status")
@click.option("--scope", type=click.Choice([str(scope) for scope in Scope]), help="Only this one.  [default: all]")
@root_option
@program_option
@format_option
def status(scope: str | None, root: Path | None, program: Path | None, output: str) -> int:
    """Say where our entries stand. Exit 1 when a settings file cannot be understood."""
    scopes = [Scope(scope)] if scope else list(Scope)
    shell = shlex.quote(str(program)) if program else PROGRAM
    told = [looked_at(one, root, shell) for one in scopes]
    # Outside a checkout there are the user's settings alone.
    if scope is None:
        told = [one for one in told if one["reason"] != Reason.NOT_A_CHECKOUT]
    broken = next((one for one in told if not one["ok"]), None)
    if is_json(output):
        reason = broken["reason"] if broken else Reason.OK
        click.echo(json.dumps({"ok": broken is None, "reason": reason, "scopes": told}, indent=2))
    else:
        click.echo("\n".join(one_line(status_line(one)) for one in told))
    return 1 if broken else 0


def looked_at(scope: Scope, root: Path | None, program: str) -> dict[str, Any]:
    path = None
    try:
        path = settings_path(scope, project_for(scope, root), os.environ)
        states = load_states(path, program)
    except Refusal as refusal:
        where = str(path) if path else None
        return {"scope": scope, "ok": False, "reason": refusal.reason, "settings_path": where, "hint": refusal.detail}
    return {"scope": scope, "ok": True, "reason": Reason.OK, "settings_path": str(path), "events": states}


def status_line(told: dict[str, Any]) -> str:
    if not told["ok"]:
        return f"{told['scope']}: {told['reason']}: {told['hint']}"
    states = sorted(set(told["events"].values()))
    words = states[0] if len(states) == 1 else ", ".join(f"{name} {state}" for name, state in told["events"].items())
    return f"{told['scope']}: {words} ({told['settings_path']})"
