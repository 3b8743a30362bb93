"""SUMMARY artifacts: found in a worktree, copied into the main checkout.

No path is ever followed through a symbolic link, on either side.
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
from git_wave.state.below import CHUNK, NEW, NotRegular, directory_below, pour, regular_file

FOLDER = ".planning"
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
    with (
        _told(path),
        directory_below(root, path, create=False) as folder,
        regular_file(folder, path) as source,
    ):
        return _digest(source)


def copy_artifact(source_root: Path, target_root: Path, path: str, scratch: Path) -> Rescued:
    """Copy an artifact to the same path below another root, where nothing or the same content may stand.

    Raises NotRescued. `scratch` is a directory of ours where the copy is made ready, so that it appears at its
    place whole or not at all.
    """
    with (
        _told(path),
        directory_below(source_root, path, create=False) as folder,
        regular_file(folder, path) as source,
    ):
        digest = _digest(source)
        with directory_below(target_root, path, create=True) as target:
            copied = _place(source, target, Path(path).name, scratch)
            if not copied:
                _require_same(target, path, digest)
            os.fsync(target)
    return Rescued(path, digest, copied)


def compare_artifact(source_root: Path, target_root: Path, path: str) -> Rescued:
    """What `copy_artifact` would find, without writing. Raises NotRescued."""
    digest = digest_of(source_root, path)
    try:
        with _told(path), directory_below(target_root, path, create=False) as target:
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
    pour(source, target)
    os.fsync(target)


def _mode(source: int) -> int:
    return stat.S_IMODE(os.fstat(source).st_mode) & 0o777


def _require_same(target: int, path: str, digest: str) -> None:
    with regular_file(target, path) as standing:
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
    except NotRegular as error:
        raise NotRescued(f"{path}: it is not a regular file") from error
    except OSError as error:
        why = "a symbolic link is in the way" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise NotRescued(f"{path}: {why}") from error
