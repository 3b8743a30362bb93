"""`wave.ignoredOutput` and `wave.regenerable`: what becomes of ignored files, by choice."""

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import put
from support.shim import Shim
from support.world import World, files_below


def kept_files(world: World) -> list[str]:
    return [path for path in files_below(world.root / ".git/git-wave") if path.startswith("kept/")]


def test_block_keeps_the_entry_from_merging(world: World) -> None:
    world.git("config", "wave.ignoredOutput", "block")
    agent, fine = world.agent("a"), world.agent("b")
    put(agent.path / "run.log", "output")
    put(fine.path / "node_modules/x.js", "x")
    run = world.wave(agent, fine)

    assert_blocked(world, run, agent, "ignored_output_blocks")
    assert run.entry(agent)["stderr"] == "run.log"
    assert (agent.path / "run.log").read_text() == "output"
    assert_landed(world, run, fine)
    (agent.path / "run.log").unlink()
    assert_all_landed(world, world.wave(agent), agent)


def test_block_says_dirty_where_something_is_uncommitted_too(world: World) -> None:
    world.git("config", "wave.ignoredOutput", "block")
    agent = world.agent("a")
    put(agent.path / "run.log", "output")
    put(agent.path / "new.txt", "x")

    assert_blocked(world, world.wave(agent), agent, "worktree_dirty")


def test_block_holds_for_files_written_during_the_merge(world: World, shim: Shim) -> None:
    world.git("config", "wave.ignoredOutput", "block")
    agent = world.agent("a")
    shim.after("merge", f"echo late >{agent.path}/late.log", nth=1)
    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_remove_failed")
    assert "late.log" in run.entry()["stderr"]
    assert (agent.path / "late.log").exists()


@pytest.mark.parametrize("dry", [True, False])
def test_discard_lets_them_go_counted_and_named(world: World, dry: bool) -> None:
    world.git("config", "wave.ignoredOutput", "discard")
    put(world.root / ".git/info/exclude", "notes/\n")
    agent = world.agent("a")
    for name in ("run.log", "notes/one", "notes/deep/two", "node_modules/x.js"):
        put(agent.path / name, "output")
    run = world.wave(agent, args=["--dry-run"] if dry else [])

    (warning,) = run.warnings(agent)
    assert warning["code"] == "ignored_output_discarded"
    assert warning["detail"].splitlines() == ["3 files", "notes/", "run.log"]
    assert run.entry()["regenerable_dropped"] == 4
    assert kept_files(world) == []
    assert agent.path.exists() is dry
    if not dry:
        assert_all_landed(world, run, agent)


def test_directories_that_are_named_regenerable_go_and_others_are_kept(world: World) -> None:
    for name in ("generated", "made"):
        world.git("config", "--add", "wave.regenerable", name)
    put(world.root / ".git/info/exclude", "generated/\nmade/\nnotes/\n")
    agent = world.agent("a")
    for name in ("src/generated/x", "made/deep/y", "notes/z"):
        put(agent.path / name, "x")
    run = world.wave(agent)

    assert_all_landed(world, run, agent)
    assert run.codes() == ["ignored_output_kept"]
    assert run.entry()["regenerable_dropped"] == 2


@pytest.mark.parametrize(
    "setting", ["wave.ignoredOutput=drop", "wave.regenerable=a/b", "wave.regenerable=.", "wave.regenerable=../x"]
)
def test_a_setting_that_cannot_be_used_refuses_the_wave(world: World, setting: str) -> None:
    world.git("config", *setting.split("=", 1))
    agent = world.agent("a")

    assert world.wave(agent).doc["reason"] == "config_invalid"
    assert world.untouched(agent)
