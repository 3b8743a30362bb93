"""Recording one agent: validated as it is written, by the reader's own rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from git_wave.git.links import BrokenLink
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.entry import Entry, InvalidEntry, Manifest
from git_wave.model.errors import GitError, WaveError
from git_wave.model.manifest import entries_in, entry_from, manifest_from
from git_wave.model.names import heads_ref, is_commit_id
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.state.manifest_file import load_document, locked, write_document
from git_wave.state.owner import UnreadableOwner, load_owner, write_owner


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the flags said, as given: blank and missing are the same."""

    agent_id: str
    path: str
    branch: str
    base: str
    files: tuple[str, ...]
    deletions: tuple[str, ...]

    def raw_entry(self) -> dict[str, Any]:
        """The entry to write. Raises WaveError with `missing_field`, naming every missing flag."""
        required = {
            "--agent-id": self.agent_id,
            "--path": self.path,
            "--branch": self.branch,
            "--base": self.base,
        }
        trimmed = {flag: value.strip() for flag, value in required.items()}
        if missing := [flag for flag, value in trimmed.items() if not value]:
            raise WaveError(Reason.MISSING_FIELD, f"missing or blank: {', '.join(missing)}")
        return {
            "agent_id": trimmed["--agent-id"],
            "worktree_path": where_typed(trimmed["--path"]),
            "branch": trimmed["--branch"],
            "expected_base": trimmed["--base"],
            "files_modified": list(self.files),
            "declared_deletions": list(self.deletions),
        }


def where_typed(path: str) -> str:
    """A path of the command line as an absolute one: it is meant from the current directory, not from any root."""
    if os.path.isabs(path) or "\0" in path:
        return path
    above, name = os.path.split(os.path.join(os.getcwd(), path.rstrip("/")))
    if name in ("", ".", ".."):
        return os.path.realpath(os.path.join(above, name))
    return os.path.join(os.path.realpath(above), name)


class Check(Protocol):
    """What git is asked about an entry before it is written. Both raise WaveError with `check_failed`."""

    def base(self, document: Any, said: str) -> str:
        """The full id of the commit that `said` means now."""

    def entry(self, document: Any, entry: Entry) -> None:
        """Is the entry as git has it?"""


def record(
    manifest: Path,
    recorded: Recorded,
    pattern_of: Callable[[Any], str],
    check: Check | None = None,
) -> Mapping[str, Any]:
    """Append one entry to the manifest and return it as written.

    `pattern_of` gives the branch pattern for a parsed manifest. Raises WaveError with a reason; then the file is as it
    was, byte for byte.
    """
    raw = recorded.raw_entry()
    document = load_document(manifest)
    if check is None:
        append_entry(manifest, raw, pattern_of)
    else:
        entries_in(document)
        raw["expected_base"] = check.base(document, raw["expected_base"])
        append_entry(manifest, raw, pattern_of, check.entry)
    return raw


def append_entry(
    manifest: Path,
    raw: dict[str, Any],
    pattern_of: Callable[[Any], str],
    check: Callable[[Any, Entry], None] | None = None,
) -> None:
    """The guarded write: read, check and write as one step. Raises WaveError; then the file is as it was."""
    with locked(manifest):
        document = load_document(manifest)
        entries = entries_in(document)
        known = manifest_from(document, pattern := pattern_of(document))
        entry = require_usable(entry_from(raw, len(entries), "", pattern))
        require_new(entry, known)
        if check is not None:
            check(document, entry)
        entries.append(raw)
        write_document(manifest, document)


def require_usable(entry: Entry | InvalidEntry) -> Entry:
    if isinstance(entry, InvalidEntry):
        raise WaveError(Reason.INVALID_ENTRY, "; ".join(str(p).lstrip("/") for p in entry.problems))
    return entry


def require_new(entry: Entry, known: Manifest) -> None:
    """No entry of the manifest may name the same worktree on the same branch. Raises WaveError."""
    root = known.orchestrator_root
    if any(entry.key(root) == other.key(root) for other in known.usable):
        again = "was the agent spawned twice (double spawn)?"
        detail = f"{entry.worktree_path} on {entry.branch} is recorded already; {again}"
        raise WaveError(Reason.DUPLICATE_ENTRY, detail)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose a recorded worktree is: where its agent runs, and who sent it."""

    session: str | None
    parent: str | None
    manifest: Path

    def record(self, entry: Entry, reads: Reads, now: datetime) -> Owner:
        """Write the owner's record beside the worktree, and return it.

        Raises NotOwned, with nothing written: only a worktree that is proven to be there, on the branch that was
        recorded, can have an owner, and none that is another agent's already.
        """
        try:
            worktree = reads.worktree_at(reads.layout.root / entry.worktree_path)
            branch = reads.worktree_head(worktree)[1]
            if branch != heads_ref(entry.branch):
                raise NotOwned(f"{worktree.path} is on {branch}")
            owner = self._owner(entry, load_owner(worktree.admin), now.isoformat(timespec="seconds"))
            write_owner(worktree.admin, owner)
        except (BrokenLink, UnreadableOwner, GitError, OSError) as error:
            raise NotOwned(str(error)) from error
        return owner

    def _owner(self, entry: Entry, before: Owner | None, now: str) -> Owner:
        """What `create` had put on record stays."""
        agent = entry.agent_id or ""
        if before is None:
            return Owner(agent, entry.branch, now, self.session, self.parent, str(self.manifest), entry.expected_base)
        if before.agent_id != agent:
            raise NotOwned(f"it is on record as the worktree of {before.agent_id}")
        told = {"session": self.session, "parent": self.parent}
        changes: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        if before.branch != entry.branch:
            changes |= {"branch": entry.branch, "base": entry.expected_base, "baseline": None}
        return replace(before, manifest=str(self.manifest), last_seen=now, **changes)


class NotOwned(Exception):
    """No owner was put on record; the message says why."""


def check_with_git(entry: Entry, reads: Reads) -> None:
    """Does git know the base, the branch, and that branch at that path? Raises WaveError with `check_failed`.

    A worktree that is registered but already gone is fine: the wave lands it too.
    """
    try:
        problems = list(disagreements(entry, reads))
    except GitError as error:
        problems = [str(error)]
    if problems:
        raise WaveError(Reason.CHECK_FAILED, "; ".join(problems))


def base_with_git(said: str, reads: Reads) -> str:
    """The full id of the commit that was said, now, before its name can move. Raises WaveError with `check_failed`.

    An id that git does not know comes back as it is: `check_with_git` tells of it with all else that is wrong.
    """
    try:
        found = reads.commit_by_id(said) if is_commit_id(said) else reads.objects.commit(said)
    except GitError as error:
        raise WaveError(Reason.CHECK_FAILED, str(error)) from error
    if found is None and not is_commit_id(said):
        raise WaveError(Reason.CHECK_FAILED, f"base {said} is no commit here")
    return found or said


def disagreements(entry: Entry, reads: Reads) -> list[str]:
    found = [f"base {oid} is no commit here" for oid in entry.allowed_bases if reads.commit_by_id(oid) is None]
    if reads.objects.commit(heads_ref(entry.branch)) is None:
        found.append(f"branch {entry.branch} does not exist")
    path = reads.layout.root / entry.worktree_path
    registered = reads.registration(path)
    if registered is None:
        found.append(f"no linked worktree is registered at {path}")
    elif registered.branch != heads_ref(entry.branch):
        found.append(f"{path} is registered on {registered.branch or 'no branch'}")
    elif reads.presence(path) is Presence.UNREADABLE:
        found.append(f"{path} cannot be read")
    return found
