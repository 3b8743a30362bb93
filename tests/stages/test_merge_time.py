"""A merge that outlives its time: everything it started is dead, and the checkout exactly as before."""

from collections.abc import Iterator

import pytest

from support.calling import call
from support.repo import prose, put
from support.waiting import StuckHook
from support.world import World

LEFTOVERS = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "MERGE_AUTOSTASH",
    "index.lock",
    "HEAD.lock",
]


@pytest.fixture
def stuck(world: World) -> Iterator[StuckHook]:
    hook = StuckHook(world)
    yield hook
    hook.close()


def leftovers(world: World) -> list[str]:
    return [name for name in LEFTOVERS if (world.root / ".git" / name).exists()]


def test_a_stuck_hook_is_dead_with_its_children_and_the_next_lands(world: World, stuck: StuckHook) -> None:
    bad, good = world.agent("bad"), world.agent("good")

    run = world.wave(bad, good, args=["--merge-timeout", "1"])

    assert stuck.ran()
    assert stuck.alive() == []
    assert run.code == 1
    assert run.outcome(bad) == ("blocked", "merge_timed_out")
    assert run.entry(bad)["merge_commit"] is None
    assert world.untouched(bad)
    assert world.landed(good)
    assert leftovers(world) == []
    assert world.git("status", "--porcelain") == ""


def test_a_stuck_hook_leaves_the_users_edits_exactly_as_they_were(world: World, stuck: StuckHook) -> None:
    agent = world.agent("a", {"src/app.py": prose("better"), "new/file.txt": "new\n"}, ["LICENSE"])
    put(world.root / "README.md", "edited\n")
    (world.root / "setup.cfg").unlink()
    put(world.root / "scratch.txt", "untracked\n")
    put(world.root / "debug.log", "ignored\n")
    world.git("config", "merge.autoStash", "true")
    before = world.snapshot()

    run = world.wave(world.entry(agent, declared_deletions=["LICENSE"]), args=["--merge-timeout", "1"])

    assert run.outcome() == ("blocked", "merge_timed_out")
    assert world.snapshot() == before
    assert leftovers(world) == []
    assert not (world.root / "new").exists()


def test_what_timed_out_lands_when_it_is_run_again(world: World, stuck: StuckHook) -> None:
    agent = world.agent("a")
    assert world.wave(agent, args=["--merge-timeout", "1"]).outcome() == ("blocked", "merge_timed_out")

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok")
    assert world.landed(agent)


def test_a_merge_killed_while_it_writes_files_is_taken_back(world: World, stuck: StuckHook) -> None:
    """The filter gets stuck on one file when others are written already and the index is the old one."""
    (world.root / ".git/hooks/pre-merge-commit").unlink()
    world.commit(write={".gitattributes": "*.slow filter=slow\n", "m.slow": "old\n"})
    agent = world.agent("a", {"README.md": prose("better"), "m.slow": "new\n", "zz/new.txt": "n\n"}, ["LICENSE"])
    script = put(world.tmp / "slow", f"#!/bin/sh\n{stuck.script}\ncat\n")
    script.chmod(0o755)
    world.git("config", "filter.slow.smudge", str(script))
    world.git("config", "filter.slow.clean", "cat")
    put(world.root / "setup.cfg", "edited\n")
    put(world.root / "debug.log", "ignored\n")
    before = world.snapshot()

    run = world.wave(world.entry(agent, declared_deletions=["LICENSE"]), args=["--merge-timeout", "2"])

    assert stuck.ran()
    assert stuck.alive() == []
    assert run.outcome() == ("blocked", "merge_timed_out")
    assert world.snapshot() == before
    assert leftovers(world) == []
    assert world.untouched(agent)


def test_the_time_of_merges_can_be_set_in_the_config(world: World, stuck: StuckHook) -> None:
    world.git("config", "wave.mergeTimeout", "1")

    run = world.wave(world.agent("a"))

    assert run.outcome() == ("blocked", "merge_timed_out")


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan"])
def test_a_time_that_is_none_is_wrong_usage(world: World, value: str) -> None:
    agent = world.agent("a")
    manifest = str(world.manifest(agent))

    answer = call("--manifest", manifest, f"--merge-timeout={value}", prog="cleanup-wave")

    assert (answer.code, answer.out) == (2, "")
    assert "--merge-timeout" in answer.err
    assert world.untouched(agent)
