"""One wave at a time per repository, across processes and linked worktrees.

The lock is the kernel's: it goes with its holder, however that ends. Who holds it is written beside it, for people.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from git_wave.model.errors import Refusal
from git_wave.model.reasons import Reason
from git_wave.state.atomic import replace_file
from git_wave.state.named_files import read_regular


@contextmanager
def wave_lock(common_dir: Path, wait: float) -> Iterator[None]:
    """Hold the repository's wave lock, waiting for it up to `wait` seconds.

    Raises Refusal with `wave_locked` and the holder, or `state_unwritable`.
    """
    from filelock import FileLock, Timeout  # a dry run and record-agent do not need it

    home = common_dir / "git-wave"
    holder = home / "holder.json"
    try:
        home.mkdir(exist_ok=True)
        lock = FileLock(home / "lock", timeout=wait, poll_interval=0.02)
        lock.acquire()
    except Timeout as error:
        raise Refusal(Reason.WAVE_LOCKED, f"held by {holder_of(holder)}") from error
    except OSError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, f"{home}: {error.strerror or error}") from error
    try:
        announce(holder)
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def announce(holder: Path) -> None:
    try:
        replace_file(holder, holder_card())
    except OSError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, f"{holder}: {error.strerror or error}") from error


def holder_card() -> bytes:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()


def holder_of(path: Path) -> str:
    """The holder in words, as far as it can be known."""
    try:
        card = json.loads(read_regular(path))
        return f"pid {card['pid']} on {card['host']} since {card['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that did not say who it is"
