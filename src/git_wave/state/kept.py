"""Ignored files of a worktree that is about to go: what a build makes again, and what must be kept.

Git's ignore rules say what is not committed, not what is worthless. Only what lies in a directory of a known
build or cache name goes with the worktree, and not even that when it hides a repository of its own.
"""

from __future__ import annotations

import errno
import filecmp
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from git_wave.model.paths import is_repository
from git_wave.state.atomic import sync_directory

REGENERABLE = frozenset(
    (
        *(
            "node_modules",
            "bower_components",
            "target",
            "build",
            "dist",
            "out-tsc",
            ".next",
            ".nuxt",
            ".svelte-kit",
        ),
        *(
            "__pycache__",
            ".venv",
            "venv",
            ".tox",
            ".nox",
            ".eggs",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
        ),
        *(
            ".hypothesis",
            ".gradle",
            ".cache",
            ".parcel-cache",
            ".turbo",
            ".terraform",
            ".dart_tool",
            "DerivedData",
        ),
        *("CMakeFiles", "zig-cache", ".zig-cache", ".stack-work", "dist-newstyle", "_build", "elm-stuff"),
    )
)
# Plain words that a project may also keep tracked files under: a single ignored file in one is nobody's build output.
OUTPUT_NAMES = frozenset({"target", "build", "dist", "_build"})
REGENERABLE_FILES = (".pyc", ".pyo")


@dataclass(frozen=True, slots=True)
class Sorting:
    """Ignored paths of a worktree, sorted: `keep` must be kept, `dropped` files go with the worktree."""

    keep: tuple[str, ...]
    dropped: int


def sort_ignored(root: Path, ignored: Iterable[str], regenerable: frozenset[str] = frozenset()) -> Sorting:
    """Sort git's ignored paths (a directory ends in a slash). Raises OSError when one cannot be looked into.

    `regenerable` are names of directories that a build makes again, besides those known here.
    """
    keep, dropped = [], 0
    for path in ignored:
        count = files_below(root / path) if is_regenerable(path, regenerable) else None
        if count is None:
            keep.append(path)
        else:
            dropped += count
    return Sorting(tuple(keep), dropped)


def is_regenerable(path: str, more: frozenset[str] = frozenset()) -> bool:
    *folders, name = path.rstrip("/").split("/")
    if path.endswith("/"):
        folders.append(name)
    made = REGENERABLE if path.endswith("/") else REGENERABLE - OUTPUT_NAMES
    return not (made | more).isdisjoint(folders) or name.endswith(REGENERABLE_FILES)


def files_below(path: Path) -> int | None:
    """How many files are there, or None when a repository is among them."""
    if not path.is_dir() or path.is_symlink():
        return 1

    def fail(error: OSError) -> None:
        raise error

    count = 0
    for _, names, files in os.walk(path, onerror=fail):
        if ".git" in names or ".git" in files or is_repository(names, files):
            return None
        count += len(files)
    return count


def files_in(path: Path) -> int:
    """How many files are there, repositories included. Raises OSError."""
    if not path.is_dir() or path.is_symlink():
        return 1

    def fail(error: OSError) -> None:
        raise error

    return sum(len(files) for _, _, files in os.walk(path, onerror=fail))


def kept_place(common_dir: Path, wave_id: str, branch: str) -> Path:
    """Where a wave keeps the ignored files of one branch's worktree."""
    return common_dir / "git-wave" / "kept" / wave_id / branch


def residue_place(common_dir: Path, wave_id: str, branch: str) -> Path:
    """Where half-written files of an ended merge go. No branch is named so: a part may not begin with a dot."""
    return common_dir / "git-wave" / "kept" / wave_id / ".residue" / branch


def carry_across(source: Path, target: Path) -> None:
    """Move to another file system, one file at a time: what is written behind our back stays where it is, and is
    seen by whoever looks next. A file appears whole: who dies in the middle leaves a part under another name.
    """
    if source.is_symlink() or not source.is_dir():
        part = target.with_name(f".{target.name[:200]}.git-wave-part")
        part.unlink(missing_ok=True)
        shutil.copy2(source, part, follow_symlinks=False)
        os.rename(part, target)
        os.unlink(source)
        return
    target.mkdir()
    for name in sorted(os.listdir(source)):
        carry_across(source / name, target / name)
    shutil.copystat(source, target)
    try:
        os.rmdir(source)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths hold the very same file, or equal files or links: one was the other's copy. Raises OSError."""
    if os.path.islink(one) and os.path.islink(other):
        return os.readlink(one) == os.readlink(other)
    modes = [os.lstat(path).st_mode for path in (one, other)]
    return all(map(stat.S_ISREG, modes)) and (os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False))


def set_aside(root: Path, path: str, place: Path) -> Path:
    """`keep` for what may have been set aside before: then under the next free name."""
    number, name = 0, path
    while os.path.lexists(place / name):
        number += 1
        name = f"{path}.{number}"
    if name == path:
        return keep(root, path, place)
    target = place / name
    os.rename(root / path, target)
    return target


def keep(root: Path, path: str, place: Path) -> Path:
    """Move one path below `root` to the same path below `place`, by rename where the file system allows.

    Raises OSError, also when something stands there; then the source still stands.
    """
    source, target = root / path.rstrip("/"), place / path.rstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        raise FileExistsError(f"{target} exists")
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        carry_across(source, target)
    sync_directory(target.parent)
    return target
