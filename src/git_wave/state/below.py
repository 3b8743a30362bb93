"""Files below a root, reached without following a symbolic link.

Each directory is opened below the one before it, so that a link put in the way between two steps is an error and
not a way out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHUNK = 1 << 18
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class NotRegular(Exception):
    """It is neither a regular file nor, where one is allowed, a link."""


@contextmanager
def directory_below(root: Path, path: str, *, create: bool) -> Iterator[int]:
    """The directory that holds `path`, reached from `root` step by step. Raises OSError."""
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in Path(path).parts[:-1]:
            if create:
                try:
                    os.mkdir(part, dir_fd=current)
                except FileExistsError:
                    pass
            current, above = os.open(part, DIRECTORY, dir_fd=current), current
            os.close(above)
        yield current
    finally:
        os.close(current)


@contextmanager
def regular_file(folder: int, path: str) -> Iterator[int]:
    """The last part of `path` in `folder`, open for reading. Raises NotRegular or OSError."""
    descriptor = os.open(Path(path).name, SOURCE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(path)
        yield descriptor
    finally:
        os.close(descriptor)


def pour(source: int, target: int) -> int:
    """All of one open file into another; the number of bytes."""
    os.lseek(source, 0, os.SEEK_SET)
    count = 0
    while chunk := os.read(source, CHUNK):
        count += len(chunk)
        while chunk:
            chunk = chunk[os.write(target, chunk) :]
    return count


def replicate(source_root: Path, target_root: Path, path: str) -> int:
    """Put the file or link at `path` at the same path below another root, in place of a file or link there.

    Content and permission bits are as they are now; it appears whole or not at all. The number of bytes. Raises
    NotRegular or OSError.
    """
    name = Path(path).name
    with directory_below(source_root, path, create=False) as folder:
        with directory_below(target_root, path, create=True) as target:
            ready = f".git-wave-{os.getpid()}-new"
            try:
                count = _replica(folder, name, target, ready)
                os.rename(ready, name, src_dir_fd=target, dst_dir_fd=target)
            except BaseException:
                _discard(ready, target)
                raise
    return count


def _replica(folder: int, name: str, target: int, ready: str) -> int:
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.symlink(os.readlink(name, dir_fd=folder), ready, dir_fd=target)
        return 0
    with regular_file(folder, name) as source:
        with open(os.open(ready, NEW, 0o600, dir_fd=target), "wb") as copy:
            count = pour(source, copy.fileno())
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(source).st_mode))
    return count


def _discard(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
