"""Git's lock files in somebody else's hands: waited for, named when they stay, never removed."""

import shlex
import threading
from pathlib import Path

import pytest

from support.checks import assert_all_landed
from support.ours import everything
from support.repo import put
from support.shim import Shim
from support.world import Agent, Run, World

# Lock file, and how an entry ends that meets it and cannot get past.
BEFORE_THE_MERGE = ["index.lock", "HEAD.lock", "refs/heads/main.lock"]
IN_THE_TEARDOWN = ["refs/heads/worktree-agent-one.lock", "packed-refs.lock", "config.lock"]
LOCKS = [*BEFORE_THE_MERGE, *IN_THE_TEARDOWN]


def an_agent(world: World) -> Agent:
    """One whose branch is packed and has a section in git's config, so that every file has to be written."""
    agent = world.agent("one")
    world.git("config", f"branch.{agent.branch}.description", "x")
    world.git("pack-refs", "--all")
    put(world.root / "LICENSE", "edited\n")
    return agent


def hold(world: World, name: str) -> Path:
    return put(world.root / ".git" / name, "")


def let_go_when_met(shim: Shim, lock: Path, times: int = 1) -> None:
    """The lock goes once so many git commands have failed while it was there; that of the index, which is looked for
    before any command, in a moment."""
    if lock.name == "index.lock":
        threading.Timer(0.3, lock.unlink).start()
        return
    name, said = shlex.quote(str(lock)), '"$state/said"'
    meet = f'"$real" "$@" 2>{said}; code=$?; cat {said} >&2\n'
    meet += f'if [ "$code" != 0 ] && count met && [ "$n" = {times} ]; then rm -f {name}; fi\n'
    shim.rules.append(f'case $sub in cat-file) ;; *) if [ -e {name} ]; then {meet}exit "$code"; fi ;; esac\n')
    shim.install()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_that_is_released_in_time_is_waited_for(world: World, shim: Shim, name: str) -> None:
    agent = an_agent(world)
    let_go_when_met(shim, hold(world, name), times=2)

    run = world.wave(agent)

    assert_all_landed(world, run, agent)
    assert not (world.root / ".git" / name).exists(), "no git command ever met the lock"
    assert world.git("status", "--porcelain") == " M LICENSE"
    assert world.git_code("config", f"branch.{agent.branch}.description") == 1


@pytest.mark.parametrize("name", BEFORE_THE_MERGE)
def test_a_lock_that_stays_in_the_way_of_a_merge_blocks_and_is_named(world: World, name: str) -> None:
    agent = an_agent(world)
    world.git("config", "wave.lockTimeout", "0.2")
    lock = hold(world, name)
    head, status = world.head(), world.git("--no-optional-locks", "status", "--porcelain")

    run = world.wave(agent)

    assert_named(run, agent, lock, "repo_locked")
    assert run.code == 1
    assert (world.head(), world.git("--no-optional-locks", "status", "--porcelain")) == (head, status)
    assert world.untouched(agent)
    assert not (world.root / ".git/MERGE_HEAD").exists()
    assert_lands_without(world, agent, lock)


@pytest.mark.parametrize("name", IN_THE_TEARDOWN)
def test_a_lock_that_stays_in_the_way_of_a_deletion_is_named(world: World, name: str) -> None:
    agent = an_agent(world)
    world.git("config", "wave.lockTimeout", "0.2")
    lock = hold(world, name)

    run = world.wave(agent)

    assert run.outcome(agent) in {("warning", "branch_delete_failed"), ("warning", "repo_locked")}, run.doc
    assert_named(run, agent, lock, run.entry(agent)["reason"])
    assert (run.code, run.doc["ok"], world.reachable(agent.tip)) == (1, False, True)
    assert_lands_without(world, agent, lock)


def assert_named(run: Run, agent: Agent, lock: Path, reason: str) -> None:
    assert run.entry(agent)["reason"] == reason, run.doc
    assert lock.name in run.entry(agent)["stderr"]
    assert lock.exists(), "somebody's lock is gone"


def assert_lands_without(world: World, agent: Agent, lock: Path) -> None:
    """Once the lock is gone, the same command does what is left, with nothing left over."""
    lock.unlink()
    run = world.wave(agent)
    assert (run.code, world.landed(agent)) == (0, True), run.doc
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.git_code("config", f"branch.{agent.branch}.description") == 1
    assert world.fsck() == ""


def test_the_second_entry_is_tried_though_the_first_met_a_lock(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    world.git("config", "wave.lockTimeout", "0.2")
    hold(world, f"refs/heads/{one.branch}.lock")

    run = world.wave(one, two)

    assert run.outcome(one)[1] in {"branch_delete_failed", "repo_locked"}
    assert run.outcome(two) == ("merged_removed", "ok")
    assert (run.code, world.landed(two)) == (1, True)


def test_waiting_is_told_at_debug_level(world: World, shim: Shim) -> None:
    agent = an_agent(world)
    let_go_when_met(shim, hold(world, "index.lock"), times=2)
    log = world.tmp / "wave.log"

    run = world.wave(agent, args=["--log-file", str(log)])

    assert run.code == 0
    assert "index.lock" in log.read_text()
    assert "index.lock" not in run.err


def test_a_lock_on_the_backups_stops_the_entry_before_anything_changes(world: World, shim: Shim) -> None:
    """The first ref that is written is ours; while it cannot be, nothing else may be done."""
    agent = an_agent(world)
    world.git("config", "wave.lockTimeout", "0.2")
    lock = world.tmp / "refs.lock"
    words = f"fatal: Unable to create '{lock}': File exists.\n"
    shim.fail("update-ref", 128, stderr=words)
    before = everything(world)

    run = world.wave(agent)

    assert run.outcome(agent) == ("blocked", "repo_locked")
    assert str(lock) in run.entry(agent)["stderr"]
    assert everything(world) == before


def test_what_is_no_lock_is_not_tried_again(world: World, shim: Shim) -> None:
    agent = an_agent(world)
    shim.fail("merge", 128, stderr="fatal: something else\n")

    run = world.wave(agent)

    assert run.outcome(agent) == ("blocked", "merge_failed")
    assert len([call for call in shim.calls("merge") if "--abort" not in call]) == 1


@pytest.mark.parametrize("edited", [True, False])
def test_no_merge_is_begun_while_somebody_holds_the_index(world: World, shim: Shim, edited: bool) -> None:
    world.git("config", "wave.lockTimeout", "0.2")
    agent = world.agent("one")
    if edited:
        put(world.root / "LICENSE", "edited\n")
    hold(world, "index.lock")
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "repo_locked")
    assert run.entry()["stderr"] == str(world.root / ".git/index.lock")
    assert shim.calls("merge") == []
    assert world.snapshot() == before
    assert world.wave(agent, args=["--dry-run"]).outcome() == ("blocked", "repo_locked")
