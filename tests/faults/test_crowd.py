"""Many recorders and two waves on one manifest at once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import write_manifest
from support.forked import ended, start_forked
from support.points import fault_points
from support.recording import entries_of
from support.world import Agent, World

WITH_WORK = 5
Record = Callable[[str, object], None]


def crowd(world: World, size: int) -> list[Agent]:
    """So many worktrees, a few with work of their own: what is under test is the crowd, not the merges."""
    return [world.agent(f"{n}", None if n < WITH_WORK else {}) for n in range(size)]


def record_argv(manifest: Path, agent: Agent) -> list[str]:
    named = ["--agent-id", agent.id, "--path", str(agent.path), "--branch", agent.branch, "--base", agent.base]
    return ["--manifest", str(manifest), *named]


def check_crowd(world: World, size: int) -> None:
    first = world.agent("first")
    agents = crowd(world, size)
    manifest = write_manifest(world.tmp / "wave.json", world.root, [world.entry(first)])
    outputs = [world.tmp / f"wave-{n}" for n in range(2)]
    wave_argv = ["--manifest", str(manifest), "--format", "json"]

    recorders = [start_forked("record-agent", record_argv(manifest, agent)) for agent in agents[: size // 2]]
    waves = [start_forked("cleanup-wave", wave_argv, keep=output) for output in outputs]
    recorders += [start_forked("record-agent", record_argv(manifest, agent)) for agent in agents[size // 2 :]]
    codes = [ended(pid) for pid in recorders]
    ended_waves = [ended(pid) for pid in waves]

    assert codes == [0] * size
    told = [json.loads(output.read_text()) for output in outputs]
    for code, document in zip(ended_waves, told, strict=True):
        assert (code == 0) == document["ok"], document
        assert document["reason"] in ("ok", "manifest_entries_present", "wave_locked"), document
    assert any(document["ok"] for document in told), [document["reason"] for document in told]
    recorded = [entry["branch"] for entry in entries_of(manifest)]
    assert sorted(recorded) == sorted(agent.branch for agent in [first, *agents])
    run = world.wave(manifest)
    assert run.code == 0, run.doc
    assert all(world.landed(agent) for agent in [first, *agents])
    assert list(world.branches()) == ["main"]
    assert world.fsck() == ""
    assert world.git("rev-list", "--count", "--merges", "HEAD") == str(WITH_WORK + 1)


def test_ten_recorders_and_two_waves_at_once(world: World, record_property: Record) -> None:
    with fault_points("crowd", record_property) as points, points.at("ten"):
        check_crowd(world, 10)


@pytest.mark.deep
@pytest.mark.parametrize("time", range(1, 11))
def test_fifty_recorders_and_two_waves_at_once(world: World, record_property: Record, time: int) -> None:
    with fault_points("crowd", record_property) as points, points.at(f"fifty, time {time}"):
        check_crowd(world, 50)
