"""A caller that is killed while git goes on by itself: what git then does is part of what the next run finds."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.conftest import Scene
from support.five import Five
from support.forked import ended, start_forked
from support.shim import Shim
from support.waiting import StuckHook, still_alive

GATED = """\
if [ ! -e {flag} ]; then
    touch {flag}
    echo $$ >>{pids}
    echo started >{started}
    read go <{gate}
    exit {code}
fi
"""


class GatedHook(StuckHook):
    """A pre-merge-commit hook that, the first time, says that it runs and waits to be let go, then ends with `code`."""

    def __init__(self, five: Five, code: int) -> None:
        super().__init__(five.world)
        self.gate = five.world.tmp / "gate"
        os.mkfifo(self.gate)
        self.gate_fd = os.open(self.gate, os.O_RDWR | os.O_NONBLOCK)
        flag, started = five.world.tmp / "hook-ran", five.world.tmp / "hook-started"
        script = GATED.format(flag=flag, pids=self.pids, started=started, gate=self.gate, code=code)
        five.world.hook("pre-merge-commit", script)

    def close(self) -> None:
        super().close()
        os.close(self.gate_fd)


@pytest.fixture
def hooks() -> Iterator[list[StuckHook]]:
    made: list[StuckHook] = []
    yield made
    for hook in made:
        hook.close()


def orphan(five: Five, hook: StuckHook) -> None:
    """Kill the command while its merge sits in the hook."""
    caller = start_forked("cleanup-wave", five.argv)
    hook.wait_until_it_runs()
    os.kill(caller, signal.SIGKILL)
    assert ended(caller) == -9
    assert still_alive(hook.pids, patience=0), "the hook should go on without the caller"
    five.assert_nothing_lost()


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.deep)])
def test_an_orphaned_merge_ends_while_the_rerun_starts(
    scene: Scene, shim: Shim, hooks: list[StuckHook], code: int, number: int
) -> None:
    five = scene("orphan")
    hook = GatedHook(five, code)
    hooks.append(hook)
    orphan(five, hook)
    shim.rules[:] = [f'if count calls-so-far && [ "$n" = {number} ]; then echo go >{hook.gate}; fi\n']
    shim.install()

    run = five.world.wave(five.manifest)

    assert run.code == 0, run.doc
    five.finish()


@pytest.mark.parametrize("code", [0, 1])
def test_an_orphaned_merge_ends_while_the_rerun_waits_for_it(scene: Scene, hooks: list[StuckHook], code: int) -> None:
    five = scene("orphan")
    hook = GatedHook(five, code)
    hooks.append(hook)
    orphan(five, hook)
    rerun = start_forked("cleanup-wave", five.argv)
    holder = five.world.root / ".git/git-wave/holder.json"
    while f'"pid": {rerun},' not in (holder.read_text() if holder.exists() else ""):
        assert os.waitpid(rerun, os.WNOHANG) == (0, 0), "the rerun ended without taking the lock"

    os.write(hook.gate_fd, b"go\n")

    assert ended(rerun) == 0
    five.finish()


def test_an_orphaned_merge_that_never_ends_is_ended_when_its_time_is_up(scene: Scene, hooks: list[StuckHook]) -> None:
    five = scene("orphan")
    hook = StuckHook(five.world)
    hooks.append(hook)
    orphan(five, hook)
    five.world.git("config", "wave.gitTimeout", "3")

    run = five.world.wave(five.manifest)

    assert run.code == 0, run.doc
    assert hook.alive() == []
    five.finish()


def test_an_orphan_of_another_run_is_left_alone(scene: Scene, hooks: list[StuckHook], shim: Shim) -> None:
    """A merge of the user's own in another checkout of the same repository is nobody's orphan."""
    five = scene("orphan")
    other = five.world.agent("other", branch="theirs")
    hook = StuckHook(five.world)
    hooks.append(hook)
    theirs = Path(other.path)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.chdir(theirs)
        os.execve("/bin/sh", ["sh", "-c", "git merge --no-ff --no-edit worktree-agent-clean"], dict(os.environ))
    hook.wait_until_it_runs()

    run = five.world.wave(five.manifest)

    assert hook.pids.exists()
    assert still_alive(hook.pids, patience=0), "somebody else's merge was ended"
    assert run.code == 0, run.doc
    os.kill(pid, signal.SIGKILL)
    ended(pid)
