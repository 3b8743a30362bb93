"""Is the checkout registered at this path the branch the manifest says?"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import Repo
from support.sealed import LONG_AGO
from support.shim import Shim
from support.world import Agent, World, files_below

MISMATCH = "branch_mismatch"


def test_present_worktree_on_its_branch_lands_and_nobody_asks_for_the_list(world: World, shim: Shim) -> None:
    agents = [world.agent(name) for name in "abc"]
    run = world.wave(*agents)
    assert_all_landed(world, run, *agents)
    assert shim.calls("worktree list") == []
    assert [run.codes(agent) for agent in agents] == [[], [], []]


def test_worktree_on_another_branch_is_blocked_and_the_next_entry_lands(world: World) -> None:
    swapped, fine = world.agent("a"), world.agent("b")
    world.git("switch", "-q", "-c", "worktree-agent-swapped", cwd=swapped.path)
    run = world.wave(swapped, fine)
    assert_blocked(world, run, swapped, MISMATCH)
    assert_landed(world, run, fine)
    assert "worktree-agent-swapped" in world.branches()


def test_two_worktrees_named_each_for_the_other_are_both_blocked(world: World) -> None:
    a, b = world.agent("a"), world.agent("b")
    crossed = [world.entry(a, branch=b.branch), world.entry(b, branch=a.branch)]
    run = world.wave(*crossed)
    assert [run.outcome(0), run.outcome(1)] == [("blocked", MISMATCH)] * 2
    assert world.untouched(a)
    assert world.untouched(b)


def test_detached_worktree_is_blocked_although_it_stands_at_the_branchs_commit(world: World) -> None:
    agent = world.agent("a")
    world.git("checkout", "-q", "--detach", cwd=agent.path)
    assert_blocked(world, world.wave(agent), agent, MISMATCH)


def test_worktree_whose_branch_was_deleted_is_blocked(world: World) -> None:
    agent = world.agent("a")
    world.git("update-ref", "-d", f"refs/heads/{agent.branch}")
    world.git("tag", "keep", agent.tip)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", MISMATCH)
    assert agent.path.exists()
    assert not world.merged(agent.tip)


def test_directory_below_a_worktree_is_not_that_worktree(world: World) -> None:
    agent = world.agent("a", write={"deep/er/new.txt": "x"})
    run = world.wave(world.entry(agent, worktree_path=str(agent.path / "deep")))
    assert_blocked(world, run, agent, MISMATCH)


def test_worktree_without_its_git_file_is_blocked_though_the_enclosing_checkout_answers(world: World) -> None:
    world.git("switch", "-q", "-c", "agent-outer")
    agent = world.agent("a", branch="agent-inner", path=world.root / "wt/a")
    (agent.path / ".git").unlink()
    before = files_below(agent.path)
    run = world.wave(agent, world.entry(agent, branch="agent-outer"))
    assert_blocked(world, run, agent, MISMATCH)
    assert run.outcome(1)[0] == "blocked"
    assert files_below(agent.path) == before
    assert set(world.branches()) == {"main", "agent-outer", "agent-inner"}


def test_worktree_whose_git_file_names_another_worktree_is_blocked(world: World) -> None:
    a, b = world.agent("a"), world.agent("b")
    shutil.copy(b.path / ".git", a.path / ".git")
    run = world.wave(a, world.entry(a, branch=b.branch))
    assert run.outcome(0) == ("blocked", MISMATCH)
    assert run.outcome(1) == ("blocked", MISMATCH)
    assert world.untouched(a)
    assert world.untouched(b)
    assert a.path.exists()


def clone(world: World, agent: Agent) -> None:
    shutil.rmtree(agent.path)
    world.git("clone", "-q", "--branch", agent.branch, world.root, agent.path)


def link_to_the_real_one(world: World, agent: Agent) -> None:
    elsewhere = world.tmp / "elsewhere"
    agent.path.rename(elsewhere)
    agent.path.symlink_to(elsewhere)


def dangling_link(world: World, agent: Agent) -> None:
    agent.path.rename(world.tmp / "elsewhere")
    agent.path.symlink_to(world.tmp / "no such place")


def plain_directory(world: World, agent: Agent) -> None:
    shutil.rmtree(agent.path)
    agent.path.mkdir()
    (agent.path / "mine.txt").write_text("mine")


def plain_file(world: World, agent: Agent) -> None:
    shutil.rmtree(agent.path)
    agent.path.write_text("mine")


@pytest.mark.parametrize("stand_in", [clone, link_to_the_real_one, dangling_link, plain_directory, plain_file])
def test_something_else_at_the_registered_path_is_blocked_and_kept(
    world: World, stand_in: Callable[[World, Agent], None]
) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    stand_in(world, agent)
    before = files_below(world.tmp / "elsewhere"), files_below(agent.path), os.lstat(agent.path).st_ino
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, MISMATCH)
    assert_landed(world, run, fine)
    assert (
        files_below(world.tmp / "elsewhere"),
        files_below(agent.path),
        os.lstat(agent.path).st_ino,
    ) == before


@pytest.mark.parametrize("bring", [Path.rename, lambda old, new: shutil.copytree(old, new, symlinks=True)])
@pytest.mark.parametrize("age", [None, LONG_AGO], ids=["fresh", "old"])
def test_moved_or_copied_worktree_is_not_the_one_that_git_registers(
    world: World, bring: Callable[[Path, Path], object], age: int | None
) -> None:
    agent = world.agent("a")
    moved = world.worktree_dir / "moved"
    bring(agent.path, moved)
    registration = world.root / ".git/worktrees/a/gitdir"
    if age is not None:
        os.utime(registration, (age, age))
    before = registration.read_bytes(), files_below(moved)
    run = world.wave(world.entry(agent, worktree_path=str(moved)))
    assert_blocked(world, run, agent, MISMATCH)
    assert (registration.read_bytes(), files_below(moved)) == before


def test_worktree_that_git_itself_moved_lands_from_its_new_place_only(world: World) -> None:
    agent = world.agent("a")
    moved = world.worktree_dir / "moved"
    world.git("worktree", "move", str(agent.path), str(moved))
    old = world.wave(agent)
    assert old.outcome() == ("blocked", MISMATCH)
    new = world.wave(world.entry(agent, worktree_path=str(moved)))
    assert_all_landed(world, new, agent)
    assert not moved.exists()


def test_symlink_to_a_worktree_is_blocked_and_both_stay(world: World) -> None:
    agent = world.agent("a")
    link = world.tmp / "link"
    link.symlink_to(agent.path)
    run = world.wave(world.entry(agent, worktree_path=str(link)))
    assert_blocked(world, run, agent, MISMATCH)
    assert link.is_symlink()
    assert agent.path.is_dir()


@pytest.mark.parametrize("gone", [False, True])
def test_worktree_below_a_symlinked_directory_lands(world: World, gone: bool) -> None:
    agent = world.agent("a")
    (world.tmp / "short").symlink_to(world.worktree_dir)
    if gone:
        shutil.rmtree(agent.path)
    run = world.wave(world.entry(agent, worktree_path=str(world.tmp / "short/a")))
    assert_all_landed(world, run, agent)


@pytest.mark.parametrize("path", [".", "", "docs/..", "{link}", "{root}/"])
def test_main_worktree_is_never_an_entrys_worktree(world: World, path: str) -> None:
    world.git("switch", "-q", "-c", "worktree-agent-main")
    (world.tmp / "link").symlink_to(world.root)
    place = path.format(link=world.tmp / "link", root=world.root) or str(world.root)
    before = world.snapshot()
    base = world.git("rev-parse", "HEAD~1")
    run = world.wave({"worktree_path": place, "branch": "worktree-agent-main", "expected_base": base})
    expected = {"main_worktree", MISMATCH} if path == "{link}" else {"main_worktree"}
    assert run.outcome()[0] == "blocked"
    assert run.outcome()[1] in expected
    assert world.snapshot() == before


def test_main_worktree_is_told_as_such_though_it_is_on_another_branch(world: World) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, worktree_path=str(world.root)))
    assert_blocked(world, run, agent, "main_worktree")


def test_linked_worktree_that_the_wave_lands_into_is_no_entrys_worktree(world: World) -> None:
    target, agent = world.agent("target"), world.agent("a")
    run = world.wave(world.entry(target), world.entry(agent), args=["--root", str(target.path)])
    assert run.outcome(target)[0] == "blocked"
    assert target.path.is_dir()
    assert target.branch in world.branches()
    assert run.outcome(agent) == ("merged_removed", "ok")
    assert world.git("rev-parse", "main") == agent.base


def test_worktree_of_another_repository_is_blocked_and_that_repository_untouched(world: World) -> None:
    agent = world.agent("a")
    other = Repo(world.tmp / "other", world.env)
    world.git("clone", "-q", world.root, other.root)
    other.git("worktree", "add", "-q", "-b", agent.branch, world.tmp / "theirs", agent.base)
    tip = other.commit(world.tmp / "theirs", write={"theirs.txt": "x"})
    run = world.wave(world.entry(agent, worktree_path=str(world.tmp / "theirs")))
    assert_blocked(world, run, agent, MISMATCH)
    assert other.git("rev-parse", agent.branch) == tip
    assert (world.tmp / "theirs/theirs.txt").exists()


@pytest.mark.parametrize("kind", ["tag", "remote"])
def test_other_ref_that_shadows_the_branchs_name_is_neither_judged_nor_merged(world: World, kind: str) -> None:
    agent = world.agent("a")
    stranger = world.git("commit-tree", "-m", "stranger", "HEAD^{tree}")
    refs = {"tag": f"refs/tags/{agent.branch}", "remote": f"refs/remotes/{agent.branch}"}
    world.git("update-ref", refs[kind], stranger)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert world.git("rev-parse", refs[kind]) == stranger


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["with space", "quo\"te's", "new\nline", "größe", "-dash", "*?[x]", "$(touch x)"])
@pytest.mark.parametrize("gone", [False, True], ids=["present", "gone"])
def test_worktree_with_an_odd_path_lands(world: World, name: str, gone: bool) -> None:
    agent = world.agent("a", path=world.root / name)
    if gone:
        shutil.rmtree(agent.path)
    run = world.wave(world.entry(agent, agent_id="--help", worktree_path=name))
    assert_all_landed(world, run, agent)
    assert run.entry()["worktree_path"] == name


def test_path_with_parent_steps_lands(world: World) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, worktree_path="docs/../../wt/./a/"))
    assert_all_landed(world, run, agent)
