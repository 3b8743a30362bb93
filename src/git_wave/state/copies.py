"""Is a file, or a directory, the same as another one? No link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

CHUNK = 1 << 18
LARGEST = 64 << 20
"""Bytes. What is larger is not compared, and so is no copy: the answer may not take for ever."""


def is_copy(path: Path, original: Path) -> bool:
    """Whether everything at `path` stands at `original` too, content and kind alike. Raises OSError.

    A directory may have more in it at `original`; one that is a repository is no copy of anything.
    """
    here = os.lstat(path)
    try:
        there = os.lstat(original)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_IFMT(here.st_mode) != stat.S_IFMT(there.st_mode):
        return False
    if stat.S_ISLNK(here.st_mode):
        return os.readlink(path) == os.readlink(original)
    if stat.S_ISDIR(here.st_mode):
        names = os.listdir(path)
        return ".git" not in names and all(is_copy(path / name, original / name) for name in names)
    if not stat.S_ISREG(here.st_mode) or here.st_size != there.st_size or here.st_size > LARGEST:
        return False
    return has_same_content(path, original)


def has_same_content(path: Path, original: Path) -> bool:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(path, flags), "rb") as one, open(os.open(original, flags), "rb") as other:
        while chunk := one.read(CHUNK):
            if chunk != other.read(CHUNK):
                return False
        return not other.read(1)
