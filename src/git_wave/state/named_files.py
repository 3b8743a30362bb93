"""Reading a file that somebody named: it may be anything, and nothing may keep us waiting for ever."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from pathlib import Path

PATIENCE = 10.0
"""Seconds that whoever writes into a pipe may be silent."""
PAUSE = 0.2
CHUNK = 1 << 16


def read_named(path: Path) -> bytes:
    """All of a regular file, or of a pipe that somebody writes into, such as a shell's `<(command)`.

    Raises OSError, also for a pipe without a writer, for one whose writer is silent, and for devices.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return file.read()
        if stat.S_ISFIFO(mode):
            return read_pipe(descriptor)
        raise OSError(errno.EINVAL, "it is no file" if not stat.S_ISDIR(mode) else os.strerror(errno.EISDIR))


def read_pipe(descriptor: int) -> bytes:
    """All that is written into a pipe. Raises OSError when nobody writes into it."""
    data = b""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not select.select([descriptor], [], [], PAUSE)[0]:
            continue
        try:
            chunk = os.read(descriptor, CHUNK)
        except BlockingIOError:
            continue
        if not chunk:
            if data:
                return data
            break
        data += chunk
        deadline = time.monotonic() + PATIENCE
    raise OSError(errno.EAGAIN, "it is a pipe that nobody writes into")
