"""Processes that a test waits for by what they do, never by the clock."""

import contextlib
import os
import select
import signal
from pathlib import Path

import psutil

from support.world import World

STUCK = """\
if [ ! -e {flag} ]; then
    touch {flag}
    trap '' TERM INT HUP
    sleep 600 & echo $! >>{pids}
    (sleep 600 & echo $! >>{pids}; wait) & echo $! >>{pids}
    echo $$ >>{pids}
    echo started >{fifo}
    wait
    sleep 600
fi
"""


class StuckHook:
    """A hook that gets stuck with children of its own the first time it runs, and says so when it does."""

    def __init__(self, world: World, name: str = "pre-merge-commit") -> None:
        self.pids = world.tmp / "hook-pids"
        fifo = world.tmp / "hook-started"
        os.mkfifo(fifo)
        # Opened for both, so that the hook's own opening never blocks and this end never sees the end.
        self.fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        self.script = STUCK.format(flag=world.tmp / "hook-ran", pids=self.pids, fifo=fifo)
        world.hook(name, self.script)

    def wait_until_it_runs(self) -> None:
        readable, _, _ = select.select([self.fd], [], [], 60)
        assert readable, "the hook never started"

    def ran(self) -> bool:
        return self.pids.exists()

    def alive(self) -> list[int]:
        """Those of its processes that are still there, a moment after they should be gone."""
        return still_alive(self.pids)

    def kill(self) -> None:
        """End whatever is left of it."""
        for pid in still_alive(self.pids, patience=0):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        os.close(self.fd)


def still_alive(pids: Path, patience: float = 10) -> list[int]:
    known = [int(line) for line in pids.read_text().split()] if pids.exists() else []
    found = [psutil.Process(pid) for pid in known if psutil.pid_exists(pid)]
    _, left = psutil.wait_procs([one for one in found if not _is_zombie(one)], timeout=patience)
    return [one.pid for one in left if not _is_zombie(one)]


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
