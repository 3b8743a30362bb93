"""The one place that starts a process.

Every command is an argv list, in a session of its own, with standard input closed or given, and output
in files rather than pipes: a listing of any size costs no memory, and a hook that keeps a descriptor open
cannot make us wait for it.

There are two ways to start one. What ends at once goes the short way, by `subprocess`, which does not copy this
process first: 1.5 ms a call. What may run long or runs other programs (hooks, filters, a user's command) goes the
long way, through `sh`, which forks the whole interpreter: 5 ms, and 10 in a large process.
"""

from __future__ import annotations

import codecs
import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from git_wave.git.answer import Answer, Output
from git_wave.git.conversation import Conversation
from git_wave.git.environment import carried_settings, config_variables, left_out, washed
from git_wave.git.processes import GRACE, Started, end_group, has_ended
from git_wave.model.errors import GitError, GitTimeout, Refusal, in_words
from git_wave.model.interrupts import Interrupts
from git_wave.model.reasons import Reason

logger = logging.getLogger("git_wave.git")
ANY_BYTES = "git-wave-any-bytes"
"""An encoding: `sh` encodes arguments strictly, and a path may hold bytes that are no UTF-8, carried as surrogates."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be started: `argv[0]` is a path, the streams are descriptors or what has one."""

    argv: Sequence[str]
    cwd: Path
    environ: dict[str, str]
    source: IO[bytes]
    out: IO[bytes] | int
    err: IO[bytes] | int


class Door:
    """Starts git: `environ` is washed here once, `timeout` is the seconds an ordinary command may take."""

    def __init__(self, environ: Mapping[str, str], timeout: float, interrupts: Interrupts | None = None) -> None:
        program = shutil.which("git", path=environ.get("PATH"))
        if program is None:
            raise Refusal(Reason.GIT_MISSING, "there is no `git` on PATH")
        self._git = program
        self._environ = washed(environ)
        self._carried = carried_settings(environ)
        self.timeout = timeout
        self._interrupts = interrupts or Interrupts()
        if unheard := left_out(environ):
            logger.debug("of the environment, git is not told %s", ", ".join(unheard))

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
        returns. A `shielded` command is short and better finished: a signal has to wait for it. One that is given
        a `timeout` of its own is one that may run long.
        """
        if not shielded:
            self._interrupts.check()
        with contextlib.ExitStack() as stack:
            source, out, err = self._streams(args, stdin, stack)
            began = time.monotonic()
            command = self._command(cwd, args, settings or {}, (source, out.descriptor, err.descriptor))
            running = start(command, long=timeout is not None)
            limit = self.timeout if timeout is None else timeout
            code = self._wait(running, args, limit, nullcontext() if shielded else self._interrupts.interruptible())
        stderr = next(err.chunks(), b"").decode("utf-8", "surrogateescape")
        logger.debug("git %s -> %s in %.1f ms", args, code, (time.monotonic() - began) * 1000)
        answer = Answer(tuple(args), code, stderr, out)
        if code not in ok:
            raise answer.error()
        return answer

    def open(self, cwd: Path, args: Sequence[str]) -> Conversation:
        """Start a command that answers questions on its standard output until it is closed."""
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        with os.fdopen(theirs_in, "rb") as source, os.fdopen(theirs_out, "wb") as sink:
            with open(os.devnull, "wb") as nowhere:
                running = start(self._command(cwd, args, {}, (source, sink, nowhere)))
        return Conversation(running, ours_in, ours_out, tuple(args), self.timeout)

    def _streams(self, args: Sequence[str], stdin: bytes, stack: contextlib.ExitStack) -> tuple[Any, Output, Output]:
        try:
            if not stdin:
                return stack.enter_context(open(os.devnull, "rb")), Output(), Output()
            source = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            source.write(stdin)
            source.seek(0)
            return source, Output(), Output()
        except OSError as error:
            raise GitError(args, None, f"no temporary file for git's output: {in_words(error)}") from error

    def _command(
        self, cwd: Path, args: Sequence[str], settings: Mapping[str, str], streams: tuple[Any, Any, Any]
    ) -> Command:
        return Command(
            [self._git, *args],
            cwd,
            {**self._environ, **config_variables([*self._carried, *settings.items()])},
            *streams,
        )

    def _wait(self, running: Started, args: Sequence[str], timeout: float, guard: AbstractContextManager[None]) -> int:
        try:
            with guard:
                in_time = has_ended(running.pid, timeout)
        except BaseException:
            end(running)
            raise
        if not in_time:
            end(running)
            raise GitTimeout(args, None, f"ended after {timeout:g} seconds")
        return running.exit_code()


def start(command: Command, *, long: bool = False) -> Started:
    """Start a command in a session of its own, the short way or the `long` one. Raises GitError."""
    args = command.argv[1:]
    try:
        return Long(command) if long else Short(command)
    except (OSError, ValueError) as error:
        raise GitError(args, None, f"git could not be started: {in_words(error)}") from error


def end(running: Started) -> None:
    """End a command with all that it started. One that even SIGKILL does not end at once is not waited for."""
    end_group(running.pid)
    if has_ended(running.pid, GRACE):
        running.exit_code()


class Short:
    """Started by `subprocess`, which uses vfork where the system has it."""

    def __init__(self, command: Command) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - an argv list, never a shell line
            command.argv,
            cwd=command.cwd,
            env=command.environ,
            stdin=command.source,
            stdout=command.out,
            stderr=command.err,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int:
        return self._process.wait()


class Long:
    """Started through `sh`. Raises OSError."""

    def __init__(self, command: Command) -> None:
        import sh  # 84 ms, which most commands never pay

        codecs.register(any_bytes)
        try:
            self._running = sh.Command(command.argv[0])(
                *command.argv[1:],
                _cwd=os.fspath(command.cwd),
                _env=command.environ,
                _in=command.source,
                _out=command.out,
                _err=command.err,
                _bg=True,
                _bg_exc=False,
                _new_session=True,
                _tty_out=False,
                _return_cmd=True,
                _encoding=ANY_BYTES,
            )
        except sh.ForkException as error:
            # sh puts a whole trace into the message; its last line is the cause.
            raise OSError(str(error).strip().rpartition("\n")[2].strip()) from error

    @property
    def pid(self) -> int:
        return int(self._running.pid)

    def exit_code(self) -> int:
        import sh

        with contextlib.suppress(sh.ErrorReturnCode):
            self._running.wait()
        return int(self._running.exit_code)


def any_bytes(name: str) -> codecs.CodecInfo | None:
    """The codec of `ANY_BYTES`, for `codecs.register`."""
    if name != ANY_BYTES.replace("-", "_"):
        return None

    def encode(text: str, _errors: str = "strict") -> tuple[bytes, int]:
        return os.fsencode(text), len(text)

    def decode(data: Any, _errors: str = "strict") -> tuple[str, int]:
        return os.fsdecode(bytes(data)), len(data)

    return codecs.CodecInfo(encode, decode, name=ANY_BYTES)


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
