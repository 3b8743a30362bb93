"""The dry run: every gate runs, nothing is touched, and what it says is what a real run does."""

import os
from pathlib import Path
from typing import Any

import pytest

from support.repo import prose, put
from support.shim import Shim
from support.world import Run, World, files_below


def everything(world: World) -> dict[str, Any]:
    """The user's checkout, all worktrees, and git's own directory to the byte."""
    worktrees = {str(path): files_below(path) for path in world.worktree_dir.iterdir()}
    return {**world.snapshot(), "trees": worktrees, "git": own_files(world.root / ".git")}


def own_files(top: Path) -> dict[str, bytes]:
    return {
        os.path.join(folder, name): Path(folder, name).read_bytes()
        for folder, _, names in os.walk(top)
        for name in names
    }


def dry(world: World, *entries: Any) -> Run:
    """A dry run, and proof that it touched nothing."""
    before = everything(world)
    run = world.wave(*entries, args=["--dry-run"])
    after = everything(world)
    assert after.keys() == before.keys()
    for key, value in before.items():
        assert after[key] == value, key
    return run


def test_entries_that_would_land_are_told_and_exit_0(world: World) -> None:
    agents = [world.agent("a"), world.agent("b", {"src/app.py": prose("better")})]

    run = dry(world, *agents)

    assert run.code == 0
    assert [run.outcome(agent) for agent in agents] == [("would_land", "ok")] * 2
    assert [run.entry(agent)["tip"] for agent in agents] == [agent.tip for agent in agents]
    assert [run.entry(agent)["merge_commit"] for agent in agents] == [None, None]
    assert run.doc["ok"] is True


def test_what_a_gate_blocks_is_told_as_in_a_real_run(world: World) -> None:
    deleting, dirty, good = (
        world.agent("deleting", {}, ["LICENSE"]),
        world.agent("dirty"),
        world.agent("good"),
    )
    put(dirty.path / "left.txt", "left")

    said = dry(world, deleting, dirty, good)
    done = world.wave(deleting, dirty, good)

    assert said.code == done.code == 1
    assert said.outcome(deleting) == done.outcome(deleting) == ("blocked", "branch_contains_deletions")
    assert said.outcome(dirty) == done.outcome(dirty) == ("blocked", "worktree_dirty")
    assert (said.outcome(good), done.outcome(good)) == (("would_land", "ok"), ("merged_removed", "ok"))
    assert said.entry(deleting)["stderr"] == done.entry(deleting)["stderr"]


def test_a_conflict_with_the_checkout_is_foreseen(world: World) -> None:
    agent = world.agent("a", {"src/app.py": "the agent's\n"})
    world.commit(write={"src/app.py": "the user's\n"})

    run = dry(world, agent)

    assert run.code == 1
    assert run.outcome() == ("blocked", "merge_failed")
    assert "src/app.py" in run.entry()["stderr"]


def test_a_conflict_with_an_earlier_entry_of_the_wave_is_foreseen(world: World) -> None:
    one, two = world.agent("one", {"src/app.py": "one\n"}), world.agent("two", {"src/app.py": "two\n"})
    three = world.agent("three", {"LICENSE": "three\n"})

    run = dry(world, one, two, three)

    assert run.code == 1
    assert run.outcome(one) == ("would_land", "ok")
    assert run.outcome(two) == ("blocked", "merge_failed")
    assert run.outcome(three) == ("would_land", "ok")


def test_an_earlier_entry_that_is_blocked_conflicts_with_nobody(world: World) -> None:
    one, two = world.agent("one", {"src/app.py": "one\n"}), world.agent("two", {"src/app.py": "two\n"})
    put(one.path / "left.txt", "left")

    run = dry(world, one, two)

    assert run.outcome(one) == ("blocked", "worktree_dirty")
    assert run.outcome(two) == ("would_land", "ok")


def test_edits_of_the_users_that_forbid_a_merge_are_foreseen(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    put(world.root / "src/app.py", "the user's\n")

    run = dry(world, agent)

    assert run.code == 1
    assert run.outcome() == ("blocked", "merge_failed")


def test_a_summary_that_would_be_rescued_is_not_copied(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / ".planning/phase/01-SUMMARY.md", "done\n")

    run = dry(world, agent)

    assert run.outcome() == ("would_land", "ok"), run.doc
    assert not (world.root / ".planning").exists()


def test_an_absent_worktree_is_told_and_its_registration_stays(world: World) -> None:
    agent = world.agent("a")
    agent.path.rename(world.tmp / "away")

    run = dry(world, agent)

    assert run.code == 0, run.doc
    assert run.outcome() == ("would_land", "ok")
    assert run.codes() == ["accepted_absent_worktree"]
    assert world.registered(agent)


def test_a_branch_that_has_nothing_to_merge_would_land(world: World) -> None:
    run = dry(world, world.agent("a", {}))

    assert run.code == 0
    assert run.outcome()[0] == "would_land"


def test_no_hook_is_run(world: World) -> None:
    for name in ("pre-merge-commit", "commit-msg", "post-merge", "post-checkout", "reference-transaction"):
        world.hook(name, "echo ran >>$HOME/ran")
    agents = [world.agent("a"), world.agent("b", {"src/app.py": prose("better")})]
    (Path(world.env["HOME"]) / "ran").unlink(missing_ok=True)

    assert dry(world, *agents).code == 0

    assert not (Path(world.env["HOME"]) / "ran").exists()


WRITING = [
    "merge",
    "worktree remove",
    "worktree prune",
    "worktree unlock",
    "branch",
    "update-ref",
    "reset",
    "stash",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", WRITING)
def test_no_command_that_writes_is_called(world: World, shim: Shim, words: str) -> None:
    agents = [world.agent("a"), world.agent("b", {"a.txt": "conflict\n"}), world.agent("absent")]
    agents[2].path.rename(world.tmp / "away")

    dry(world, *agents)

    assert shim.calls(words) == []
