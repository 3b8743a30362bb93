"""`record-agent`: one agent into the manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from git_wave.cli.options import manifest_option

if TYPE_CHECKING:
    from git_wave.cli.repository import Repository
    from git_wave.git.reads import Reads
    from git_wave.model.entry import Entry


@click.command("record-agent", context_settings={"help_option_names": ["-h", "--help"]})
@manifest_option
@click.option("--agent-id", default="", help="Who works there.  [required]")
@click.option("--path", default="", help="The agent's worktree.  [required]")
@click.option("--branch", default="", help="Its branch.  [required]")
@click.option("--base", default="", help="Id of the commit the branch forked from.  [required]")
@click.option("--files", multiple=True, help="Declared scope, paths separated by white space. Repeatable.")
@click.option("--file", "file_", multiple=True, help="One path of the declared scope, verbatim. Repeatable.")
@click.option("--deletions", multiple=True, help="Declared deletions, separated by white space. Repeatable.")
@click.option("--deletion", multiple=True, help="One declared deletion, verbatim. Repeatable.")
@click.option("--session", default="", help="The session in which the agent runs: put on record beside the worktree.")
@click.option("--parent", default="", help="The session that sent the agent: likewise.")
@click.option(
    "--check", is_flag=True, help="Ask git whether base, branch and worktree are as said; the base may be a name."
)
def command(manifest: Path, check: bool, **given: Any) -> int:
    """Record one agent's worktree and branch in the manifest of the wave."""
    # Imported here: asking for help, or naming a wrong flag, needs neither git nor the models.
    from git_wave.cli.repository import branch_pattern_for
    from git_wave.model.errors import WaveError
    from git_wave.model.reasons import Reason
    from git_wave.recording import Recorded, record
    from git_wave.report.plain import one_line

    recorded = Recorded(
        given["agent_id"],
        given["path"],
        given["branch"],
        given["base"],
        (*(path for group in given["files"] for path in group.split()), *filter(str.strip, given["file_"])),
        (
            *(path for group in given["deletions"] for path in group.split()),
            *filter(str.strip, given["deletion"]),
        ),
    )
    try:
        entry = record(manifest, recorded, branch_pattern_for, AskGit() if check else None)
    except WaveError as error:
        hint = one_line(error.detail)
        click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": hint}))
        click.echo(f"record-agent: {error.reason} — {hint}", err=True)
        return 1
    document: dict[str, Any] = {"ok": True, "reason": Reason.OK, "entry": entry, "manifest_path": str(manifest)}
    session, parent = given["session"].strip() or None, given["parent"].strip() or None
    if session or parent:
        document |= put_owner(manifest, entry, session, parent)
    click.echo(json.dumps(document))
    return 0


def put_owner(manifest: Path, raw: Mapping[str, Any], session: str | None, parent: str | None) -> dict[str, Any]:
    """Put on record whose the worktree is. What is in the way of that is a warning: the entry is recorded."""
    from datetime import UTC, datetime

    from git_wave.cli.repository import here, open_repository
    from git_wave.git.reads import Reads
    from git_wave.model.entry import Entry
    from git_wave.model.errors import WaveError
    from git_wave.model.manifest import entry_from, root_in
    from git_wave.model.reasons import Reason
    from git_wave.recording import NotOwned, Ownership
    from git_wave.state.manifest_file import load_document

    try:
        repository = open_repository(Path(root_in(load_document(manifest)) or here()))
        entry = entry_from(raw, 0, "", repository.settings.branch_pattern)
        if not isinstance(entry, Entry):
            raise NotOwned("the entry cannot be used")
        with Reads(repository.door, repository.layout) as reads:
            ownership = Ownership(session, parent, Path(os.path.abspath(manifest)))
            return {"owner": ownership.record(entry, reads, datetime.now(UTC)).as_json(), "warnings": []}
    except (NotOwned, WaveError) as error:
        why = error.detail if isinstance(error, WaveError) else str(error)
        told = (Reason.OWNER_NOT_RECORDED, raw["branch"], raw["worktree_path"], why)
        return {"owner": None, "warnings": [dict(zip(("code", "branch", "path", "detail"), told, strict=True))]}


class AskGit:
    """`--check`: the repository is opened at the first question."""

    def __init__(self) -> None:
        self._repository: Repository | None = None

    def base(self, document: Any, said: str) -> str:
        from git_wave.recording import base_with_git

        with self._reads(document) as reads:
            return base_with_git(said, reads)

    def entry(self, document: Any, entry: Entry) -> None:
        from git_wave.recording import check_with_git

        with self._reads(document) as reads:
            check_with_git(entry, reads)

    def _reads(self, document: Any) -> Reads:
        from git_wave.cli.repository import here, open_repository
        from git_wave.git.reads import Reads
        from git_wave.model.errors import Refusal, WaveError
        from git_wave.model.manifest import root_in
        from git_wave.model.reasons import Reason

        root = root_in(document)
        try:
            self._repository = self._repository or open_repository(Path(root or here()))
        except Refusal as refusal:
            raise WaveError(Reason.CHECK_FAILED, refusal.detail) from refusal
        return Reads(self._repository.door, self._repository.layout)
