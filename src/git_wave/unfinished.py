"""Creates that did not get as far as the manifest: undone, or kept where anything else may be in them.

A create in the making is on record (`state/creating`). What it made is recognised by that record: the branch by its
reflog, which begins with the record's id, the worktree by its lock, whose reason holds it, and its files by being those
of the base or of what was to be replayed. Whatever is not recognised stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from git_wave.git.links import BrokenLink, Worktree, is_there
from git_wave.git.nested import repositories_below
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.git.writes import Writes
from git_wave.model.errors import GitError, WaveError
from git_wave.model.manifest import manifest_from
from git_wave.model.names import Oid, heads_ref
from git_wave.recovery import await_orphans
from git_wave.state.creating import Creating, Intent, list_dead, one_at_a_time
from git_wave.state.kept import sort_ignored
from git_wave.state.manifest_file import load_document

COPY_IN_THE_MAKING = re.compile(r"(?:.*/)?\.git-wave-\d+-new")


@dataclass(frozen=True, slots=True)
class Tools:
    """What it takes to undo a create. `patience` is in seconds."""

    reads: Reads
    writes: Writes
    snapshots: Snapshots
    patience: float


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a create whose process had ended; `left` says why something of it stays, "" when nothing does.

    `locked` is whether the worktree of a completed one is locked still.
    """

    intent: Intent
    completed: bool
    left: str = ""
    locked: bool = False


def settle_creations(tools: Tools, *, forget_completed: bool = True) -> list[Settled]:
    """Finish or undo every create whose process has ended. Raises OSError or GitError.

    One that got as far as the manifest is kept on record if somebody else than a create asks: the same command, when it
    comes again, is then told from a second agent under the same name.
    """
    dead = list_dead(tools.reads.layout.common_dir)
    return [settle_one(creating, tools, forget_completed=forget_completed) for creating in dead]


def settle_one(creating: Creating, tools: Tools, *, forget_completed: bool) -> Settled:
    intent = creating.intent
    await_orphans(intent.id, tools.patience)
    try:
        if is_recorded(intent):
            locked = is_left_locked(intent, tools)
            if forget_completed:
                creating.forget()
            return Settled(intent, completed=True, locked=locked)
    except WaveError as error:
        return Settled(intent, completed=False, left=f"{intent.manifest} cannot be read: {error.detail}")
    with one_at_a_time(tools.reads.layout.common_dir, tools.patience):
        left = undo(intent, tools, trusted=False)
    if not left:
        creating.forget()
    return Settled(intent, completed=False, left=left)


def is_left_locked(intent: Intent, tools: Tools) -> bool:
    """Whether a finished worktree is locked, once the lock that was only for its making is off."""
    path = Path(intent.path)
    registered = tools.reads.registered_now(path)
    if registered is None or registered.locked is None:
        return False
    if registered.locked != made_by(intent):
        return True
    try:
        tools.writes.unlock_worktree(path)
    except GitError:
        return True
    return False


def is_recorded(intent: Intent) -> bool:
    """Whether the manifest names the worktree. Raises WaveError when it cannot be read."""
    if not os.path.lexists(intent.manifest):
        return False
    known = manifest_from(load_document(Path(intent.manifest)), "")
    return any(e.branch == intent.branch and e.worktree_path == intent.path for e in known.usable)


def undo(intent: Intent, tools: Tools, *, trusted: bool) -> str:
    """Take away what a create made, worktree first; "" when nothing of it is left, else why something stays.

    `trusted` is for the call that made it: nobody else has heard of the worktree. Otherwise its files are compared.
    """
    try:
        if not is_ours(intent, tools.reads):
            return ""
        if why := undo_worktree(intent, tools, trusted=trusted):
            return why
        drop_empty_parents(intent)
        return undo_branch(intent, tools, keep=not trusted)
    except (GitError, OSError) as error:
        return str(error)


def is_ours(intent: Intent, reads: Reads) -> bool:
    """Whether the branch is the one that this create made."""
    ref = heads_ref(intent.branch)
    return reads.objects.commit(ref) is not None and reads.first_reflog_message(ref) == made_by(intent)


def made_by(intent: Intent) -> str:
    """How the branch's reflog begins, and what the reason of the worktree's lock holds."""
    return f"git-wave: create {intent.id}"


def undo_worktree(intent: Intent, tools: Tools, *, trusted: bool) -> str:
    path, reads = Path(intent.path), tools.reads
    registered = reads.registered_now(path)
    if registered is None or made_by(intent) not in (registered.locked or ""):
        return ""
    if reads.presence(path) is Presence.GONE:
        return take_back(intent, tools)
    try:
        # A removal that was cut short may have taken the link first.
        trusted = trusted and is_there(path / ".git")
        reads.restore_link(path)
        worktree = reads.worktree_at(path)
    except (BrokenLink, OSError) as error:
        return undo_unlinked(intent, tools, str(error))
    oid, ref = reads.worktree_head(worktree)
    if oid is None or ref != heads_ref(intent.branch) or oid not in (intent.base, intent.baseline):
        return f"{path} is on {ref} at {oid}, where the create that was cut short did not leave it"
    if not trusted and (strays := list(strangers_in(worktree, intent, tools))):
        return f"{path} holds what the create that was cut short did not put there: {', '.join(strays[:10])}"
    return take_back(intent, tools)


def undo_unlinked(intent: Intent, tools: Tools, why: str) -> str:
    """A directory that git had not come to link yet: taken away only while it is empty."""
    try:
        os.rmdir(intent.path)
    except OSError:
        return f"{intent.path}: {why}"
    return take_back(intent, tools)


def take_back(intent: Intent, tools: Tools) -> str:
    """The worktree's registration goes, and its directory if there is one; its lock, by which it is known, last."""
    path = Path(intent.path)
    tools.writes.take_back_worktree(path)
    return "" if tools.reads.presence(path) is Presence.GONE else f"git reported success, but {path} is still there"


def strangers_in(worktree: Worktree, intent: Intent, tools: Tools) -> Iterator[str]:
    """Files that are neither the base's, nor the replayed ones, nor made again by a build."""
    trees = [tools.reads.objects.tree(Oid(intent.base)), Oid(intent.tree)]
    beyond = tools.snapshots.beyond(worktree, trees)
    yield from (path for path in beyond if COPY_IN_THE_MAKING.fullmatch(path) is None)
    yield from sort_ignored(worktree.path, tools.reads.ignored_in(worktree)).keep
    yield from repositories_below(worktree.path)


def undo_branch(intent: Intent, tools: Tools, *, keep: bool) -> str:
    """Delete the branch. With `keep`, a baseline stays under a backup ref: the user may have edited on since."""
    ref = heads_ref(intent.branch)
    tip = tools.reads.objects.commit(ref)
    if tip is None:
        return ""
    if tip not in (intent.base, intent.baseline):
        return f"{intent.branch} has moved on to {tip}"
    if tools.reads.heads_on(ref):
        return ""  # somebody has taken it up
    if keep and tip != intent.base:
        tools.writes.delete_branch(intent.branch, tip, intent.id)
    else:
        tools.writes.drop_branch(intent.branch, tip)
    return ""


def drop_empty_parents(intent: Intent) -> None:
    """Directories above the worktree that were made for it, innermost first, as long as they are empty."""
    for directory in intent.parents:
        try:
            os.rmdir(directory)
        except OSError:
            return
