"""`init`, `validate` and `schema`: the manifest as a file and as a contract."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from git_wave.cli.options import FilledPath, manifest_option
from git_wave.cli.repository import branch_pattern_for, here, open_repository
from git_wave.model.entry import Problem
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.manifest import entries_in, manifest_from, manifest_schema, parse_json
from git_wave.model.positions import places
from git_wave.model.reasons import Reason
from git_wave.report.plain import one_line
from git_wave.state.manifest_file import load_bytes, load_document, locked, write_document

format_option = click.option(
    "--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True
)


@click.command("init")
@manifest_option
@click.option("--root", type=FilledPath(), help="The checkout to land into.  [default: the current one]")
def init(manifest: Path, root: Path | None) -> int:
    """Write an empty manifest that names this checkout. Never overwrites one that holds entries."""
    try:
        layout = open_repository(root or here()).layout
        manifest.parent.mkdir(parents=True, exist_ok=True)
        with locked(manifest):
            require_no_entries(manifest)
            write_document(manifest, {"orchestrator_root": str(layout.root), "worktrees": []})
    except WaveError as error:
        return refused("init", error)
    except OSError as error:
        return refused("init", WaveError(Reason.MANIFEST_WRITE_FAILED, str(error)))
    click.echo(
        json.dumps(
            {
                "ok": True,
                "reason": Reason.OK,
                "manifest_path": str(manifest),
                "orchestrator_root": str(layout.root),
            }
        )
    )
    return 0


def require_no_entries(manifest: Path) -> None:
    """What stands there may be nothing, or a manifest without entries."""
    if not manifest.exists() and not manifest.is_symlink():
        return
    try:
        entries = entries_in(load_document(manifest))
    except Refusal as refusal:
        raise Refusal(Reason.MANIFEST_NOT_EMPTY, f"{manifest} is there and cannot be read: {refusal}") from refusal
    if entries:
        raise Refusal(Reason.MANIFEST_NOT_EMPTY, f"{manifest} holds {len(entries)} entries")


def refused(verb: str, error: WaveError) -> int:
    click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": error.detail}))
    click.echo(f"{verb}: {error.reason} — {one_line(error.detail)}", err=True)
    return 1


@click.command("validate")
@manifest_option
@format_option
def validate(manifest: Path, output: str) -> int:
    """Show every error in a manifest at once, each with its line and column.

    An error is what would block an entry or refuse the wave. A note is what the wave reads past, but the
    published schema does not allow.
    """
    data = b""
    try:
        data = load_bytes(manifest)
        document = parse_json(data)
        read = manifest_from(document, branch_pattern_for(document))
    except WaveError as error:
        where = places(data.decode("utf-8-sig")) if error.reason is Reason.MANIFEST_SHAPE_INVALID else {}
        return show_findings(manifest, output, error.reason, [located_error(error, where)], [])
    where = places(data.decode("utf-8-sig"))
    errors = [finding(problem, where) for problem in read.problems]
    broken = tuple(f"{entry_pointer(problem.pointer)}/" for problem in read.problems)
    beyond = (p for p in schema_problems(document) if not f"{p.pointer}/".startswith(broken))
    notes = [finding(problem, where) for problem in (*read.notes, *beyond)]
    reason = Reason.INVALID_ENTRY if errors else Reason.OK if read.entries else Reason.EMPTY_MANIFEST
    return show_findings(manifest, output, reason, errors, notes)


def schema_problems(document: Any) -> Iterator[Problem]:
    """What the published schema says. The branch pattern is a setting and judged by the reader."""
    from jsonschema import Draft202012Validator

    schema = manifest_schema()
    schema.pop("anyOf")
    entry = {"$ref": "#/$defs/ManifestEntry"}
    shape = {"$ref": "#/$defs/Wave"} if isinstance(document, dict) else {"type": "array", "items": entry}
    for error in Draft202012Validator({**schema, **shape}).iter_errors(document):
        if error.validator != "pattern" or error.absolute_path[-1] != "branch":
            pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
            yield Problem(pointer, error.message)


def entry_pointer(pointer: str) -> str:
    """The pointer of the entry that a problem is in."""
    found = re.match(r"(/worktrees)?/\d+", pointer)
    return found[0] if found else pointer


def finding(problem: Problem, where: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """A problem with its place: that of the nearest value which is there."""
    at = problem.pointer
    while at and at not in where:
        at = at.rpartition("/")[0]
    line, column = where.get(at, (1, 1))
    return {"pointer": problem.pointer, "line": line, "column": column, "message": problem.message}


def located_error(error: WaveError, where: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """An error about the file as a whole, at the place that its words name."""
    if place := re.match(r"(/\S*): ", error.detail):
        return finding(Problem(place[1].rstrip("/"), error.detail[place.end() :]), where)
    match = re.search(r"line (\d+) column (\d+)", error.detail)
    line, column = (int(match[1]), int(match[2])) if match else (1, 1)
    return {"pointer": "", "line": line, "column": column, "message": error.detail}


def show_findings(
    manifest: Path, output: str, reason: Reason, errors: list[dict[str, Any]], notes: list[dict[str, Any]]
) -> int:
    ok = not errors and reason is Reason.OK
    if output == "json":
        click.echo(json.dumps({"ok": ok, "reason": reason, "errors": errors, "notes": notes}, indent=2))
        return 0 if ok else 1
    for kind, found in (("error", errors), ("note", notes)):
        for item in found:
            place = f"{manifest}:{item['line']}:{item['column']}"
            click.echo(one_line(f"{place}: {kind}: {item['pointer'] or '/'}: {item['message']}"))
    click.echo("valid" if ok else f"{reason}: {len(errors)} error{'s' * (len(errors) != 1)}")
    return 0 if ok else 1


@click.command("schema")
@click.argument("name", type=click.Choice(["manifest", "result", "journal"]))
def schema(name: str) -> int:
    """Print the JSON Schema of a manifest, of a result, or of a line of a journal."""
    from git_wave.model.journal import journal_schema
    from git_wave.model.result import result_schema

    schemas = {"manifest": manifest_schema, "result": result_schema, "journal": journal_schema}
    click.echo(json.dumps(schemas[name](), indent=2))
    return 0
