"""Reading a file that may be anything, by whoever's hand: nothing may keep us waiting for ever."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from io import FileIO
from pathlib import Path

OPENING = 0.5
"""Seconds in which somebody may open a pipe to write into it: a writer waits until a reader has opened it."""
PATIENCE = 10.0
"""Seconds that whoever writes into a pipe may be silent."""
PAUSE = 0.05
CHUNK = 1 << 16


def read_regular(path: Path) -> bytes:
    """All of a regular file. Raises OSError, also and at once for anything else."""
    with opened(path) as file:
        return content_of(file, path)


def read_named(path: Path) -> bytes:
    """All of a regular file, or of a pipe that somebody writes into, such as a shell's `<(command)`.

    Raises OSError, also for a pipe without a writer, for one whose writer is silent, and for devices.
    """
    with opened(path) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            return read_pipe(file.fileno(), path)
        return content_of(file, path)


def opened(path: Path) -> FileIO:
    # Without O_NONBLOCK the open itself waits for somebody to open the other end of a pipe.
    return FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def content_of(file: FileIO, path: Path) -> bytes:
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(mode):
        return file.readall()
    code, words = (errno.EISDIR, "it is a directory") if stat.S_ISDIR(mode) else (errno.EINVAL, "it is no regular file")
    raise OSError(code, words, str(path))


def read_pipe(descriptor: int, path: Path) -> bytes:
    """All that is written into a pipe. Raises OSError when nobody writes into it."""
    data = bytearray()
    begun = heard = time.monotonic()
    while True:
        try:
            chunk = os.read(descriptor, CHUNK)
        except BlockingIOError:  # somebody has it open for writing
            if time.monotonic() - heard > PATIENCE:
                raise OSError(errno.EAGAIN, "whoever writes into this pipe is silent", str(path)) from None
            select.select([descriptor], [], [], PAUSE)
            continue
        if chunk:
            data += chunk
            heard = time.monotonic()
        elif data:
            return bytes(data)
        elif time.monotonic() - begun > OPENING:
            raise OSError(errno.EAGAIN, "it is a pipe that nobody writes into", str(path))
        else:
            time.sleep(PAUSE)
