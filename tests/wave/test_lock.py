"""One wave at a time per repository, and everybody is told who holds the lock."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.calling import call
from support.checks import assert_all_landed
from support.ours import everything
from support.pausing import Pause, Running, wave
from support.shim import Shim
from support.world import Agent, World


@pytest.fixture
def pause(world: World) -> Iterator[Pause]:
    pause = Pause(world)
    yield pause
    pause.close()


@pytest.fixture
def agents(world: World) -> list[Agent]:
    return [world.agent("one"), world.agent("two")]


@pytest.fixture
def holder(world: World, pause: Pause, agents: list[Agent]) -> Iterator[Running]:
    """A wave of the first agent, in the middle of its merge."""
    first = wave(world.manifest(agents[0], name="first.json"))
    pause.wait_until_it_runs()
    yield first
    pause.go_on()
    first.finish() if first.process.poll() is None else None


def assert_told_of(document: object, holder: Running) -> None:
    """Pid, host and start of the holder are in the document."""
    told = json.dumps(document)
    assert str(holder.pid) in told
    assert socket.gethostname() in told
    assert "since 20" in told


def test_a_second_wave_is_refused_and_told_who_holds_the_lock(
    world: World, holder: Running, agents: list[Agent]
) -> None:
    run = world.wave(agents[1])

    assert (run.code, run.doc["ok"], run.doc["reason"]) == (1, False, "wave_locked")
    assert_told_of(run.doc, holder)
    assert world.untouched(agents[1])


def test_the_wave_that_holds_the_lock_goes_on_undisturbed(
    world: World, holder: Running, pause: Pause, agents: list[Agent]
) -> None:
    assert world.wave(agents[1]).doc["reason"] == "wave_locked"
    pause.go_on()

    code, doc = holder.finish()

    assert (code, doc["ok"], world.landed(agents[0])) == (0, True, True)
    assert_all_landed(world, world.wave(agents[1]), agents[1])


def test_from_a_linked_worktree_the_lock_is_the_same_one(world: World, holder: Running, agents: list[Agent]) -> None:
    other = world.tmp / "other-checkout"
    world.git("worktree", "add", "-q", "-b", "other", other, "HEAD")

    run = world.wave(agents[1], args=["--root", str(other)])

    assert (run.code, run.doc["reason"]) == (1, "wave_locked")
    assert_told_of(run.doc, holder)


def test_a_wave_from_a_linked_worktree_locks_the_main_checkout_out(
    world: World, pause: Pause, agents: list[Agent]
) -> None:
    other = world.tmp / "other-checkout"
    world.git("worktree", "add", "-q", "-b", "other", other, "HEAD")
    first = wave(world.manifest(agents[0], name="first.json"), "--root", str(other))
    pause.wait_until_it_runs()

    run = world.wave(agents[1])

    assert (run.code, run.doc["reason"]) == (1, "wave_locked")
    pause.go_on()
    code, doc = first.finish()
    assert (code, doc["ok"]) == (0, True)
    assert world.git_code("merge-base", "--is-ancestor", agents[0].tip, "other") == 0
    assert not world.merged(agents[0].tip)


def test_another_repository_has_a_lock_of_its_own(
    world: World, holder: Running, tmp_path: Path, template: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = World(tmp_path / "elsewhere", template, dict(os.environ))
    agent = other.agent("three")

    assert_all_landed(other, other.wave(agent), agent)


def test_a_wave_that_waits_gets_its_turn(
    world: World, holder: Running, pause: Pause, agents: list[Agent], shim: Shim
) -> None:
    second = wave(world.manifest(agents[1], name="second.json"), "--wait", "100")
    second.wait_until_it_asks(shim)
    assert world.untouched(agents[1])
    pause.go_on()

    assert [holder.finish()[0], second.finish()[0]] == [0, 0]

    assert all(world.landed(agent) for agent in agents)


def test_a_wave_that_waits_for_the_same_manifest_finds_it_landed(
    world: World, holder: Running, pause: Pause, agents: list[Agent], shim: Shim
) -> None:
    second = wave(world.tmp / "first.json", "--wait", "100")
    second.wait_until_it_asks(shim)
    pause.go_on()
    assert holder.finish()[0] == 0

    code, doc = second.finish()

    assert (code, [entry["reason"] for entry in doc["result"]["entries"]]) == (0, ["already_landed"])
    assert world.git("rev-list", "--count", "--merges", "HEAD") == "1"


def test_a_wave_that_waited_in_vain_is_refused(world: World, holder: Running, agents: list[Agent]) -> None:
    run = world.wave(agents[1], args=["--wait", "0.2"])

    assert (run.code, run.doc["reason"]) == (1, "wave_locked")
    assert_told_of(run.doc, holder)


@pytest.mark.parametrize("seconds", ["-1", "soon", "nan"])
def test_a_wait_that_is_no_time_is_wrong_usage(world: World, seconds: str) -> None:
    answer = call("--manifest", str(world.manifest()), "--wait", seconds, prog="cleanup-wave")

    assert (answer.code, answer.out) == (2, "")


def test_a_dead_holders_lock_is_free_at_once(world: World, holder: Running, pause: Pause, agents: list[Agent]) -> None:
    holder.kill()
    os.kill(int(pause.pid.read_text()), signal.SIGKILL)

    run = world.wave(*agents)

    assert run.code == 0, run.doc
    assert all(world.landed(agent) for agent in agents)


@pytest.mark.parametrize("left", ["", "garbage\0", '{"pid": 1, "host": "elsewhere", "since": "2020-01-01"}', "[]"])
def test_files_that_a_dead_holder_left_are_no_lock(world: World, agents: list[Agent], left: str) -> None:
    home = world.root / ".git/git-wave"
    home.mkdir()
    for name in ("lock", "holder.json"):
        (home / name).write_text(left)

    assert_all_landed(world, world.wave(*agents), *agents)


def test_a_dry_run_looks_while_a_wave_is_running(world: World, holder: Running, agents: list[Agent]) -> None:
    run = world.wave(agents[1], args=["--dry-run"])

    assert (run.code, run.doc["ok"]) in {(0, True), (1, False)}
    assert world.untouched(agents[1])
    assert holder.process.poll() is None


def test_recording_goes_on_while_a_wave_is_running(world: World, holder: Running, agents: list[Agent]) -> None:
    manifest = world.manifest(agents[1], name="second.json")
    more = ("--agent-id=x", "--path=/x", "--branch=agent-x", f"--base={agents[1].base}")

    answer = call("--manifest", str(manifest), *more, prog="record-agent")

    assert answer.code == 0
    assert len(json.loads(manifest.read_text())["worktrees"]) == 2


@pytest.mark.parametrize("command", ["undo", "gc"])
def test_what_would_change_our_state_waits_for_no_wave(world: World, holder: Running, command: str) -> None:
    answer = call(command, "--root", str(world.root))

    assert (answer.code, answer.doc["reason"]) == (1, "wave_locked")


def test_the_lock_is_free_again_after_a_refusal(world: World, agents: list[Agent]) -> None:
    before = everything(world)
    assert world.wave(*agents, args=["--expect-branch", "elsewhere"]).doc["reason"] == "unexpected_branch"
    assert everything(world) == before

    assert_all_landed(world, world.wave(*agents), *agents)
