"""`git wave remove`, `reap` and `reap-orphans`: worktrees that nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from git_wave.cli.answers import Form, document_of, lines_after, run_verb
from git_wave.cli.options import Filled, FilledPath, Wait, format_option

if TYPE_CHECKING:
    from git_wave.model.interrupts import Interrupts
    from git_wave.reclaim.reap import Sweep
    from git_wave.reclaim.yard import Place

HELP = {"help_option_names": ["-h", "--help"]}
root_option = click.option(
    "--root", type=FilledPath(), help="A checkout of the repository.  [default: the current one]"
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Ask everything, change nothing.")
wait_option = click.option("--wait", type=Wait(), default=0, help="Seconds to wait for a running wave.")


@click.command("remove", context_settings=HELP)
@click.argument("target", type=Filled())
@click.option("--preserve", is_flag=True, help="Commit what is uncommitted on the branch first.")
@dry_run_option
@wait_option
@root_option
@format_option
def remove(target: str, preserve: bool, dry_run: bool, wait: float, root: Path | None, output: str) -> int:
    """Remove one worktree, named by its path, its branch or its agent. The branch stays.

    Called in the repository's main worktree or above it. Refused when anything would be lost, or cannot be told;
    nothing overrides that but --preserve, for what is uncommitted.
    """
    from git_wave.reclaim.remove import Removal
    from git_wave.reclaim.remove import remove as remove_worktree
    from git_wave.reclaim.yard import opened, require_authority

    removal = Removal(target)

    def act(interrupts: Interrupts) -> None:
        place = place_of(root or near(target), interrupts)
        require_authority(place.layout, place.cwd)
        with opened(place, wait, dry_run=dry_run) as yard:
            remove_worktree(removal, yard, preserve=preserve, dry_run=dry_run)

    return run_verb("remove", removal, output, act, FORM)


@click.command("reap", context_settings=HELP)
@click.option("--session", type=Filled(), required=True, help="The session that has ended.")
@dry_run_option
@wait_option
@root_option
@format_option
def reap(session: str, dry_run: bool, wait: float, root: Path | None, output: str) -> int:
    """Remove the worktrees of agents whose session has ended, each only if nothing would be lost. Branches stay.

    Exit 0 when all was decided, kept ones included; 1 when something could not be told or was left half-done.
    """
    from git_wave.reclaim.reap import reap as reap_session

    return sweep_with(
        "reap", lambda sweep, yard: reap_session(session, sweep, yard, dry_run=dry_run), dry_run, wait, root, output
    )


@click.command("reap-orphans", context_settings=HELP)
@dry_run_option
@wait_option
@root_option
@format_option
def reap_orphans(dry_run: bool, wait: float, root: Path | None, output: str) -> int:
    """Remove locked worktrees whose owner is dead and whose branch is in the default branch. Branches stay.

    Exit 0 when all was decided, kept ones included; 1 when something could not be told or was left half-done.
    """
    from git_wave.reclaim.orphans import reap_orphans as reap_them

    return sweep_with(
        "reap-orphans", lambda sweep, yard: reap_them(sweep, yard, dry_run=dry_run), dry_run, wait, root, output
    )


def sweep_with(
    verb: str, call: Callable[[Sweep, Any], None], dry_run: bool, wait: float, root: Path | None, output: str
) -> int:
    from git_wave.reclaim.reap import Sweep
    from git_wave.reclaim.yard import opened

    sweep = Sweep()

    def act(interrupts: Interrupts) -> None:
        with opened(place_of(root, interrupts), wait, dry_run=dry_run) as yard:
            call(sweep, yard)

    return run_verb(verb, sweep, output, act, FORM)


def near(target: str) -> Path | None:
    """Where to look for the repository: at a target that is a directory here, else in the current directory."""
    from git_wave.cli.repository import here

    if "/" not in target:
        return None
    place = Path(target) if target.startswith("/") else here() / target
    return place if place.is_dir() else None


def place_of(directory: Path | None, interrupts: Interrupts) -> Place:
    """The repository, with git's time bounded. Raises Refusal."""
    from git_wave.cli.repository import here, open_repository
    from git_wave.model.errors import Refusal
    from git_wave.reclaim.yard import BOUND, Place, main_layout

    cwd = here()
    try:
        found = open_repository(directory or cwd, git_timeout=BOUND, interrupts=interrupts)
    except Refusal:
        if directory is None:
            raise
        found = open_repository(cwd, git_timeout=BOUND, interrupts=interrupts)
    found.door.timeout = min(found.settings.git_timeout, BOUND)
    return Place(found.door, main_layout(found.door, found.layout), found.settings, cwd)


def lines_of(document: dict[str, Any]) -> Iterator[str]:
    """A line for each worktree; of several, how many ended how."""
    for one in document.get("worktrees", [document]):
        words = (one["outcome"], one["reason"], one["branch"], one["worktree_path"], *one["why"])
        yield "  ".join(dict.fromkeys(filter(None, words)))
        if one is not document and one["next_step"]:
            yield f"what to do: {one['next_step']}"
    if "worktrees" in document:
        counts = [f"{document[name]} {name}" for name in COUNTED if document[name]]
        yield ", ".join(counts) or "no worktree to decide about"
    if document.get("preserved"):
        yield f"committed: {document['preserved']}"
    if document.get("staged"):
        yield f"what was staged: {document['staged']}"
    yield from lines_after(document)


COUNTED = ("removed", "would_remove", "already_gone", "kept", "partially_removed")
FORM = Form(document_of, lines_of)
