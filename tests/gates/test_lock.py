"""Is it free of a lock that somebody may still want?"""

import os
from datetime import UTC, datetime, timedelta

import pytest

from git_wave.gates.lock import GATE
from support.asking import CLEAR, ask, told
from support.standing import dead_pid, running, zombie_of
from support.world import Agent, World

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def lock(world: World, reason: str, age: timedelta = timedelta(hours=1)) -> Agent:
    agent = world.agent("a")
    world.git("worktree", "lock", f"--reason={reason}", str(agent.path))
    at = (NOW - age).timestamp()
    os.utime(world.root / ".git/worktrees/a/locked", (at, at))
    return agent


def test_a_worktree_without_a_lock_is_clear(world: World) -> None:
    assert told(ask(GATE, world, world.agent("a"))) == CLEAR


@pytest.mark.parametrize("reason", ["claude agent a (pid {})", "{}", " {} \n"])
def test_an_old_lock_of_a_dead_process_is_clear(world: World, reason: str) -> None:
    agent = lock(world, reason.format(dead_pid()))

    assert told(ask(GATE, world, agent, now=NOW)) == CLEAR


@pytest.mark.parametrize("seconds", [299, 300, 0, -600])
def test_a_fresh_lock_of_a_dead_process_stays(world: World, seconds: int) -> None:
    agent = lock(world, f"pid {dead_pid()}", timedelta(seconds=seconds))

    assert told(ask(GATE, world, agent, now=NOW)) == ("blocks", "lock_too_fresh")


@pytest.mark.parametrize("reason", ["", "mine, do not touch", "claude agent a", "process 123", "7 days, please", "1 2"])
def test_a_lock_that_names_no_process_stays(world: World, reason: str) -> None:
    agent = lock(world, reason)

    assert told(ask(GATE, world, agent, now=NOW)) == ("blocks", "lock_owner_unknown")


def test_a_lock_of_a_live_process_stays_and_so_does_one_whose_pid_was_used_again(world: World) -> None:
    with running(["sleep", "600"]) as pid:
        # Locked an hour before the process that has the pid now began.
        agent = lock(world, f"pid {pid}")
        answer = ask(GATE, world, agent, now=datetime.now(UTC))

    assert told(answer) == ("blocks", "pid_alive")
    assert str(pid) in answer.why[0]


def test_one_live_process_of_several_keeps_it(world: World) -> None:
    agent = lock(world, f"pid {dead_pid()}, pid {os.getpid()}")

    assert told(ask(GATE, world, agent, now=NOW)) == ("blocks", "pid_alive")


@pytest.mark.parametrize("pid", ["0", "99999999999"])
def test_a_number_that_is_no_pid_is_not_dead(world: World, pid: str) -> None:
    assert told(ask(GATE, world, lock(world, f"pid {pid}"), now=NOW)) == ("blocks", "pid_alive")


def test_a_zombie_is_not_provably_dead(world: World) -> None:
    with zombie_of(world.root) as pid:
        assert told(ask(GATE, world, lock(world, f"pid {pid}"), now=NOW)) == ("blocks", "pid_alive")


def test_an_age_that_cannot_be_told_is_no_answer(world: World) -> None:
    agent = lock(world, f"pid {dead_pid()}")

    assert told(ask(GATE, world, agent)) == ("cannot_tell", "lock_age_unknown")


def test_a_lock_that_cannot_be_read_is_no_answer(world: World) -> None:
    agent = world.agent("a")
    (world.root / ".git/worktrees/a/locked").mkdir()

    assert told(ask(GATE, world, agent, now=NOW)) == ("cannot_tell", "cannot_tell")
