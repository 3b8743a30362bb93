"""Where the worktrees of a repository are, and what stands there.

What git registers, administrative directories that git passes over because they name no directory, and directories
below the managed root that git does not know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from git_wave.git import presence
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import Registration
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.worktrees import spellings
from git_wave.model.errors import GitError


class State(StrEnum):
    MAIN = "main"
    PRESENT = "present"
    ABSENT = "absent"
    UNREADABLE = "unreadable"
    """Whether it is there, or what it is, cannot be told."""
    BROKEN = "broken"
    """Something is there, and it is not the worktree that git registers."""
    UNREGISTERED = "unregistered"


@dataclass(frozen=True, slots=True)
class Place:
    """A directory, or where one should be. `why` says what is wrong with it, "" when nothing is.

    `path` is None only where a registration names none. `worktree` is set once directory and registration are proven
    to name each other.
    """

    path: Path | None
    state: State
    why: str = ""
    registration: Registration | None = None
    admin: Path | None = None
    worktree: Worktree | None = None


def registered_places(reads: Reads, registrations: Iterable[Registration]) -> list[Place]:
    """Every registration, the main worktree first. Raises GitError when administrative directories cannot be listed."""
    main, *linked = registrations
    named, lost = administrative(reads)
    found = [Place(Path(main.path), State.MAIN, registration=main)]
    found += [place_at(reads, one, named.get(os.path.normpath(one.path), [])) for one in linked]
    listed = {os.path.normpath(one.path) for one in linked}
    for place in named.keys() - listed:
        lost += [(admin, f"it names {place}, and git does not list it") for admin in named[place]]
    return found + [Place(None, State.BROKEN, why, admin=admin) for admin, why in sorted(lost)]


def administrative(reads: Reads) -> tuple[dict[str, list[Path]], list[tuple[Path, str]]]:
    """Administrative directories by the path that they name, and those that name none, with why."""
    named: dict[str, list[Path]] = {}
    lost: list[tuple[Path, str]] = []
    try:
        admins = reads.admin_directories()
    except OSError as error:
        raise GitError(["worktree", "list"], None, f"{error.filename}: {error.strerror}") from error
    for admin in admins:
        try:
            place = reads.place_of(admin)
        except OSError as error:
            lost.append((admin, f"{error.filename}: {error.strerror}"))
            continue
        if place is None:
            lost.append((admin, "its registration names no directory"))
        else:
            named.setdefault(os.path.normpath(place), []).append(admin)
    return named, lost


def place_at(reads: Reads, registered: Registration, admins: list[Path]) -> Place:
    path = Path(registered.path)
    if len(admins) > 1:
        return Place(path, State.BROKEN, f"git registers it {len(admins)} times", registered)
    admin = admins[0] if admins else None
    state, why, worktree = standing_at(reads, path)
    return Place(path, state, why, registered, admin, worktree)


def standing_at(reads: Reads, path: Path) -> tuple[State, str, Worktree | None]:
    """What stands there, as far as that can be told."""
    found = reads.presence(path)
    if found is Presence.GONE:
        return State.ABSENT, "", None
    if found is Presence.UNREADABLE:
        return State.UNREADABLE, unreadable(path), None
    try:
        return State.PRESENT, "", reads.worktree_at(path)
    except BrokenLink as error:
        return State.BROKEN, str(error), None
    except FileNotFoundError as error:
        return State.BROKEN, f"{error.filename}: {error.strerror}", None
    except OSError as error:
        return State.UNREADABLE, f"{error.filename}: {error.strerror}", None


def unreadable(path: Path) -> str:
    try:
        presence.lstat(path)
    except FileNotFoundError:
        return "it is not there, and no directory above it can be listed"
    except OSError as error:
        return f"{path}: {error.strerror}"
    return "it could not be looked at a moment ago"


def strays(reads: Reads, root: Path, registered: Iterable[Path]) -> Iterator[Place]:
    """What stands below `root` and holds no registered worktree. Raises OSError when `root` cannot be listed."""
    known = frozenset(name for path in registered for name in (os.path.realpath(path), spellings(path)[1]))
    around = frozenset(os.fspath(parent) for path in known for parent in Path(path).parents)
    if reads.presence(root) is Presence.GONE:
        return
    yield from unknown_in(reads, os.path.realpath(root), known, around)


def unknown_in(reads: Reads, directory: str, known: frozenset[str], around: frozenset[str]) -> Iterator[Place]:
    with os.scandir(directory) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.path in known:
            continue
        if entry.path in around:
            yield from within(reads, entry.path, known, around)
        elif entry.is_symlink() or entry.is_dir(follow_symlinks=False):
            yield from stray(reads, Path(entry.path))


def within(reads: Reads, directory: str, known: frozenset[str], around: frozenset[str]) -> Iterator[Place]:
    """The same one floor down, where a failure is that directory's alone."""
    try:
        yield from unknown_in(reads, directory, known, around)
    except OSError as error:
        yield Place(Path(directory), State.UNREADABLE, f"{error.filename}: {error.strerror}")


def stray(reads: Reads, path: Path) -> Iterator[Place]:
    state, why, _ = standing_at(reads, path)
    if state is State.UNREADABLE:
        yield Place(path, state, why)
    elif state is not State.ABSENT:
        yield Place(path, State.UNREGISTERED, why or "git does not register it")
