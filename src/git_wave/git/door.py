"""The one place that starts a process.

Every command is an argv list, in a session of its own, with standard input closed or given, and output
in files rather than pipes: a listing of any size costs no memory, and a hook that keeps a descriptor open
cannot make us wait for it.
"""

from __future__ import annotations

import codecs
import contextlib
import logging
import os
import re
import select
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sh

from git_wave.git.environment import config_variables, washed
from git_wave.git.processes import GRACE, end_group, has_ended
from git_wave.model.errors import GitError, GitLocked, GitTimeout, Refusal
from git_wave.model.interrupts import Interrupts
from git_wave.model.reasons import Reason

logger = logging.getLogger("git_wave.git")
LOCKED = re.compile(
    r"Unable to create '(.+\.lock)': File exists|could not lock config file (.+?)(?:: File exists)?$", re.MULTILINE
)
CHUNK = 1 << 18
Raw = bytes  # where `bytes` means a property
ANY_BYTES = "git-wave-any-bytes"


def _any_bytes(name: str) -> codecs.CodecInfo | None:
    """`sh` encodes arguments strictly; a path may hold bytes that are no UTF-8, carried as surrogates."""
    if name != ANY_BYTES.replace("-", "_"):
        return None

    def encode(text: str, _errors: str = "strict") -> tuple[bytes, int]:
        return os.fsencode(text), len(text)

    def decode(data: Any, _errors: str = "strict") -> tuple[str, int]:
        return os.fsdecode(bytes(data)), len(data)

    return codecs.CodecInfo(encode, decode, name=ANY_BYTES)


codecs.register(_any_bytes)


class Output:
    """What a command printed, in a file without a name that goes when nobody can read it any more."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self.descriptor = os.dup(file.fileno())

    def __del__(self) -> None:
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


class Door:
    """Starts git: `environ` is washed here once, `timeout` is the seconds an ordinary command may take."""

    def __init__(self, environ: Mapping[str, str], timeout: float, interrupts: Interrupts | None = None) -> None:
        program = shutil.which("git", path=environ.get("PATH"))
        if program is None:
            raise Refusal(Reason.GIT_MISSING, "there is no `git` on PATH")
        self._git = sh.Command(program)
        self._environ = washed(environ)
        self.timeout = timeout
        self._interrupts = interrupts or Interrupts()

    def with_variables(self, variables: Mapping[str, str]) -> Door:
        """The same door with more variables, set after the washing."""
        other = object.__new__(Door)
        other.__dict__.update(self.__dict__, _environ={**self._environ, **variables})
        return other

    def run(
        self,
        cwd: Path,
        args: Sequence[str],
        *,
        ok: Sequence[int] = (0,),
        settings: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        shielded: bool = False,
    ) -> Answer:
        """Run `git <args>` in `cwd` and wait for it.

        `ok` lists the exit codes that answer the question. Raises GitError for any other, GitTimeout when its
        time is up and Interrupted when a signal asks us to stop; its whole group has ended before this
        returns. A `shielded` command is short and better finished: a signal has to wait for it.
        """
        if not shielded:
            self._interrupts.check()
        with contextlib.ExitStack() as stack:
            out, err, source = self._streams(args, stdin, stack)
            began = time.monotonic()
            running = self._start(
                cwd, args, settings or {}, {"_in": source, "_out": out.descriptor, "_err": err.descriptor}
            )
            limit = self.timeout if timeout is None else timeout
            code = self._wait(running, args, limit, nullcontext() if shielded else self._interrupts.interruptible())
        stderr = next(err.chunks(), b"").decode("utf-8", "surrogateescape")
        logger.debug("git %s -> %s in %.1f ms", args, code, (time.monotonic() - began) * 1000)
        answer = Answer(tuple(args), code, stderr, out)
        if code not in ok:
            raise answer.error()
        return answer

    def _streams(self, args: Sequence[str], stdin: bytes, stack: contextlib.ExitStack) -> tuple[Output, Output, Any]:
        try:
            source = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            source.write(stdin)
            source.seek(0)
            return Output(), Output(), source
        except OSError as error:
            raise GitError(args, None, f"no temporary file for git's output: {error}") from error

    def open(self, cwd: Path, args: Sequence[str]) -> Conversation:
        """Start a command that answers questions on its standard output until it is closed."""
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        with os.fdopen(theirs_in, "rb") as source, os.fdopen(theirs_out, "wb") as sink:
            with open(os.devnull, "wb") as nowhere:
                running = self._start(cwd, args, {}, {"_in": source, "_out": sink, "_err": nowhere})
        return Conversation(running, ours_in, ours_out, tuple(args), self.timeout)

    def _start(self, cwd: Path, args: Sequence[str], settings: Mapping[str, str], streams: dict[str, Any]) -> Any:
        try:
            return self._git(
                *args,
                _cwd=os.fspath(cwd),
                _env={**self._environ, **config_variables(settings)},
                _bg=True,
                _bg_exc=False,
                _new_session=True,
                _tty_out=False,
                _return_cmd=True,
                _encoding=ANY_BYTES,
                **streams,
            )
        except (sh.ForkException, OSError, ValueError) as error:
            # sh puts a whole trace into the message; its last line is the cause.
            why = str(error).strip().rpartition("\n")[2].strip()
            raise GitError(args, None, f"git could not be started: {why}") from error

    def _wait(self, running: Any, args: Sequence[str], timeout: float, guard: AbstractContextManager[None]) -> int:
        try:
            with guard:
                in_time = has_ended(running.pid, timeout)
        except BaseException:
            end_group(running.pid)
            raise
        if not in_time:
            end_group(running.pid)
            raise GitTimeout(args, None, f"ended after {timeout:g} seconds")
        return exit_code(running)


class Conversation:
    """A running command, asked one line-sized question at a time."""

    def __init__(self, running: Any, reader: int, writer: int, argv: tuple[str, ...], timeout: float) -> None:
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
        exit_code(self._running)


def start_detached(argv: Sequence[str], environ: Mapping[str, str], log: Path) -> int:
    """Start a program that outlives this process, in a session of its own; its pid. Raises OSError.

    `argv[0]` is a path. What the program prints is appended to `log`. Nothing that this process has open goes along:
    whoever started us may wait for the other end of a pipe.
    """
    inherited = [number for number in map(int, os.listdir("/dev/fd")) if number > 2 and is_inherited(number)]
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.fspath(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *((os.POSIX_SPAWN_CLOSE, number) for number in inherited),
    ]
    return os.posix_spawn(argv[0], list(argv), environ, file_actions=actions, setsid=True)


def is_inherited(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False  # it was the listing's own


def exit_code(running: Any) -> int:
    """How an ended command ended; negative for a signal."""
    with contextlib.suppress(sh.ErrorReturnCode):
        running.wait()
    return int(running.exit_code)
