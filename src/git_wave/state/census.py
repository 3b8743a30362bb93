"""Which processes are in a directory tree: one look at all of them, for any number of trees.

A process is in a tree that its working directory is in, however it got there; and, as far as that can be read, its
root directory, its program, an open or a mapped file. Working, root directory and program are three links to read;
files are many, and are left out of a quick look. Nothing but a pid, how it is in the tree, and the path is noted.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROC = "/proc"
DELETED = " (deleted)"
GONE = (FileNotFoundError, ProcessLookupError)
PAUSE = 0.05
DEEPEST = 256
"""How many directories up a working directory is followed."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A process that is in a tree: how (`working directory`, `open file`), and the path as the kernel names it."""

    pid: int
    how: str
    path: str


@dataclass(frozen=True, slots=True)
class Census:
    """Who is in which tree, by the path that was asked about.

    `unreadable` are processes of ours that could not be looked into; other people's are not looked into at all
    without the right to. `problem` says why the look proves nothing, "" when it does, and `blind` the same of single
    trees.
    """

    holds: Mapping[Path, tuple[Hold, ...]] = field(default_factory=dict)
    blind: Mapping[Path, str] = field(default_factory=dict)
    unreadable: tuple[int, ...] = ()
    problem: str = ""


def take_census(trees: Iterable[Path], *, full: bool = True, patience: float = 0.0) -> Census:
    """Look at every process but this one. `full` looks at open and mapped files too.

    Whoever is found is looked at again for up to `patience` seconds, and does not count when he has left by then: an
    editor that asks git for a status is in the tree for a moment, and no one who works there.
    """
    import psutil  # only for this

    try:
        lookup = Trees(trees)
        pids = psutil.pids()
    except (psutil.Error, OSError) as error:
        return Census(problem=f"the processes cannot be listed: {error}")
    if not sees_itself(pids):
        return Census(problem="the list of processes does not show this one, so it proves nothing")
    holds, unreadable = look_at(set(pids) - {os.getpid()}, lookup, full)
    deadline = time.monotonic() + patience
    while holds and time.monotonic() < deadline:
        time.sleep(PAUSE)
        holds, _ = look_at({pid for found in holds.values() for pid in found}, lookup, full)
    return Census({tree: tuple(found.values()) for tree, found in holds.items()}, lookup.blind, tuple(unreadable))


def look_at(pids: Iterable[int], lookup: Trees, full: bool) -> tuple[dict[Path, dict[int, Hold]], list[int]]:
    """Which of these processes are in which tree, and those that could not be looked into."""
    look = look_in_proc if has_proc() else look_by_psutil
    holds: dict[Path, dict[int, Hold]] = {}
    unreadable = []
    for pid in sorted(pids):
        try:
            for hold, tree in look(pid, lookup, full):
                holds.setdefault(tree, {}).setdefault(pid, hold)
        except PermissionError:
            unreadable.append(pid)
    return holds, unreadable


class Trees:
    """Finds the trees that a path lies in: by name, and directories also by what they are."""

    def __init__(self, trees: Iterable[Path]) -> None:
        self._named: dict[str, list[Path]] = {}
        self._known: dict[tuple[int, int], list[Path]] = {}
        self._seen: dict[tuple[str, int, int], tuple[Path, ...]] = {}
        self.blind: dict[Path, str] = {}
        for tree in trees:
            for name in {os.path.realpath(tree), os.path.abspath(tree)}:
                self._named.setdefault(name, []).append(tree)
            try:
                found = os.stat(tree)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.blind[tree] = f"{tree}: {error.strerror}"
            else:
                self._known.setdefault((found.st_dev, found.st_ino), []).append(tree)
        self.heads = tuple({f"{os.path.dirname(name).rstrip('/')}/" for name in self._named})

    def named(self, path: str) -> Iterator[Path]:
        """Trees that the path lies in by its name, that of a deleted file included."""
        if not path.startswith(self.heads):
            return
        for name in {path, path.removesuffix(DELETED)}:
            while len(name) > 1:
                yield from self._named.get(name, ())
                name = os.path.dirname(name)

    def around(self, link: str, path: str) -> Iterator[Path]:
        """Trees around the directory that `link` leads to, by device and inode: a bind mount or another mount
        namespace gives the same directory another name.
        """
        first = os.stat(link)
        key = (path, first.st_dev, first.st_ino)
        if key not in self._seen:
            self._seen[key] = tuple(self._upwards(link))
        yield from self._seen[key]

    def _upwards(self, link: str) -> Iterator[Path]:
        last = None
        for _ in range(DEEPEST):
            found = os.stat(link)
            if (identity := (found.st_dev, found.st_ino)) == last:
                return
            yield from self._known.get(identity, ())
            last, link = identity, f"{link}/.."


