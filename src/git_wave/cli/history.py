"""`git wave log`, `show` and `gc`: what waves and other runs did, and how long their backups are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from git_wave.cli.options import FilledPath
from git_wave.cli.repository import Repository, here, open_repository
from git_wave.git.reads import Reads
from git_wave.git.writes import Writes
from git_wave.model.errors import GitError, Refusal, WaveError
from git_wave.model.reasons import Reason
from git_wave.recovery import is_settled
from git_wave.report.plain import one_line
from git_wave.state.expiry import begun_at, parse_age
from git_wave.state.journal import History, journal_path, list_histories
from git_wave.state.kept_places import list_kept
from git_wave.state.wave_lock import wave_lock
from git_wave.undoing import undone_by

root_option = click.option("--root", type=FilledPath(), help="The checkout.  [default: the current one]")
json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


@click.command("log")
@root_option
@json_option
def log(root: Path | None, as_json: bool) -> int:
    """List the runs of this repository, newest first: waves, undos, discards, restores, removals and reaps."""
    try:
        histories = read_histories(root)
    except WaveError as error:
        return refused(error)
    undone = undone_by(histories)
    runs = [summary(history, undone) for history in reversed(histories) if history.began]
    if as_json:
        click.echo(json.dumps(runs, indent=2))
    for run in [] if as_json else runs:
        click.echo(one_line(summary_line(run)))
    return 0


def read_histories(root: Path | None) -> list[History]:
    try:
        return list_histories(open_repository(root or here()).layout.common_dir)
    except OSError as error:
        raise WaveError(Reason.UNKNOWN_WAVE, str(error)) from error


def summary(history: History, undone: Mapping[str, str]) -> dict[str, Any]:
    """One run in a few keys. `reason` is `interrupted` for one that has no end, or is running now."""
    began, ended = history.began or {}, history.ended
    landed = sum(entry["status"] == "merged_removed" for entry in history.entries)
    return {
        "id": history.id,
        "kind": began["kind"],
        "at": began["at"],
        "target": began["target"],
        "head_before": began["head"],
        "head_after": history.head,
        "entries": began.get("entries", 0),
        "landed": landed,
        "ok": bool(ended and ended["ok"]),
        "reason": ended["reason"] if ended else str(Reason.INTERRUPTED),
        "undoes": began.get("undoes"),
        "undone_by": undone.get(history.id),
    }


def summary_line(run: Mapping[str, Any]) -> str:
    wave = f"{run['landed']} of {run['entries']} landed"
    what = wave if run["kind"] == "wave" else f"{run['kind']} of {run['undoes']}" if run["undoes"] else run["kind"]
    line = f"{run['id']}  {run['at'][:19]}  {run['target'].removeprefix('refs/heads/')}  {what}  {run['reason']}"
    return f"{line}  (undone by {run['undone_by']})" if run["undone_by"] else line


@click.command("show")
@click.argument("run_id", metavar="ID")
@root_option
@json_option
def show(run_id: str, root: Path | None, as_json: bool) -> int:
    """Tell one run, change by change."""
    try:
        histories = read_histories(root)
        history = next((h for h in histories if h.id == run_id and h.began), None)
        if history is None:
            raise Refusal(Reason.UNKNOWN_WAVE, f"no journal of a run {run_id}")
    except WaveError as error:
        return refused(error)
    told = summary(history, undone_by(histories))
    if as_json:
        click.echo(json.dumps({**told, "events": list(history.events)}, indent=2))
        return 0
    click.echo(one_line(summary_line(told)))
    for line in story(history):
        click.echo(one_line(line))
    return 0


def story(history: History) -> Iterator[str]:
    """What was done for each entry, in order, and how each ended."""
    closed = {event["intent"]: event for event in history.events if event["event"] in ("done", "failed")}
    for event in history.events:
        if event["event"] == "intent":
            end = closed.get(event["seq"])
            how = ending(event, end)
            subject = event.get("path") or event.get("ref") or event.get("name") or event.get("tip") or ""
            yield f"  {event['branch'] or '-'}  {event['action']} {subject}: {how}"
        elif event["event"] == "entry":
            yield f"  {event['branch'] or event['worktree_path']}  {event['status']}: {event['reason']}"


def ending(intent: Mapping[str, Any], end: Mapping[str, Any] | None) -> str:
    if end is None:
        return "under way when it was cut short"
    if end.get("outcome"):
        return f"{end['outcome']} ({end.get('reason')})"
    merged = end.get("commit") or "not merged"
    return str(end.get("why") or (merged if intent["action"] == "merge" else "done"))


@click.command("gc")
@root_option
@click.option("--older-than", default="30d", show_default=True, help="30d, 12h, 2w, 90m; 0 for all.")
@click.option("--dry-run", is_flag=True, help="Say what would be expired.")
def gc(root: Path | None, older_than: str, dry_run: bool) -> int:
    """Expire the backups and journals of old waves. Nothing else ever does.

    Kept files (`git wave kept`) are left alone; where there are any, `files_left_alone` names them.
    """
    try:
        age = parse_age(older_than)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--older-than") from error
    try:
        repository = open_repository(root or here())
        expired, kept = expire(repository, age, dry_run=dry_run)
        files = [one.id for one in list_kept(repository.layout.common_dir / "git-wave")]
    except WaveError as error:
        return refused(error)
    except OSError as error:
        return refused(WaveError(Reason.KEPT_UNREADABLE, str(error)))
    told = {"ok": True, "reason": Reason.OK, "expired": expired, "kept": kept}
    click.echo(json.dumps({**told, **({"files_left_alone": files} if files else {})}, indent=2))
    return 0


def expire(repository: Repository, age: timedelta, *, dry_run: bool) -> tuple[list[str], list[str]]:
    """Ids of the runs whose backups went, and of those whose stay. Raises WaveError."""
    common_dir = repository.layout.common_dir
    before = datetime.now(UTC) - age
    with wave_lock(common_dir, 0), Reads(repository.door, repository.layout) as reads:
        try:
            refs = reads.backup_refs()
            histories = list_histories(common_dir)
            runs = sorted({ref.split("/")[2] for ref in refs} | {history.id for history in histories})
            # What such a run left is still to be settled by the next one.
            unfinished = {history.id for history in histories if not is_settled(history)}
            aged = [run for run in runs if (at := begun_at(run)) is not None and at <= before]
            old = [run for run in aged if run not in unfinished]
            for run in [] if dry_run else old:
                Writes(repository.door, repository.layout).delete_refs(
                    {ref: oid for ref, oid in refs.items() if ref.split("/")[2] == run}
                )
                journal_path(common_dir, run).unlink(missing_ok=True)
        except (GitError, OSError) as error:
            raise WaveError(Reason.GIT_FAILED, str(error)) from error
    return old, [run for run in runs if run not in old]


def refused(error: WaveError) -> int:
    click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": error.detail}))
    click.echo(f"git-wave: {error.reason} — {one_line(error.detail)}", err=True)
    return 1
