"""A wave that is stopped in the middle of its first merge for as long as a test wants, by a hook."""

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from support.calling import program
from support.shim import Shim
from support.world import World

PAUSE = "[ ! -e {ran} ] || exit 0\ntouch {ran}\necho $$ >{pid}\necho started >{started}\nread -r word <{go}"


class Pause:
    """A pre-merge-commit hook that waits, the first time it runs, until it is told to go on."""

    def __init__(self, world: World) -> None:
        self.ends = {name: world.tmp / f"pause-{name}" for name in ("started", "go")}
        for fifo in self.ends.values():
            os.mkfifo(fifo)
        # Opened for both, so that neither this side nor the hook's ever blocks in opening.
        self.fds = {name: os.open(fifo, os.O_RDWR | os.O_NONBLOCK) for name, fifo in self.ends.items()}
        self.pid = world.tmp / "pause-pid"
        world.hook("pre-merge-commit", PAUSE.format(ran=world.tmp / "pause-ran", pid=self.pid, **self.ends))

    def wait_until_it_runs(self) -> None:
        readable, _, _ = select.select([self.fds["started"]], [], [], 60)
        assert readable, "the hook never started"

    def go_on(self) -> None:
        os.write(self.fds["go"], b"go\n")

    def close(self) -> None:
        self.go_on()
        for fd in self.fds.values():
            os.close(fd)


class Running:
    """A command of ours as a program of its own."""

    def __init__(self, *argv: str, prog: str = "cleanup-wave", cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [program(prog), *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def finish(self) -> tuple[int, dict[str, Any]]:
        """Exit code and document."""
        out, err = self.process.communicate(timeout=120)
        try:
            return self.process.returncode, json.loads(out)
        except ValueError as error:
            raise AssertionError(f"no JSON document (exit {self.process.returncode})\n{out}\n{err}") from error

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.communicate(timeout=60)

    def wait_until_it_asks(self, shim: Shim) -> None:
        """Until it has called git, which it does right before it needs the lock; fails when it ends first."""
        while not shim.calls():
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)


def wave(manifest: Path, *more: str, cwd: Path | None = None) -> Running:
    return Running("--manifest", str(manifest), "--format", "json", *more, cwd=cwd)