Found = Iterator[tuple[Hold, Path]]


def has_proc() -> bool:
    return os.path.islink(f"{PROC}/self/cwd")


def sees_itself(pids: Iterable[int]) -> bool:
    """Whether the list, and what tells about a process in it, is about the processes that we are among."""
    if os.getpid() not in pids:
        return False
    if not has_proc():
        return True
    try:
        return os.path.samestat(os.stat(f"{PROC}/{os.getpid()}/cwd"), os.stat("."))
    except OSError:
        return False


def look_in_proc(pid: int, trees: Trees, full: bool) -> Found:
    """Raises PermissionError in the end when something of it could not be read though it is ours."""
    hidden = False
    home = f"{PROC}/{pid}"
    steps: list[Callable[[str, int, Trees], Found]] = [standing]
    steps += [files, maps] if full else []
    for step in steps:
        try:
            yield from step(home, pid, trees)
        except GONE:
            continue
        except OSError:
            hidden = hidden or is_ours(home)
    if hidden:
        raise PermissionError(pid)


def standing(home: str, pid: int, trees: Trees) -> Found:
    for name, how in (("cwd", "working directory"), ("root", "root directory"), ("exe", "program")):
        link = f"{home}/{name}"
        with contextlib.suppress(*GONE):
            path = os.readlink(link)
            for tree in trees.named(path):
                yield Hold(pid, how, path), tree
            if name == "cwd":
                for tree in trees.around(link, path):
                    yield Hold(pid, how, path), tree


def files(home: str, pid: int, trees: Trees) -> Found:
    for name in os.listdir(f"{home}/fd"):
        with contextlib.suppress(*GONE):
            path = os.readlink(f"{home}/fd/{name}")
            for tree in trees.named(path):
                yield Hold(pid, "open file", path), tree


def maps(home: str, pid: int, trees: Trees) -> Found:
    with open(f"{home}/maps", "rb") as stream:
        data = stream.read()
    if not any(os.fsencode(head).replace(b"\n", b"\\012") in data for head in trees.heads):
        return
    for line in data.splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6:
            path = os.fsdecode(fields[5].replace(b"\\012", b"\n"))
            for tree in trees.named(path):
                yield Hold(pid, "mapped file", path), tree


def is_ours(home: str) -> bool:
    """Whether a process that cannot be read is one that we should see into; a dead one holds nothing."""
    try:
        with open(f"{home}/status", "rb") as stream:
            fields = dict(line.split(b":", 1) for line in stream.read().splitlines() if b":" in line)
        if fields[b"State"].split()[:1] in ([b"Z"], [b"X"]):
            return False
        return os.geteuid() == 0 or int(fields[b"Uid"].split()[0]) == os.getuid()
    except GONE:
        return False
    except (OSError, ValueError, KeyError):
        return True


def look_by_psutil(pid: int, trees: Trees, full: bool) -> Found:
    """The same where there is no /proc. Raises PermissionError."""
    import psutil

    hidden = False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return
        asked: list[tuple[str, Callable[[], list[str]]]] = [
            ("working directory", lambda: [process.cwd()]),
            ("program", lambda: [process.exe()]),
        ]
        if full:
            asked.append(("open file", lambda: [file.path for file in process.open_files()]))
        for how, ask in asked:
            try:
                paths = ask()
            except (psutil.AccessDenied, OSError):
                hidden = hidden or is_ours_by_psutil(process)
                continue
            for path in paths:
                for tree in trees.named(path):
                    yield Hold(pid, how, path), tree
    except psutil.NoSuchProcess:
        return
    if hidden:
        raise PermissionError(pid)


def is_ours_by_psutil(process: object) -> bool:
    import psutil

    assert isinstance(process, psutil.Process)
    try:
        return os.geteuid() == 0 or process.uids().real == os.getuid()
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
