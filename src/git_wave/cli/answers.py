"""How the verbs about one worktree find their repository and say what came of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

if TYPE_CHECKING:
    from git_wave.cli.repository import Repository
    from git_wave.lifecycle.subject import Named
    from git_wave.model.entry import Advice
    from git_wave.model.interrupts import Interrupts
    from git_wave.model.reasons import Reason


class Told(Protocol):
    """What came of a verb, filled in while it ran. `hint` says in words why not."""

    reason: Reason
    hint: str
    warnings: list[Advice]

    @property
    def ok(self) -> bool: ...

    def as_json(self) -> dict[str, Any]: ...


class Form(NamedTuple):
    """How a verb answers: its document, and the same as lines for people."""

    document: Callable[[Told], dict[str, Any]]
    lines: Callable[[dict[str, Any]], Iterable[str]]


def named_from(path: Path | None, manifest: Path | None, agent_id: str | None) -> Named:
    """Raises UsageError unless a path or a manifest's agent is named."""
    from git_wave.lifecycle.subject import Named

    if agent_id is not None and manifest is None:
        raise click.UsageError("--agent-id needs --manifest")
    if path is None and agent_id is None:
        raise click.UsageError("name a worktree: PATH, or --manifest and --agent-id")
    return Named(path, manifest and Path(os.path.realpath(manifest)), agent_id)


def repository_of(named: Named, root: Path | None, interrupts: Interrupts) -> Repository:
    """`--root`, else the manifest's, else where the path is, else the current one. Raises Refusal."""
    from git_wave.cli.repository import here, open_repository
    from git_wave.model.errors import Refusal
    from git_wave.model.manifest import entries_in, root_in
    from git_wave.state.manifest_file import load_document

    if root is None and named.manifest is not None:
        with interrupts.interruptible():  # it may be a pipe, whose writer takes its time
            document = load_document(named.manifest)
        entries_in(document)
        told = root_in(document)
        root = Path(told) if told else None
    if root is None and named.path is not None:
        near = next(place for place in (named.path, *named.path.parents) if place.is_dir())
        try:
            return open_repository(near, interrupts=interrupts)
        except Refusal:
            pass  # a worktree that is gone may have stood outside any repository
    return open_repository(root or here(), interrupts=interrupts)


def document_of(told: Told) -> dict[str, Any]:
    """`next_step` says what to do about a reason that is no good end."""
    from git_wave.model.explanations import next_step

    ends = {"hint": told.hint, "next_step": "" if told.ok else next_step(told.reason)}
    warnings = [warning.as_json() for warning in told.warnings]
    return {"ok": told.ok, "reason": told.reason, **told.as_json(), "warnings": warnings, **ends}


def document_of_one(told: Told) -> dict[str, Any]:
    """`preserved_path` is where the worktree of a failed verb still stands."""
    document = document_of(told)
    path = document["worktree_path"]
    document["preserved_path"] = None if told.ok or not path or not os.path.lexists(path) else path
    return document


def lines_of_one(document: dict[str, Any]) -> Iterator[str]:
    yield "  ".join(filter(None, (document["reason"], document["branch"], document["worktree_path"])))
    for what, word in TOLD:
        places = document.get(what) or ()
        if isinstance(places, dict):
            places = f"{places['commit']} at {places['ref']}"
        yield from (f"{word}: {place}" for place in ([places] if isinstance(places, str) else places))
    yield from lines_after(document)


def lines_after(document: dict[str, Any]) -> Iterator[str]:
    for warning in document["warnings"]:
        yield ": ".join(filter(None, ("warning", warning["code"], warning["path"], warning["detail"])))
    if document["next_step"]:
        yield f"what to do: {document['next_step']}"


TOLD = (
    ("commit", "committed"),
    ("staged", "what was staged"),
    ("backup", "commits"),
    ("wip", "what was uncommitted"),
    ("kept", "kept"),
    ("restore", "to bring it back"),
)
ONE = Form(document_of_one, lines_of_one)


def run_verb(verb: str, told: Told, output: str, act: Callable[[Interrupts], None], form: Form = ONE) -> int:
    """Call it, print what came of it, and give the exit code."""
    from git_wave.cli.logs import logging_to
    from git_wave.cli.signals import caught
    from git_wave.model.errors import Interrupted, WaveError
    from git_wave.model.reasons import Reason

    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            act(interrupts)
        except WaveError as error:
            told.reason, told.hint = error.reason, error.detail
        except Interrupted as interrupted:
            told.reason, told.hint = Reason.INTERRUPTED, str(interrupted)
    document = form.document(told)
    show(document, form, as_json=wants_json(output))
    if not told.ok:
        refuse(verb, told.reason, told.hint)
    if told.reason is Reason.INTERRUPTED and interrupts.signum:
        return 128 + interrupts.signum
    return 0 if told.ok else 1


def wants_json(output: str) -> bool:
    return output == "json" or (output == "auto" and not sys.stdout.isatty())


def show(document: dict[str, Any], form: Form, *, as_json: bool) -> None:
    from git_wave.report.plain import one_line

    if as_json:
        click.echo(json.dumps(document, indent=2))
    for line in () if as_json else form.lines(document):
        click.echo(one_line(line))


def refuse(verb: str, reason: Reason, hint: str) -> None:
    from git_wave.report.plain import one_line

    click.echo(f"{verb}: {reason} — {one_line(hint)}", err=True)
