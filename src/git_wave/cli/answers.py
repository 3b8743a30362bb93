"""How the verbs about one worktree find their repository and say what came of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

if TYPE_CHECKING:
    from git_wave.cli.repository import Repository
    from git_wave.lifecycle.subject import Named
    from git_wave.model.entry import Advice
    from git_wave.model.interrupts import Interrupts
    from git_wave.model.reasons import Reason


class Outcome(Protocol):
    reason: Reason
    hint: str
    warnings: list[Advice]

    @property
    def ok(self) -> bool: ...

    def as_json(self) -> dict[str, Any]: ...


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


def run_verb(verb: str, outcome: Outcome, output: str, act: Callable[[Interrupts], None]) -> int:
    """Call it, print what came of it, and give the exit code."""
    from git_wave.cli.logs import logging_to
    from git_wave.cli.signals import caught
    from git_wave.model.errors import Interrupted, WaveError
    from git_wave.model.reasons import Reason

    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            act(interrupts)
        except WaveError as error:
            outcome.reason, outcome.hint = error.reason, error.detail
        except Interrupted as interrupted:
            outcome.reason, outcome.hint = Reason.INTERRUPTED, str(interrupted)
    show(verb, outcome, as_json=output == "json" or (output == "auto" and not sys.stdout.isatty()))
    if outcome.reason is Reason.INTERRUPTED and interrupts.signum:
        return 128 + interrupts.signum
    return 0 if outcome.ok else 1


def document_of(outcome: Outcome) -> dict[str, Any]:
    """`hint` says in words why not; `preserved_path` is where the worktree of a failed verb still stands."""
    document = {"ok": outcome.ok, "reason": outcome.reason, **outcome.as_json()}
    path = document["worktree_path"]
    document["preserved_path"] = None if outcome.ok or not path or not os.path.lexists(path) else path
    document["warnings"] = [
        {"code": w.code, "branch": w.branch, "path": w.path, "detail": w.detail} for w in outcome.warnings
    ]
    return document if outcome.ok else {**document, "hint": outcome.hint}


def show(verb: str, outcome: Outcome, *, as_json: bool) -> None:
    from git_wave.report.plain import one_line

    document = document_of(outcome)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        told = [outcome.reason, document["branch"], document["worktree_path"]]
        click.echo(one_line("  ".join(word for word in told if word)))
        if document.get("restore"):
            click.echo(one_line(f"to bring it back: {document['restore']}"))
        for place in document.get("kept", ()):
            click.echo(one_line(f"kept: {place}"))
        for warning in outcome.warnings:
            click.echo(one_line(f"warning: {warning.code}: {warning.path}: {warning.detail}"))
    if not outcome.ok:
        click.echo(f"{verb}: {outcome.reason} — {one_line(outcome.hint)}", err=True)
