"""File systems that are full or cannot be written, where this machine lets us mount them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def mount(*args: str | Path) -> None:
    done = subprocess.run(["mount", *args], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    place.mkdir()
    mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    """The directory as it is, but nobody can write below it: not even root."""
    mount("--bind", place, place)
    try:
        mount("-o", "remount,ro,bind", place)
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(place: Path, leaving: int) -> Path:
    """A file that takes all the room but so many bytes (of whole pages); remove it to make room again."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"x" * 4096):
                pass
        except OSError:
            pass
        stream.truncate(max(0, stream.tell() - leaving))
    return filler
