"""Waiting for processes we started, and ending them with all that they started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Sequence
from typing import Any, Protocol

GRACE = 2.0
"""Seconds between the polite and the final signal to a process group whose time is up."""


class Started(Protocol):
    """A command that was started; `pid` leads a process group of its own."""

    @property
    def pid(self) -> int: ...

    def exit_code(self) -> int:
        """Wait for its end and reap it; negative for the signal that ended it."""


def has_ended(pid: int, timeout: float) -> bool:
    """Wait for a child without reaping it: that is left to whoever started it. `subprocess` and `sh` wait for a
    limited time by looking again and again, up to 50 and 100 ms apart: longer than most git commands take."""
    deadline = time.monotonic() + timeout
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        pause = 0.0005
        while child_lives(pid):
            if time.monotonic() > deadline:
                return False
            time.sleep(pause := min(pause * 2, 0.02))
        return True
    try:
        return bool(select.select([descriptor], [], [], timeout)[0])
    finally:
        os.close(descriptor)


def child_lives(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
    except ChildProcessError:
        return False


def end_group(pid: int) -> None:
    """End the process group that `pid` leads, and whatever its processes started in groups of their own."""
    strays = descendants(pid)
    for signum in (signal.SIGTERM, signal.SIGKILL):
        targets = [stray for stray in strays if stray.is_running()]
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signum)
        for stray in targets:
            with contextlib.suppress(OSError):
                os.kill(stray.pid, signum)
        deadline = time.monotonic() + GRACE
        while signum is signal.SIGTERM and time.monotonic() < deadline and group_lives(pid, strays):
            time.sleep(0.02)


def descendants(pid: int) -> list[Any]:
    import psutil  # only a command that must be ended pays for it

    with contextlib.suppress(psutil.Error):
        return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return []


def group_lives(pid: int, strays: Sequence[Any]) -> bool:
    import psutil

    def lives(process: Any) -> bool:
        with contextlib.suppress(psutil.Error):
            return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
        return False

    if any(lives(stray) for stray in strays):
        return True
    with contextlib.suppress(OSError):
        return any(os.getpgid(p.pid) == pid and lives(p) for p in psutil.process_iter())
    return False
