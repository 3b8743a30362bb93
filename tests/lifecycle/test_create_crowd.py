"""Many creates at once in one repository and manifest: each succeeds, and nobody's is lost."""

import json
import os
from collections.abc import Callable

import pytest

from support.creating import assert_nothing_pending, create_argv
from support.forked import ended, start_forked
from support.recording import entries_of
from support.replaying import assert_same
from support.repo import put
from support.world import World

CROWD = 20


def start_together(argvs: list[list[str]], world: World) -> list[tuple[int, dict[str, object]]]:
    """All at once: each process waits for the same end of file. Exit codes and documents."""
    waiting, starting = os.pipe()

    def wait_for_the_start() -> None:
        os.close(starting)
        os.read(waiting, 1)

    outputs = [world.tmp / f"answer-{n}" for n in range(len(argvs))]
    pids = [
        start_forked("git-wave", argv, wait_for_the_start, keep=output)
        for argv, output in zip(argvs, outputs, strict=True)
    ]
    os.close(waiting)
    os.close(starting)
    return [(ended(pid), json.loads(output.read_text())) for pid, output in zip(pids, outputs, strict=True)]


def check_crowd(world: World, argv_of: Callable[[int], list[str]]) -> None:
    world.manifest()
    head = world.head()

    answers = start_together([argv_of(n) for n in range(CROWD)], world)

    assert [document for code, document in answers if code or not document["ok"]] == []
    entries = entries_of(world.tmp / "wave.json")
    assert sorted(entry["branch"] for entry in entries) == sorted(f"agent-{n}" for n in range(CROWD))
    assert {entry["expected_base"] for entry in entries} == {head}
    assert world.worktrees().keys() == {str(world.root), *(entry["worktree_path"] for entry in entries)}
    assert_nothing_pending(world)
    assert world.fsck() == ""


def test_twenty_creates_at_once_all_succeed(world: World) -> None:
    check_crowd(world, lambda n: create_argv(world, agent=str(n)))

    run = world.wave(world.tmp / "wave.json", args=["--dry-run"])
    assert (run.code, {entry["status"] for entry in run.entries}) == (0, {"would_land"})


def test_some_of_the_same_name_at_once_are_as_many_with_unique(world: World) -> None:
    world.manifest()

    answers = start_together([create_argv(world, "--unique", agent="a")] * 4, world)

    assert [code for code, _ in answers] == [0] * 4, str([document for code, document in answers if code])
    branches = sorted(str(document["branch"]) for _, document in answers)
    assert branches == sorted(["agent-a", *(f"agent-a-{n}" for n in range(2, 5))])
    assert sorted(entry["branch"] for entry in entries_of(world.tmp / "wave.json")) == branches


def test_of_some_of_the_same_name_at_once_one_succeeds_and_is_whole(world: World) -> None:
    world.manifest()

    answers = start_together([create_argv(world, agent="a")] * 4, world)

    assert sorted(code for code, _ in answers) == [0, 1, 1, 1]
    assert {document["reason"] for code, document in answers if code} <= {
        *("duplicate_entry", "branch_exists", "path_exists"),
    }
    (entry,) = entries_of(world.tmp / "wave.json")
    assert world.worktrees()[entry["worktree_path"]]["branch"] == "refs/heads/agent-a"


@pytest.mark.deep
@pytest.mark.parametrize("time", range(5))
def test_twenty_replays_at_once_all_succeed(world: World, time: int) -> None:
    put(world.root / "LICENSE", "edited\n")
    put(world.root / "new.txt", "new\n")

    check_crowd(world, lambda n: create_argv(world, "--replay-dirty", agent=str(n)))

    for path in world.worktrees():
        if path != str(world.root):
            assert_same(world.root, world.root / path)
