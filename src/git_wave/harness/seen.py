"""An agent was seen: noted in its worktree's owner record, and in the manifest that the record names."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.presence import Presence
from git_wave.git.worktrees import WorktreeReads
from git_wave.harness.payload import Payload
from git_wave.model.entry import Entry
from git_wave.model.errors import WaveError
from git_wave.model.owner import Owner
from git_wave.state.owner import UnreadableOwner, load_owner, write_owner

logger = logging.getLogger("git_wave.harness")
PREFIX = "agent-"
SHORTEST = 7
"""Characters of an agent's id that Claude Code puts into the name of its worktree, at the least."""


@dataclass(frozen=True, slots=True)
class Owned:
    worktree: Worktree
    owner: Owner


def note_seen(reads: WorktreeReads, payload: Payload, now: datetime) -> Path | None:
    """The worktree whose agent was seen; None when it cannot be told which, and then nothing is written.

    Raises GitError, OSError or WaveError.
    """
    found = agents_worktree(list(owned(reads)), payload)
    if found is None:
        return None
    at = now.isoformat(timespec="seconds")
    write_owner(found.worktree.admin, replace(found.owner, last_seen=at))
    if found.owner.manifest:
        note_in_manifest(Path(found.owner.manifest), found, at)
    return found.worktree.path


def owned(reads: WorktreeReads) -> Iterator[Owned]:
    """Every linked worktree that is there and has an owner on record."""
    for registered in reads.registrations[1:]:
        path = Path(registered.path)
        if reads.presence(path) is not Presence.PRESENT:
            continue
        try:
            worktree = reads.worktree_at(path)
            owner = load_owner(worktree.admin)
        except (BrokenLink, OSError, UnreadableOwner) as error:
            logger.info("%s: %s", path, error)
            continue
        if owner is not None:
            yield Owned(worktree, owner)


def agents_worktree(candidates: list[Owned], payload: Payload) -> Owned | None:
    """The one around `cwd`; else the only one of that agent, sent by that session."""
    if payload.cwd and payload.cwd.startswith("/"):
        place = Path(os.path.realpath(payload.cwd))
        around = [one for one in candidates if one.worktree.path in (place, *place.parents)]
        if around:
            return max(around, key=lambda one: len(one.worktree.path.parts))
    named = [
        one
        for one in candidates
        if payload.agent_id
        and is_agent(one.owner.agent_id, payload.agent_id)
        and one.owner.parent in (None, payload.session_id)
    ]
    return named[0] if len(named) == 1 else None


def is_agent(recorded: str, agent_id: str) -> bool:
    """Whether a recorded name is that agent's: its id, or what Claude Code names a worktree, `agent-` and its start."""
    short = recorded.removeprefix(PREFIX)
    return recorded == agent_id or (recorded != short and len(short) >= SHORTEST and agent_id.startswith(short))


def note_in_manifest(path: Path, found: Owned, at: str) -> None:
    """Write `last_seen` into the entry of that worktree, if the manifest is there and has one."""
    from git_wave.state.manifest_file import load_document, locked, write_document  # most agents are in none

    if not path.is_absolute() or not path.is_file():
        return
    with locked(path):
        try:
            document = load_document(path)
            raw = entry_of(document, found)
        except WaveError as error:
            logger.warning("%s was not updated: %s", path, error.detail)
            return
        if raw is not None:
            raw["last_seen"] = at
            write_document(path, document)


def entry_of(document: Any, found: Owned) -> dict[str, Any] | None:
    from git_wave.model.manifest import entries_in, entry_from, root_in

    root = root_in(document)
    for index, raw in enumerate(entries_in(document)):
        entry = entry_from(raw, index, "", "")
        if isinstance(entry, Entry) and entry.branch == found.owner.branch:
            path = Path(os.path.realpath(os.path.join(root or "/", entry.worktree_path)))
            if path == found.worktree.path:
                whole: dict[str, Any] = raw
                return whole
    return None
