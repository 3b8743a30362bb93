"""Is it inside the managed root, with nothing in it that is not its own?"""

import subprocess
from pathlib import Path

import pytest

from git_wave.gates.containment import GATE, managed_root
from support.asking import CLEAR, ask, told
from support.mounts import mount
from support.world import Agent, World

OUTSIDE = ("blocks", "outside_managed_root")


def managed(world: World, name: str) -> Agent:
    return world.agent(name, path=world.root / ".claude/worktrees" / name)


def root_of(world: World) -> Path:
    return managed_root(world.root, None)


def test_the_root_is_below_the_main_worktree_unless_a_setting_names_another(world: World) -> None:
    assert managed_root(world.root, None) == world.root / ".claude/worktrees"
    assert managed_root(world.root, "../trees") == world.root / "../trees"
    assert managed_root(world.root, "/srv/trees") == Path("/srv/trees")


def test_a_worktree_strictly_inside_is_clear_and_with_no_root_any_place_will_do(world: World) -> None:
    inside, elsewhere = managed(world, "a"), world.agent("b")

    assert told(ask(GATE, world, inside, managed_root=root_of(world))) == CLEAR
    assert told(ask(GATE, world, elsewhere)) == CLEAR


def test_the_root_may_be_reached_by_a_link(world: World) -> None:
    (world.root / ".claude").mkdir()
    (world.tmp / "far").mkdir()
    (world.root / ".claude/worktrees").symlink_to(world.tmp / "far")
    agent = managed(world, "a")

    for path in (agent.path, world.tmp / "far/a"):
        assert told(ask(GATE, world, path, managed_root=root_of(world))) == CLEAR


def test_what_is_outside_or_the_root_itself_blocks(world: World) -> None:
    managed(world, "a")
    outside = world.agent("b")
    beside = world.agent("c", path=world.root / ".claude/worktrees-2/c")

    for path in (outside.path, beside.path, root_of(world), world.root, root_of(world) / "../worktrees-2/c"):
        assert told(ask(GATE, world, path, managed_root=root_of(world))) == OUTSIDE, path


def test_a_link_at_the_path_or_on_the_way_to_it_blocks(world: World) -> None:
    inside, outside = managed(world, "a"), world.agent("b")
    root = root_of(world)
    (root / "out").symlink_to(outside.path)
    (root / "in").symlink_to(inside.path)
    deep = world.agent("deep", path=root / "one/deep")
    (root / "two").symlink_to(root / "one")

    for path in (root / "out", root / "in", root / "two/deep"):
        assert told(ask(GATE, world, path, managed_root=root)) == OUTSIDE, path
    assert told(ask(GATE, world, deep, managed_root=root)) == CLEAR


def test_what_holds_the_main_worktree_or_the_git_directory_blocks(world: World) -> None:
    for path in (world.root, world.tmp, world.root / ".git"):
        answer = ask(GATE, world, path)

        assert told(answer) == OUTSIDE
        assert "is inside" in answer.why[0]


def test_another_worktree_inside_blocks(world: World) -> None:
    outer = managed(world, "outer")
    inner = world.agent("inner", path=outer.path / "inner")

    assert ask(GATE, world, outer, managed_root=root_of(world)).why == (f"another worktree inside: {inner.path}",)


def test_a_mount_inside_blocks(world: World) -> None:
    agent = managed(world, "a")
    mount("--bind", agent.path / "docs", agent.path / "src")
    try:
        assert told(ask(GATE, world, agent, managed_root=root_of(world))) == OUTSIDE
    finally:
        subprocess.run(["umount", "-l", agent.path / "src"], check=True)


@pytest.mark.parametrize("missing", ["root", "worktree"])
def test_a_root_or_a_worktree_that_is_not_there_is_no_answer(world: World, missing: str) -> None:
    agent = managed(world, "a")
    root = world.tmp / "absent" if missing == "root" else root_of(world)
    if missing == "worktree":
        agent.path.rename(world.tmp / "elsewhere")

    assert told(ask(GATE, world, agent, managed_root=root)) == ("cannot_tell", "cannot_tell")
