"""Are all its commits somewhere else too?"""

import pytest

from git_wave.gates.unpushed import GATE
from support.asking import CLEAR, ask, told
from support.shim import Shim
from support.world import World

UNPUSHED = ("blocks", "commits_unpushed")


@pytest.fixture
def origin(world: World) -> World:
    """The world with a remote that has its main branch."""
    world.git("init", "-q", "--bare", "--template=", str(world.tmp / "origin.git"))
    world.git("remote", "add", "origin", str(world.tmp / "origin.git"))
    world.git("push", "-q", "origin", "main")
    return world


def test_commits_on_the_upstream_are_pushed_and_later_ones_are_not(origin: World) -> None:
    agent = origin.agent("a")
    origin.git("push", "-q", "-u", "origin", agent.branch, cwd=agent.path)
    assert told(ask(GATE, origin, agent)) == CLEAR
    origin.commit(agent.path, {"late.txt": "x"})
    origin.git("push", "-q", "origin", f"{agent.branch}:refs/heads/elsewhere", cwd=agent.path)

    answer = ask(GATE, origin, agent)
    assert told(answer) == UNPUSHED
    assert answer.why == (f"1 commit not on refs/remotes/origin/{agent.branch}",)


def test_without_an_upstream_any_remote_tracking_ref_will_do(origin: World) -> None:
    agent = origin.agent("a")
    assert ask(GATE, origin, agent).why == ("1 commit not on any remote-tracking ref",)
    origin.git("push", "-q", "origin", f"{agent.branch}:refs/heads/elsewhere", cwd=agent.path)

    assert told(ask(GATE, origin, agent)) == CLEAR


def test_an_upstream_that_is_gone_is_none(origin: World) -> None:
    agent = origin.agent("a")
    origin.git("push", "-q", "-u", "origin", f"{agent.branch}", f"{agent.branch}:refs/heads/elsewhere", cwd=agent.path)
    origin.git("update-ref", "-d", f"refs/remotes/origin/{agent.branch}")
    assert told(ask(GATE, origin, agent)) == CLEAR
    origin.git("update-ref", "-d", "refs/remotes/origin/elsewhere")

    assert told(ask(GATE, origin, agent)) == UNPUSHED


def test_a_branch_that_is_its_own_upstream_proves_nothing(world: World) -> None:
    agent = world.agent("a")
    world.git("config", f"branch.{agent.branch}.remote", ".")
    world.git("config", f"branch.{agent.branch}.merge", f"refs/heads/{agent.branch}")

    assert told(ask(GATE, world, agent)) == UNPUSHED


def test_a_remote_that_was_never_fetched_has_nothing(world: World) -> None:
    agent = world.agent("a", write={})
    assert told(ask(GATE, world, agent)) == CLEAR
    world.git("remote", "add", "origin", str(world.tmp / "nowhere"))

    assert told(ask(GATE, world, agent)) == UNPUSHED


@pytest.mark.parametrize("default", ["init.defaultBranch", "main", "master", "main worktree"])
def test_without_a_remote_the_default_branch_must_have_them(world: World, default: str) -> None:
    agent = world.agent("a")
    world.git("config", "--global", "init.defaultBranch", "trunk" if default == "init.defaultBranch" else "nonesuch")
    name = {"init.defaultBranch": "trunk", "main worktree": "other"}.get(default, default)
    world.git("branch", "-m", "main", name)
    assert ask(GATE, world, agent).why == (f"1 commit not on refs/heads/{name}",)
    world.git("merge", "-q", agent.branch)

    assert told(ask(GATE, world, agent)) == CLEAR


def test_without_a_remote_and_a_default_branch_there_is_no_answer(world: World) -> None:
    agent = world.agent("a")
    world.git("config", "--global", "init.defaultBranch", "nonesuch")
    world.git("checkout", "-q", "--detach")
    world.git("branch", "-D", "main")

    answer = ask(GATE, world, agent)
    assert told(answer) == ("cannot_tell", "cannot_tell")
    assert "default branch" in answer.why[0]


@pytest.mark.parametrize("command", ["rev-list", "for-each-ref", "config"])
def test_git_that_fails_is_no_answer(world: World, shim: Shim, command: str) -> None:
    agent = world.agent("a")
    world.git("config", "--unset", "nothing.there", check=False)
    shim.fail(command, code=128, stderr="fatal: boom\n")

    assert told(ask(GATE, world, agent)) == ("cannot_tell", "cannot_tell")
