"""What earlier runs left in the repository: open journals, unfinished creates, kept output, backups, the lock."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from git_wave.doctor._check import Check, ok, some, warning
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.harness.seen import owned
from git_wave.recovery import is_settled
from git_wave.state.expiry import begun_at
from git_wave.state.journal import History, list_histories
from git_wave.state.named_files import read_regular
from git_wave.state.processes import is_dead
from git_wave.state.requests import list_requests
from git_wave.state.wave_lock import holder_of

OLD = timedelta(days=90)
COUNTED = 10_000
"""Files whose sizes are added up; beyond, the sum is "at least"."""
RERUN = "Run the same command again: it settles what was left, and goes on."


def home(common_dir: Path) -> Path:
    return common_dir / "git-wave"


def check_lock(common_dir: Path) -> Iterator[Check]:
    """Who holds the wave lock, as far as it is written down; the lock itself is not tried, that would hold it."""
    card = home(common_dir) / "holder.json"
    if not card.exists():
        yield ok("lock", "no run is going on")
    elif holder_is_dead(card):
        yield warning("lock", f"{holder_of(card)} died", f"The lock went with it. {RERUN}")
    else:
        yield ok("lock", f"a run is going on, or was: {holder_of(card)}")


def holder_is_dead(card: Path) -> bool:
    try:
        written = json.loads(read_regular(card))
        return written["host"] == socket.gethostname() and is_dead(written["pid"])
    except (ValueError, KeyError, TypeError):
        return False


def check_journals(common_dir: Path) -> Iterator[Check]:
    histories = list_histories(common_dir)
    unread = [history.id for history in histories if history.began is None]
    unended = open_runs(histories)
    if unended:
        yield warning("journals", f"without an end: {some(unended)}", RERUN)
    if unread:
        advice = f"Look at the files in {home(common_dir) / 'waves'}; `git wave log` leaves them out."
        yield warning("journals", f"no first line that can be read: {some(unread)}", advice)
    if not unended and not unread:
        yield ok("journals", f"{len(histories)} runs on record, all ended")


def open_runs(histories: list[History]) -> list[str]:
    """Runs that were cut short, or could not put a merge back."""
    return [history.id for history in histories if history.began and not is_settled(history)]


def check_creates(common_dir: Path) -> Iterator[Check]:
    """Worktrees that somebody was making when the intent was written, and still is or was killed at."""
    intents = [name for name in names_in(home(common_dir) / "creating") if name.endswith(".json")]
    if intents:
        advice = "If nobody is at it, the next `git wave` command that changes something undoes it."
        yield warning("creates", f"unfinished: {some(intents)}", advice)
    else:
        yield ok("creates", "none unfinished")


def check_requests(common_dir: Path) -> Iterator[Check]:
    """Sessions that have ended and whose worktrees are still to be reaped."""
    waiting = [request.session for request in list_requests(common_dir)]
    if waiting:
        advice = "The next session that starts has it done; `git wave reap --session <session>` does it now."
        yield warning("sessions", f"ended, and still to be reaped: {some(waiting)}", advice)
    else:
        yield ok("sessions", "none waits to be reaped")


def check_scratch(common_dir: Path) -> Iterator[Check]:
    if left := names_in(home(common_dir) / "tmp"):
        where = home(common_dir) / "tmp"
        yield warning("scratch", f"{len(left)} copies in the making in {where}", "Delete them when no run is going on.")


def check_kept(common_dir: Path) -> Iterator[Check]:
    """Ignored output that was moved out of removed worktrees."""
    place = home(common_dir) / "kept"
    runs = names_in(place)
    if not runs:
        yield ok("kept output", "none")
        return
    size = size_below(place)
    yield ok("kept output", f"of {len(runs)} runs, {size}, in {place}; `git wave kept` manages it")


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes in files, and whether there are more than were counted."""

    size: int
    cut: bool

    def __str__(self) -> str:
        number, unit = float(self.size), "bytes"
        for bigger in ("KiB", "MiB", "GiB", "TiB"):
            if number < 1024:
                break
            number, unit = number / 1024, bigger
        return f"{'at least ' if self.cut else ''}{number:.4g} {unit}"


def size_below(place: Path) -> Size:
    total = files = 0
    for folder, _, names in os.walk(place):
        for name in names:
            if files == COUNTED:
                return Size(total, cut=True)
            total += os.lstat(Path(folder) / name).st_size
            files += 1
    return Size(total, cut=False)


def check_backups(reads: Reads, now: datetime) -> Iterator[Check]:
    refs = reads.backup_refs()
    runs = sorted({ref.split("/")[2] for ref in refs})
    begun = [at for at in map(begun_at, runs) if at]
    if not runs:
        yield ok("backups", "none")
    elif begun and now - min(begun) > OLD:
        detail = f"{len(refs)} refs of {len(runs)} runs, the oldest {(now - min(begun)).days} days old"
        yield warning("backups", detail, "`git wave gc` expires those older than 30 days; nothing else does.")
    else:
        oldest = f", the oldest {(now - min(begun)).days} days old" if begun else ""
        yield ok("backups", f"{len(refs)} refs of {len(runs)} runs{oldest}")


def names_in(directory: Path) -> list[str]:
    """What stands in a directory of ours; none when there is no such directory. Raises OSError."""
    try:
        return sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except FileNotFoundError:
        return []


def leftovers_line(reads: Reads, session: str) -> str | None:
    """What others than this session left in the repository, in one line; None when that is nothing.

    Raises OSError or GitError.
    """
    common_dir = reads.layout.common_dir
    gone = sum(reads.presence(Path(one.path)) is Presence.GONE for one in reads.registrations[1:])
    found = {
        "agents' worktrees are there": sum(one.owner.parent != session for one in owned(reads)),
        "worktrees are registered and gone": gone,
        "runs were cut short": len(open_runs(list_histories(common_dir))),
        "ended sessions wait to be reaped": len(list_requests(common_dir)),
    }
    told = [f"{number} {words}" for words, number in found.items() if number]
    return f"git-wave: {', '.join(told)}; `git wave doctor` tells more" if told else None
