"""How much room directories take on disk, found within a budget.

All trees are walked in turn, a slice of each at a time: when the time is up, the small ones are known and only the
large ones are cut short. Links are not followed, other file systems are left out, and a file with several names in a
tree counts once in it.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 512
"""Bytes in the unit of `st_blocks`, whatever the file system's own block is."""
SLICE = 512
"""Entries that one tree may take before it is another's turn."""


@dataclass(frozen=True, slots=True)
class Budget:
    """`seconds` for all trees together, `entries` for each."""

    seconds: float = 2.0
    entries: int = 100_000


@dataclass(slots=True)
class Size:
    """`size` in bytes of the entries seen; a lower bound where `why` says what was not seen."""

    size: int = 0
    entries: int = 0
    why: str = ""
    _seen: set[tuple[int, int]] = field(default_factory=set, repr=False, compare=False)

    def add(self, found: os.stat_result) -> None:
        self.entries += 1
        if found.st_nlink > 1:
            if (identity := (found.st_dev, found.st_ino)) in self._seen:
                return
            self._seen.add(identity)
        self.size += found.st_blocks * BLOCK

    def missed(self, why: str) -> None:
        self.why = self.why or why


def measure(
    trees: Iterable[Path], budget: Budget, skip: frozenset[str], clock: Callable[[], float] = time.monotonic
) -> Mapping[Path, Size]:
    """The room that each directory takes, without what lies at one of the paths in `skip`."""
    deadline = clock() + budget.seconds
    found = {tree: Size() for tree in trees}
    turns = deque((size, walk(tree, size, skip)) for tree, size in found.items())
    while turns:
        size, steps = turns.popleft()
        if clock() >= deadline:
            size.missed("the time for measuring was up")
        elif size.entries >= budget.entries:
            size.missed(f"only {size.entries} entries were looked at")
        elif next(steps, None):
            turns.append((size, steps))
    return found


def walk(tree: Path, size: Size, skip: frozenset[str]) -> Iterator[bool]:
    """Add up what is in a tree; yields after every slice and has ended when it yields no more."""
    try:
        top = os.lstat(tree)
    except OSError as error:
        size.missed(f"{tree}: {error.strerror}")
        return
    size.add(top)
    rest = [os.fspath(tree)]
    turn = 0
    while rest:
        for entry in entries_of(rest.pop(), size):
            if entry.path in skip:
                continue
            if descends(entry, size, top.st_dev):
                rest.append(entry.path)
            if size.entries >= turn + SLICE:
                turn = size.entries
                yield True


def entries_of(directory: str, size: Size) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except FileNotFoundError:
        return
    except OSError as error:
        size.missed(f"{directory}: {error.strerror}")


def descends(entry: os.DirEntry[str], size: Size, device: int) -> bool:
    """Add one entry; whether it is a directory to look into. What vanished meanwhile takes no room."""
    try:
        found = entry.stat(follow_symlinks=False)
        if found.st_dev != device:
            return False
        size.add(found)
        return entry.is_dir(follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError as error:
        size.missed(f"{entry.path}: {error.strerror}")
        return False
