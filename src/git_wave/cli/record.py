"""`record-agent`: one agent into the manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from git_wave.cli.options import manifest_option

if TYPE_CHECKING:
    from git_wave.model.entry import Entry


@click.command("record-agent", context_settings={"help_option_names": ["-h", "--help"]})
@manifest_option
@click.option("--agent-id", default="", help="Who works there.  [required]")
@click.option("--path", default="", help="The agent's worktree.  [required]")
@click.option("--branch", default="", help="Its branch.  [required]")
@click.option("--base", default="", help="The commit the branch forked from.  [required]")
@click.option("--files", multiple=True, help="Declared scope, paths separated by white space. Repeatable.")
@click.option("--file", "file_", multiple=True, help="One path of the declared scope, verbatim. Repeatable.")
@click.option("--deletions", multiple=True, help="Declared deletions, separated by white space. Repeatable.")
@click.option("--deletion", multiple=True, help="One declared deletion, verbatim. Repeatable.")
@click.option("--check", is_flag=True, help="Ask git whether base, branch and worktree are as said.")
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
        entry = record(manifest, recorded, branch_pattern_for, ask_git if check else None)
    except WaveError as error:
        hint = one_line(error.detail)
        click.echo(json.dumps({"ok": False, "reason": error.reason, "hint": hint}))
        click.echo(f"record-agent: {error.reason} — {hint}", err=True)
        return 1
    click.echo(json.dumps({"ok": True, "reason": Reason.OK, "entry": entry, "manifest_path": str(manifest)}))
    return 0


def ask_git(document: Any, entry: Entry) -> None:
    from git_wave.cli.repository import here, open_repository
    from git_wave.git.reads import Reads
    from git_wave.model.errors import Refusal, WaveError
    from git_wave.model.manifest import root_in
    from git_wave.model.reasons import Reason
    from git_wave.recording import check_with_git

    try:
        repository = open_repository(Path(root_in(document) or here()))
    except Refusal as refusal:
        raise WaveError(Reason.CHECK_FAILED, refusal.detail) from refusal
    with Reads(repository.door, repository.layout) as reads:
        check_with_git(entry, reads)
