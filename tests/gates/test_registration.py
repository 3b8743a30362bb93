"""Does git register this very directory, with a branch that stays when it goes?"""

import pytest

from git_wave.gates.registration import GATE
from support.asking import CLEAR, ask, told
from support.repo import put
from support.shim import Shim
from support.world import World

UNREGISTERED = ("blocks", "not_registered")


def test_a_worktree_is_registered_however_its_path_is_spelled(world: World) -> None:
    agent = world.agent("a")
    (world.tmp / "link").symlink_to(agent.path.parent)

    assert told(ask(GATE, world, agent)) == CLEAR
    assert told(ask(GATE, world, world.tmp / "link/a")) == CLEAR


def test_directories_that_git_does_not_register_block(world: World) -> None:
    agent = world.agent("a")
    world.git("clone", "-q", str(world.root), str(world.tmp / "clone"))
    (world.tmp / "plain").mkdir()
    for place in (world.tmp / "plain", world.tmp / "clone", world.root, agent.path / "src"):
        assert told(ask(GATE, world, place)) == UNREGISTERED, place


def test_a_copy_that_names_the_registration_of_another_blocks(world: World) -> None:
    agent = world.agent("a")
    agent.path.rename(world.tmp / "moved")

    assert told(ask(GATE, world, world.tmp / "moved")) == UNREGISTERED


@pytest.mark.parametrize("kind", ["link", "clone", "file"])
def test_something_else_at_the_registered_path_blocks(world: World, kind: str) -> None:
    agent = world.agent("a")
    agent.path.rename(world.tmp / "moved")
    if kind == "link":
        agent.path.symlink_to(world.tmp / "moved")
    elif kind == "clone":
        world.git("clone", "-q", str(world.root), str(agent.path))
    else:
        put(agent.path, "a file")

    assert told(ask(GATE, world, agent)) == UNREGISTERED


def test_a_detached_head_belongs_to_no_branch_that_stays(world: World) -> None:
    agent = world.agent("a")
    world.git("checkout", "-q", "--detach", cwd=agent.path)

    assert told(ask(GATE, world, agent)) == ("blocks", "detached_head")


def test_git_that_fails_and_a_directory_that_is_gone_are_no_answer(world: World, shim: Shim) -> None:
    agent, gone = world.agent("a"), world.agent("gone")
    gone.path.rename(world.tmp / "elsewhere")

    assert told(ask(GATE, world, gone)) == ("cannot_tell", "cannot_tell")
    shim.fail("worktree list", code=128, stderr="fatal: boom\n")
    answer = ask(GATE, world, agent)
    assert told(answer) == ("cannot_tell", "cannot_tell")
    assert "boom" in answer.why[0]
