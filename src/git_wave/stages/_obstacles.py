"""What of the user's stands in the checkout where a merge, or an undo, would write.

Git refuses for some of it, overwrites ignored files without a word, and trusts marks and monitors that may lie. So
each is looked for beforehand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from git_wave.git.parse import Difference, Look
from git_wave.git.reads import Reads


def edits_in_the_way(changed: Iterable[Difference], look: Look, reads: Reads) -> list[str]:
    """Tracked files with edits of the user's, seen or hidden from `git status`, that would be written.

    Raises GitError, OSError.
    """
    hidden = set(reads.target_hidden)
    edited = {change.path for change in look.changes}
    touched = {path for change in changed for path in (change.path, change.old) if path in edited or path in hidden}
    suspects = tuple(sorted(touched & hidden))
    return sorted((touched & edited) | set(reads.target_hidden_edits(suspects) if suspects else ()))


def standing_in_the_way(changed: Iterable[Difference], reads: Reads) -> list[str]:
    """Untracked and ignored files of the user's where the merge would write. Raises GitError, OSError.

    Git refuses for an untracked file, and overwrites an ignored one without a word.
    """
    occupied = occupied_places(changed, reads.layout.root)
    if not occupied:
        return []
    tracked = reads.tracked(occupied)
    return sorted(path for path in occupied if path not in tracked)


def occupied_places(changed: Iterable[Difference], root: Path) -> list[str]:
    """Files on disk at, above or below each place where the branch adds something."""
    found: dict[str, None] = {}
    clear = ""
    for change in changed:
        if change.status not in "ARC":
            continue
        folder = change.path.rpartition("/")[0]
        if folder != clear and (blocker := file_above(root, folder)):
            found[blocker] = None
            continue
        clear = folder
        found.update(dict.fromkeys(files_at(root, change.path)))
    return list(found)


def file_above(root: Path, folder: str) -> str | None:
    """The first part of `folder` that is there and no directory."""
    parts = folder.split("/") if folder else []
    for end in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:end])
        if not os.path.lexists(place):
            return None
        if place.is_symlink() or not place.is_dir():
            return "/".join(parts[:end])
    return None


def files_at(root: Path, path: str) -> Iterator[str]:
    place = root / path
    if place.is_symlink() or not place.is_dir():
        if os.path.lexists(place):
            yield path
        return

    def fail(error: OSError) -> None:
        raise error

    for directory, names, files in os.walk(place, onerror=fail):
        links = [name for name in names if (Path(directory) / name).is_symlink()]
        yield from (str((Path(directory) / name).relative_to(root)) for name in [*files, *links])
