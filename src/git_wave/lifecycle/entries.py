"""The manifest's entry of one worktree: taken out, and put back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from git_wave.model.entry import Entry
from git_wave.model.errors import Refusal
from git_wave.model.manifest import entries_in, entry_from, root_in
from git_wave.model.reasons import Reason
from git_wave.state.manifest_file import load_document, locked, write_document


def require_writable(manifest: Path) -> None:
    """Could an entry be taken out later? Raises WaveError with what says no."""
    with locked(manifest):
        entries_in(load_document(manifest))
    if not os.access(manifest.resolve().parent, os.W_OK | os.X_OK):
        raise Refusal(Reason.MANIFEST_WRITE_FAILED, f"{manifest.parent} cannot be written to")


def has_entry(manifest: Path, raw: Any, pattern: str) -> bool:
    """Whether the entry, or one of the same worktree, branch and agent, stands there. Raises WaveError."""
    if not os.path.lexists(manifest):
        return False
    return bool(positions(load_document(manifest), raw, pattern))


def remove_entry(manifest: Path, raw: Any, pattern: str) -> bool:
    """Take out the entry of this worktree, branch and agent, exact repeats too, and nothing else.

    Whether there was one. Raises WaveError; then the file is as it was.
    """
    if not os.path.lexists(manifest):
        return False
    with locked(manifest):
        document = load_document(manifest)
        found = positions(document, raw, pattern)
        for index in reversed(found):
            del entries_in(document)[index]
        if found:
            write_document(manifest, document)
    return bool(found)


def put_back_entry(manifest: Path, raw: Any, pattern: str) -> None:
    """Append the entry unless it stands there. Raises WaveError; then the file is as it was."""
    with locked(manifest):
        document = load_document(manifest)
        if not positions(document, raw, pattern):
            entries_in(document).append(raw)
            write_document(manifest, document)


def positions(document: Any, raw: Any, pattern: str) -> list[int]:
    """Where the entries stand that name the same worktree, branch and agent as `raw`, in order."""
    root = root_in(document)
    wanted = entry_from(raw, 0, "", pattern)
    if not isinstance(wanted, Entry):
        return []
    found = []
    for index, other in enumerate(entries_in(document)):
        entry = entry_from(other, index, "", pattern)
        if isinstance(entry, Entry) and (entry.key(root), entry.agent_id) == (wanted.key(root), wanted.agent_id):
            found.append(index)
    return found
