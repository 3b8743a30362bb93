"""`git wave undo` killed in the middle: the same command again finishes, and can be taken back whole."""

import pytest

from support.calling import call, call_program
from support.killing import KILLED, calm, kill_when
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, World

CHANGES = {
    "the target moves": '[ "$sub" = reset ]',
    "a branch is created": '[ "$sub" = update-ref ] && count refs && [ "$n" = 2 ]',
    "the first worktree": '[ "$sub" = worktree ] && has add "$@"',
    "the second worktree": '[ "$sub" = worktree ] && has add "$@" && count adds && [ "$n" = 2 ]',
}
points = pytest.mark.parametrize("when", ["before", "after"])
changes = pytest.mark.parametrize("condition", CHANGES.values(), ids=CHANGES)


def killed_undo(world: World, shim: Shim, condition: str, when: str) -> tuple[list[Agent], str]:
    """A wave of two landed, and its undo killed; the agents, and HEAD before the wave."""
    agents = [world.agent("one", {"src/app.py": prose("better")}), world.agent("two")]
    put(world.root / "LICENSE", "edited\n")
    start = world.head()
    assert world.wave(*agents).code == 0
    kill_when(shim, condition, when)
    assert call_program("git-wave", "undo", "--root", str(world.root)).code == KILLED
    calm(shim)
    return agents, start


def assert_as_before(world: World, agents: list[Agent], start: str) -> None:
    assert world.head() == start
    assert all(world.untouched(agent) for agent in agents)
    assert all(world.git("rev-parse", "HEAD", cwd=agent.path) == agent.tip for agent in agents)
    assert all(world.git("status", "--porcelain", cwd=agent.path) == "" for agent in agents)
    assert world.git("status", "--porcelain") == " M LICENSE"
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.fsck() == ""


@changes
def test_the_same_command_again_finishes(world: World, shim: Shim, condition: str) -> None:
    check_finished(world, shim, condition, "after")


@pytest.mark.deep
@changes
def test_the_same_command_again_finishes_what_was_not_yet_done(world: World, shim: Shim, condition: str) -> None:
    check_finished(world, shim, condition, "before")


def check_finished(world: World, shim: Shim, condition: str, when: str) -> None:
    agents, start = killed_undo(world, shim, condition, when)

    answer = call("undo", "--root", str(world.root))

    assert (answer.code, answer.doc["reason"]) == (0, "undone"), answer
    assert_as_before(world, agents, start)
    assert call("undo", "--root", str(world.root)).doc["reason"] == "nothing_to_undo"


@pytest.mark.deep
@points
@changes
def test_a_wave_that_is_run_in_between_loses_nothing(world: World, shim: Shim, condition: str, when: str) -> None:
    agents, start = killed_undo(world, shim, condition, when)

    run = world.wave(*agents)

    assert {entry["reason"] for entry in run.entries} <= {"ok", "already_landed", "branch_mismatch"}
    assert all(world.reachable(agent.tip) for agent in agents)
    assert (world.root / "LICENSE").read_text() == "edited\n"
    if run.entries[0]["status"] == run.entries[1]["status"] == "blocked":
        assert call("undo", "--root", str(world.root)).code == 0
        assert_as_before(world, agents, start)


@pytest.mark.parametrize(
    "change", ["the target moves", pytest.param("a branch is created", marks=pytest.mark.deep), "the first worktree"]
)
def test_an_undo_finished_by_a_second_run_can_be_taken_back_whole(world: World, shim: Shim, change: str) -> None:
    agents, start = killed_undo(world, shim, CHANGES[change], "after")
    answer = call("undo", "--root", str(world.root))
    assert answer.code == 0, answer
    assert_as_before(world, agents, start)

    again = call("undo", "--root", str(world.root), answer.doc["undo"])

    assert (again.code, again.doc["reason"]) == (0, "undone"), again
    assert all(world.landed(agent) for agent in agents)
    assert (world.root / "LICENSE").read_text() == "edited\n"
