"""Processes that are in a directory in one way or another, and that a test can end."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

READY = "echo ready; exec sleep 600"
MAPPED = (
    "import mmap, os, sys, time; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); "
    "os.closerange(3, 64); print('ready', flush=True); time.sleep(600)"
)


@contextmanager
def running(argv: Sequence[str | Path], cwd: Path | str = "/", *, says_ready: bool = False) -> Iterator[int]:
    """The pid of a process that lasts as long as the block; `says_ready`: it prints a line when it is so far."""
    output = subprocess.PIPE if says_ready else subprocess.DEVNULL
    with subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output) as process:
        try:
            if process.stdout:
                assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


@contextmanager
def standing_in(place: Path) -> Iterator[int]:
    with running(["sleep", "600"], place) as pid:
        yield pid


@contextmanager
def holding(file: Path) -> Iterator[int]:
    """A process elsewhere that has the file open."""
    with running(["sh", "-c", f'exec 9<"$1"; {READY}', "sh", file], says_ready=True) as pid:
        yield pid


@contextmanager
def mapping(file: Path) -> Iterator[int]:
    """A process elsewhere that has the file mapped, and open no more."""
    with running([sys.executable, "-c", MAPPED, file], says_ready=True) as pid:
        yield pid


@contextmanager
def zombie_of(place: Path) -> Iterator[int]:
    """A process that ended while it stood there, and that nobody has waited for."""
    process = subprocess.Popen(["true"], cwd=place)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        yield process.pid
    finally:
        process.wait()


def dead_pid() -> int:
    """The pid of a process that is gone."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
