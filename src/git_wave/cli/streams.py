"""Standard streams as callers leave them: closed, full, a pipe that nobody reads, an encoding without our letters.

None of that is a reason to stop in the middle of a wave, or to have done it and end in a trace. What cannot be encoded
is escaped. What cannot be written is lost; in the end one line on standard error says so, and the exit code is still
that of what was done: a script that ran the command again for it would do everything twice.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Callable
from typing import TextIO, cast

CLOSED = OSError(errno.EBADF, "it is closed")
RESTARTED = "git-wave-restarted"


class Sink(io.FileIO):
    """The bytes of a standard stream. Nothing that is written raises; `failure` is the first thing that went wrong.

    After that a stream that holds a document is written no further: a piece of it from somewhere behind is no answer.
    """

    def __init__(self, descriptor: int, *, closed_before: bool, is_document: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.failure: OSError | None = None
        self._closed_before, self._is_document = closed_before, is_document

    def write(self, data: object) -> int:
        size = len(cast(bytes, data))
        if self._closed_before:
            self.failure = CLOSED
        if self.failure and (self._closed_before or self._is_document):
            return size
        try:
            return self._written(cast(bytes, data))
        except OSError as error:
            self.failure = self.failure or error
            return size

    def _written(self, data: bytes) -> int:
        # Whoever shares the descriptor may have made it one that never blocks; then None means "not now".
        while (count := cast(int | None, super().write(data))) is None:
            select.select([], [self], [])
        return count


class Stream(io.TextIOBase):
    """A standard stream for text. It has no `buffer`: click would write past it, in an encoding of its own choice."""

    def __init__(self, sink: Sink, encoding: str) -> None:
        self._sink, self._encoding = sink, encoding
        self._buffer = io.BufferedWriter(sink)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "backslashreplace"

    @property
    def failure(self) -> OSError | None:
        return self._sink.failure

    def write(self, text: str | bytes) -> int:
        """Bytes go as they are: a path that was escaped would be another path."""
        if text == b"":
            # click's way to find out whether what it has is a stream of bytes, to be wrapped by it.
            raise TypeError("text is wanted")
        self._buffer.write(text if isinstance(text, bytes) else text.encode(self._encoding, self.errors))
        return len(text)

    def flush(self) -> None:
        self._buffer.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._sink.isatty()

    def fileno(self) -> int:
        return self._sink.fileno()


def guarded(name: str, command: Callable[[], int]) -> int:
    """Run a command with standard streams that do not fail; its exit code, with a line about an answer that was lost.

    `name` is what the command is called in that line.
    """
    require_utf8_names()
    out, err = install()
    code = command()
    out.flush()
    if out.failure:
        why = out.failure.strerror or out.failure
        done = "done (exit code 0)" if code == 0 else f"ended with exit code {code}"
        err.write(f"{name}: {done}, but standard output could not be written: {why}\n")
    err.flush()
    return code


def require_utf8_names() -> None:
    """Start again with UTF-8 for file names where the locale says otherwise: git and our own files keep them so, and
    none of Python's may be changed while it runs. The option is seen by this process alone, no hook inherits it.
    """
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-X", RESTARTED, *sys.orig_argv[1:]])  # noqa: S606 - ourselves


def install() -> tuple[Stream, Stream]:
    """Put ours in the place of `sys.stdout` and `sys.stderr`, and an empty one in that of a closed `sys.stdin`."""
    fill_holes()
    out, err = stream_for(1, sys.stdout, is_document=True), stream_for(2, sys.stderr, is_document=False)
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, err)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    return out, err


def fill_holes() -> None:
    """Open what is closed of the three, as git does: the next file to be opened would take its number, and git's words
    to standard error would go into it."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def stream_for(descriptor: int, before: TextIO | None, *, is_document: bool) -> Stream:
    """`before` is Python's own stream, None where it was closed when the process began."""
    sink = Sink(descriptor, closed_before=before is None, is_document=is_document)
    encoding = getattr(before, "encoding", None) or "utf-8"
    if RESTARTED in sys._xoptions and not os.environ.get("PYTHONIOENCODING"):
        import locale  # the terminal still is what the locale says

        encoding = locale.getencoding()
    return Stream(sink, encoding)
