"""What a finished command printed and how it ended."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from git_wave.model.errors import GitError, GitLocked

LOCKED = re.compile(
    r"Unable to create '(.+\.lock)': File exists|could not lock config file (.+?)(?:: File exists)?$", re.MULTILINE
)
CHUNK = 1 << 18
Raw = bytes  # where `bytes` means a property


class Output:
    """What a command printed, in a file without a name that goes when nobody can read it any more."""

    descriptor = -1  # until there is a file

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self.descriptor = os.dup(file.fileno())

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def chunks(self) -> Iterator[bytes]:
        at = 0
        while chunk := os.pread(self.descriptor, CHUNK, at):
            at += len(chunk)
            yield chunk

    def pieces(self) -> Iterator[bytes]:
        """The same, each ending with a NUL, but for the last when it has none."""
        rest = b""
        for chunk in self.chunks():
            whole, end, after = (rest + chunk).rpartition(b"\0")
            if end:
                yield whole + end
            rest = after
        if rest:
            yield rest


@dataclass(frozen=True, slots=True)
class Answer:
    """How one command ended. `code` is its exit code, negative for the signal that ended it."""

    argv: tuple[str, ...]
    code: int
    stderr: str
    _out: Output = field(repr=False)

    @property
    def bytes(self) -> bytes:
        """All of standard output."""
        return b"".join(self._out.chunks())

    @property
    def text(self) -> str:
        """The same as text; bytes that are not UTF-8 survive as surrogates."""
        return self.bytes.decode("utf-8", "surrogateescape")

    def is_all(self, pattern: re.Pattern[Raw]) -> bool:
        """Whether standard output consists of nothing but what `pattern` matches, whole records at a time."""
        return all(pattern.fullmatch(piece) for piece in self._out.pieces())

    def chunks(self) -> Iterator[Raw]:
        """Standard output piece by piece; it can be read again."""
        return self._out.chunks()

    def records(self) -> Iterator[str]:
        """Standard output split at NUL, read piece by piece; it can be read again."""
        for piece in self._out.pieces():
            for record in piece.removesuffix(b"\0").split(b"\0"):
                yield record.decode("utf-8", "surrogateescape")

    @property
    def lock_file(self) -> str | None:
        """The lock file that stopped it, None when none did.

        Git has no exit code for this, so its words are read; they decide on a retry and on nothing else.
        """
        if match := LOCKED.search(self.stderr):
            return match[1] or f"{match[2]}.lock"
        return None

    def error(self) -> GitError:
        if lock_file := self.lock_file:
            return GitLocked(self.argv, self.code, self.stderr, lock_file)
        return GitError(self.argv, self.code, self.stderr)
