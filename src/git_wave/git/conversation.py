"""A running command that is asked and answers, over two pipes."""

from __future__ import annotations

import contextlib
import os
import select

from git_wave.git.answer import CHUNK
from git_wave.git.processes import GRACE, Started, end_group, has_ended
from git_wave.model.errors import GitError


class Conversation:
    """A running command, asked one line-sized question at a time."""

    def __init__(self, running: Started, reader: int, writer: int, argv: tuple[str, ...], timeout: float) -> None:
        self._running, self._reader, self._writer = running, reader, writer
        self._argv, self._timeout = argv, timeout
        self._buffer = b""

    def ask(self, question: bytes) -> None:
        try:
            os.write(self._writer, question)
        except OSError as error:
            raise GitError(self._argv, None, f"it ended too early: {error}") from error

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes of the answer."""
        while len(self._buffer) < size:
            self._fill()
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    def read_line(self) -> bytes:
        """The answer up to the next line feed, without it."""
        while b"\n" not in self._buffer:
            self._fill()
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _fill(self) -> None:
        ready, _, _ = select.select([self._reader], [], [], self._timeout)
        chunk = os.read(self._reader, CHUNK) if ready else b""
        if not chunk:
            raise GitError(self._argv, None, "it ended, or gave no answer in time")
        self._buffer += chunk

    def close(self) -> None:
        for descriptor in (self._reader, self._writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        if not has_ended(self._running.pid, GRACE):
            end_group(self._running.pid)
        self._running.exit_code()
