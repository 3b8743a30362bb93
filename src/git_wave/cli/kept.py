"""`git wave kept`: the ignored files that waves moved to safety, listed, put back, and deleted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from git_wave.cli.options import FilledPath, format_option
from git_wave.cli.repository import here, open_repository
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.report.plain import one_line
from git_wave.state.kept_places import Kept, delete_kept, forget, in_the_way, list_kept, put_back
from git_wave.state.wave_lock import wave_lock

root_option = click.option("--root", type=FilledPath(), help="The checkout.  [default: the current one]")


@click.group("kept", invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def command(context: click.Context) -> int | None:
    """What waves kept of the ignored files of worktrees that went. Without a command, list it.

    `git wave gc` leaves it alone: kept files go only with `drop`, with `restore`, or by hand.
    """
    return int(context.invoke(list_all)) if context.invoked_subcommand is None else None


@command.command("list")
@root_option
@click.option("--json", "as_json", is_flag=True, help="JSON, on a terminal too.")
@format_option
def list_all(root: Path | None, as_json: bool, output: str) -> int:
    """List it: id and branch, files and bytes, since when, and where."""

    def run() -> dict[str, Any]:
        return {"kept": [as_dict(kept) for kept in kept_in(home_of(root))]}

    return answer("list", run, "json" if as_json else output, table)


@command.command("restore")
@click.argument("name", metavar="ID[/BRANCH]")
@click.option("--to", type=FilledPath(), help="Where to.  [default: where the worktree stood, if that is there]")
@root_option
@format_option
def restore(name: str, to: Path | None, root: Path | None, output: str) -> int:
    """Move kept files back, never over anything: if something is in the way, nothing is moved."""

    def run() -> dict[str, Any]:
        home = home_of(root)
        with wave_lock(home.parent, 0):
            chosen = choose(home, name)
            targets = [target_for(kept, to, chosen) for kept in chosen]
            for kept, target in zip(chosen, targets, strict=True):
                require_free(kept, target)
            for kept, target in zip(chosen, targets, strict=True):
                move(kept, target)
        pairs = zip(chosen, targets, strict=True)
        return {"restored": [{**as_dict(kept), "to": str(target)} for kept, target in pairs]}

    return answer("restore", run, output, lambda doc: [f"{one['id']} -> {one['to']}" for one in doc["restored"]])


@command.command("drop")
@click.argument("name", metavar="ID[/BRANCH]")
@click.option("--yes", is_flag=True, help="Needed: what is dropped is gone for good.")
@root_option
@format_option
def drop(name: str, yes: bool, root: Path | None, output: str) -> int:
    """Delete kept files for good. Needs the exact id, and --yes."""

    def run() -> dict[str, Any]:
        home = home_of(root)
        with wave_lock(home.parent, 0):
            chosen = choose(home, name)
            if not yes:
                files = sum(kept.files for kept in chosen)
                raise Refusal(Reason.CONFIRMATION_NEEDED, f"--yes would delete {files} files for good")
            for kept in chosen:
                delete(kept)
        return {"dropped": [as_dict(kept) for kept in chosen]}

    return answer("drop", run, output, lambda doc: [f"dropped {one['id']}" for one in doc["dropped"]])


def answer(
    verb: str, run: Callable[[], dict[str, Any]], output: str, lines: Callable[[dict[str, Any]], Sequence[str]]
) -> int:
    as_json = output == "json" or (output == "auto" and not sys.stdout.isatty())
    try:
        document = run()
    except WaveError as error:
        if as_json:
            click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": error.detail}))
        click.echo(f"kept {verb}: {error.reason} — {one_line(error.detail)}", err=True)
        return 1
    if as_json:
        click.echo(json.dumps({"ok": True, "reason": Reason.OK, **document}, indent=2))
    else:
        click.echo("".join(f"{one_line(line)}\n" for line in lines(document)), nl=False)
    return 0


def home_of(root: Path | None) -> Path:
    """Our directory in the repository."""
    return open_repository(root or here()).layout.common_dir / "git-wave"


def kept_in(home: Path) -> list[Kept]:
    try:
        return list_kept(home)
    except OSError as error:
        raise WaveError(Reason.KEPT_UNREADABLE, str(error)) from error


def choose(home: Path, name: str) -> list[Kept]:
    """What an exact id means: one branch's, or all of a run's."""
    chosen = [kept for kept in kept_in(home) if name.rstrip("/") in (kept.id, kept.run_id)]
    if not chosen:
        raise Refusal(Reason.UNKNOWN_KEPT, f"nothing is kept under {name}")
    return chosen


def target_for(kept: Kept, to: Path | None, chosen: Sequence[Kept]) -> Path:
    if to is not None:
        if len(chosen) > 1:
            names = ", ".join(one.id for one in chosen)
            raise Refusal(Reason.RESTORE_BLOCKED, f"one directory for several; name one of {names}")
        return Path(os.path.realpath(to))
    place = kept.worktree
    if place is None or not place.is_dir() or place.is_symlink():
        where = place or "the worktree"
        raise Refusal(Reason.RESTORE_BLOCKED, f"{kept.id}: {where} is not there any more; say where with --to DIR")
    return place


def require_free(kept: Kept, target: Path) -> None:
    try:
        standing = [shown(str(path)) for path in in_the_way(kept.path, target)]
    except OSError as error:
        raise Refusal(Reason.RESTORE_BLOCKED, str(error)) from error
    if standing:
        raise Refusal(Reason.RESTORE_BLOCKED, "\n".join((f"in the way of {kept.id}:", *standing)))


def move(kept: Kept, target: Path) -> None:
    try:
        put_back(kept.path, target)
        forget(kept)
    except OSError as error:
        detail = f"{kept.id}: {error}; what was not moved is still kept, and the same command goes on"
        raise WaveError(Reason.RESTORE_BLOCKED, detail) from error


def delete(kept: Kept) -> None:
    try:
        delete_kept(kept)
    except OSError as error:
        raise WaveError(Reason.DROP_FAILED, f"{kept.id}: {error}; the same command goes on") from error


def as_dict(kept: Kept) -> dict[str, Any]:
    since = kept.since
    return {
        "id": kept.id,
        "wave": kept.run_id,
        "branch": kept.branch,
        "residue": kept.is_residue,
        "path": str(kept.path),
        "worktree_path": str(kept.worktree) if kept.worktree else None,
        "files": kept.files,
        "bytes": kept.size,
        "since": since.isoformat(timespec="seconds") if since else None,
    }


def table(document: dict[str, Any]) -> list[str]:
    rows = [("id", "files", "bytes", "since", "was in")] if document["kept"] else []
    rows += [
        (one["id"], f"{one['files']:,}", f"{one['bytes']:,}", (one["since"] or "?")[:19], one["worktree_path"] or "?")
        for one in document["kept"]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    return [
        "  ".join([row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2]), row[3].ljust(widths[3])])
        + f"  {row[4]}"
        for row in rows
    ]
