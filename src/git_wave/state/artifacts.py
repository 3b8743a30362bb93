"""SUMMARY artifacts: found in a worktree, copied into the main checkout.

No path is ever followed through a symbolic link, on either side: each directory is opened below the one
before it, so that a link put in the way between two steps is an error and not a way out.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from git_wave.model.paths import is_summary

FOLDER = ".planning"
CHUNK = 1 << 18
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
NO_LINKS_HERE = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK)


class NotRescued(Exception):
    """The artifact could not be brought to safety; both sides are as they were. The message says why."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """An artifact that is safe: its path, the digest of its content, and whether this call copied it."""

    path: str
    digest: str
    copied: bool


def find_summaries(root: Path) -> list[str]:
    """Paths of the artifacts below `root`, sorted. Raises OSError when a directory cannot be read."""

    def fail(error: OSError) -> None:
        raise error

    found: list[str] = []
    if not (root / FOLDER).is_dir() or (root / FOLDER).is_symlink():
        return found
    for directory, names, files in os.walk(root / FOLDER, onerror=fail):
        below = Path(directory).relative_to(root)
        links = [name for name in names if (Path(directory) / name).is_symlink()]
        found += [str(below / name) for name in [*files, *links] if is_summary(str(below / name))]
    return sorted(found)


def digest_of(root: Path, path: str) -> str:
    """The digest of a regular file below `root`. Raises NotRescued."""
    with _told(path), _directory(root, path, create=False) as folder, _regular(folder, path) as source:
        return _digest(source)


def copy_artifact(source_root: Path, target_root: Path, path: str, scratch: Path) -> Rescued:
    """Copy an artifact to the same path below another root, where nothing or the same content may stand.

    Raises NotRescued. `scratch` is a directory of ours where the copy is made ready, so that it appears at its
    place whole or not at all.
    """
    with _told(path), _directory(source_root, path, create=False) as folder, _regular(folder, path) as source:
        digest = _digest(source)
        with _directory(target_root, path, create=True) as target:
            copied = _place(source, target, Path(path).name, scratch)
            if not copied:
                _require_same(target, path, digest)
            os.fsync(target)
    return Rescued(path, digest, copied)


def compare_artifact(source_root: Path, target_root: Path, path: str) -> Rescued:
    """What `copy_artifact` would find, without writing. Raises NotRescued."""
    digest = digest_of(source_root, path)
    try:
        with _told(path), _directory(target_root, path, create=False) as target:
            os.stat(Path(path).name, dir_fd=target, follow_symlinks=False)
            _require_same(target, path, digest)
    except NotRescued as problem:
        if not isinstance(problem.__cause__, FileNotFoundError):
            raise
        return Rescued(path, digest, copied=True)
    return Rescued(path, digest, copied=False)


def _place(source: int, target: int, name: str, scratch: Path) -> bool:
    """Make the copy appear. False when something stands there already."""
    scratch.mkdir(parents=True, exist_ok=True)
    ready = scratch / f"rescue-{os.getpid()}"
    try:
        with open(os.open(ready, NEW, _mode(source)), "wb") as copy:
            _write(source, copy.fileno())
        os.link(ready, name, dst_dir_fd=target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS_HERE:
            raise
        return _create(source, target, name)
    finally:
        ready.unlink(missing_ok=True)
    return True


def _create(source: int, target: int, name: str) -> bool:
    """The same where the file system has no hard links from there to here."""
    try:
        descriptor = os.open(name, NEW, _mode(source), dir_fd=target)
    except FileExistsError:
        return False
    try:
        with open(descriptor, "wb") as copy:
            _write(source, copy.fileno())
    except BaseException:
        os.unlink(name, dir_fd=target)
        raise
    return True


def _write(source: int, target: int) -> None:
    os.lseek(source, 0, os.SEEK_SET)
    while chunk := os.read(source, CHUNK):
        while chunk:
            chunk = chunk[os.write(target, chunk) :]
    os.fsync(target)


def _mode(source: int) -> int:
    return stat.S_IMODE(os.fstat(source).st_mode) & 0o777


def _require_same(target: int, path: str, digest: str) -> None:
    with _regular(target, path) as standing:
        if _digest(standing) != digest:
            raise NotRescued(f"{path}: a different file stands in the main checkout")


def _digest(source: int) -> str:
    os.lseek(source, 0, os.SEEK_SET)
    sha = hashlib.sha256()
    while chunk := os.read(source, CHUNK):
        sha.update(chunk)
    return sha.hexdigest()


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = "a symbolic link is in the way" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise NotRescued(f"{path}: {why}") from error


@contextmanager
def _directory(root: Path, path: str, *, create: bool) -> Iterator[int]:
    """The directory that holds `path`, reached from `root` step by step."""
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
def _regular(folder: int, path: str) -> Iterator[int]:
    """The file of that name in `folder`, open for reading; anything but a regular file is not rescued."""
    descriptor = os.open(Path(path).name, SOURCE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRescued(f"{path}: it is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)
