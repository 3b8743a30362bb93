"""Manifests that name what is not theirs to name: nothing of it is touched."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.repo import put
from support.world import Agent, Run, World, files_below


def assert_left_alone(world: World, run: Run, before: dict[str, Any], reasons: set[str]) -> None:
    assert run.code == 1
    assert run.outcome()[0] == "blocked", run.doc
    assert run.outcome()[1] in reasons, run.doc
    assert world.snapshot() == before


# -- the main worktree


@pytest.mark.parametrize("spelling", ["{root}", "{root}/", "{root}/src/..", ".", "{root}/../main", "{root}/."])
def test_the_main_worktree_is_no_agents_worktree(world: World, spelling: str) -> None:
    world.git("switch", "-q", "-c", "agent-main")
    before, files = world.snapshot(), files_below(world.root)
    entry = {
        "worktree_path": spelling.format(root=world.root),
        "branch": "agent-main",
        "expected_base": world.head(),
    }

    run = world.wave(entry)

    assert_left_alone(world, run, before, {"main_worktree"})
    assert files_below(world.root) == files


def test_the_main_worktree_behind_a_symlink_is_no_agents_worktree(world: World) -> None:
    world.git("switch", "-q", "-c", "agent-main")
    (world.tmp / "link").symlink_to(world.root)
    before = world.snapshot()
    entry = {"worktree_path": str(world.tmp / "link"), "branch": "agent-main", "expected_base": world.head()}

    assert_left_alone(world, world.wave(entry), before, {"main_worktree", "branch_mismatch"})


def test_the_checkout_that_is_landed_into_is_no_agents_worktree(world: World) -> None:
    target = world.agent("target")
    before = world.snapshot()

    run = world.wave(world.manifest(target, orchestrator_root=str(target.path)))

    assert_left_alone(world, run, before, {"main_worktree"})
    assert target.path.is_dir()


def test_the_main_worktree_is_none_when_a_linked_one_is_landed_into(world: World) -> None:
    target = world.agent("target")
    world.git("switch", "-q", "-c", "agent-main")
    before = world.snapshot()
    entry = {"worktree_path": str(world.root), "branch": "agent-main", "expected_base": world.head()}

    run = world.wave(world.manifest(entry, orchestrator_root=str(target.path)))

    assert_left_alone(world, run, before, {"main_worktree"})


@pytest.mark.parametrize("below", ["src", "src/core", ".git", ".git/refs"])
def test_a_directory_of_the_main_worktree_is_no_worktree(world: World, below: str) -> None:
    world.git("switch", "-q", "-c", "agent-main")
    before = world.snapshot()
    entry = {"worktree_path": f"{world.root}/{below}", "branch": "agent-main", "expected_base": world.head()}

    assert_left_alone(world, world.wave(entry), before, {"branch_mismatch", "main_worktree"})


# -- what only looks like the worktree


def test_a_worktree_of_another_repository_is_left_alone(world: World) -> None:
    mine = world.agent("a")
    (world.tmp / "other").mkdir()
    other = World(world.tmp / "other", world.root, world.env)
    other.git("worktree", "prune")
    theirs = Path(world.tmp / "theirs")
    other.git("worktree", "add", "-q", "--force", theirs, mine.branch)
    before, elsewhere = world.snapshot(), other.snapshot()

    run = world.wave(world.entry(mine, worktree_path=str(theirs)))

    assert_left_alone(world, run, before, {"branch_mismatch"})
    assert other.snapshot() == elsewhere
    assert theirs.is_dir()
    assert world.untouched(mine)


def test_a_clone_at_the_registered_path_is_left_alone(world: World) -> None:
    agent = world.agent("a")
    shutil.rmtree(agent.path)
    world.git("clone", "-q", "--branch", agent.branch, world.root, agent.path)
    put(agent.path / ".git/only-here", "x")
    files = files_below(agent.path)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert files_below(agent.path) == files
    assert (agent.path / ".git/only-here").is_file()
    assert world.untouched(agent)


def test_a_plain_directory_at_the_registered_path_is_left_alone(world: World) -> None:
    agent = world.agent("a")
    (agent.path / ".git").unlink()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert (agent.path / "a.txt").is_file()
    assert world.untouched(agent)


def test_a_worktree_below_the_checkout_whose_git_file_is_gone_is_left_alone(world: World) -> None:
    """git answers for the enclosing checkout there."""
    world.git("switch", "-q", "-c", "agent-main")
    agent = world.agent("a", path=world.root / ".trees/a")
    (agent.path / ".git").unlink()
    files = files_below(agent.path)

    own = world.wave(agent)
    enclosing = world.wave(world.entry(agent, branch="agent-main"))

    assert own.outcome() == ("blocked", "branch_mismatch")
    assert enclosing.outcome()[0] == "blocked"
    assert files_below(agent.path) == files
    assert world.untouched(agent)


def test_a_worktree_that_was_moved_away_and_linked_back_is_left_alone(world: World) -> None:
    agent = world.agent("a")
    away = world.tmp / "away"
    agent.path.rename(away)
    agent.path.symlink_to(away)

    run = world.wave(agent)

    assert run.code == 1
    assert run.outcome()[0] == "blocked"
    assert agent.path.is_symlink()
    assert (away / "a.txt").is_file()
    assert world.branches()[agent.branch] == agent.tip


def test_a_symlink_to_a_worktree_is_not_the_worktree(world: World) -> None:
    agent = world.agent("a")
    link = world.tmp / "link"
    link.symlink_to(agent.path)
    before = world.snapshot()

    run = world.wave(world.entry(agent, worktree_path=str(link)))

    assert_left_alone(world, run, before, {"branch_mismatch"})
    assert link.is_symlink()
    assert world.untouched(agent)


def test_a_dangling_symlink_at_the_registered_path_is_not_gone(world: World) -> None:
    agent = world.agent("a")
    shutil.rmtree(agent.path)
    agent.path.symlink_to(world.tmp / "nowhere")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert agent.path.is_symlink()
    assert world.untouched(agent)


def test_a_path_through_a_file_is_not_gone(world: World) -> None:
    agent = world.agent("a", path=world.tmp / "deep/tree")
    shutil.rmtree(world.tmp / "deep")
    put(world.tmp / "deep", "a file: git and stat say ENOTDIR below it")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert world.untouched(agent)


def test_another_agents_worktree_under_ones_own_branch_is_left_alone(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")

    run = world.wave(world.entry(one, worktree_path=str(two.path)))

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert world.untouched(one)
    assert world.untouched(two)


def test_a_symbolic_branch_never_takes_its_target_with_it(world: World) -> None:
    agent = world.agent("a")
    world.git("update-ref", "refs/heads/kept", agent.tip)
    world.git("symbolic-ref", f"refs/heads/{agent.branch}", "refs/heads/kept")

    run = world.wave(agent)

    assert world.branches()["kept"] == agent.tip
    assert run.outcome()[0] in {"blocked", "merged_removed", "warning"}
    assert world.reachable(agent.tip)


def test_a_branch_that_stands_for_the_target_never_takes_it_along(world: World) -> None:
    agent = world.agent("a", {})
    world.git("symbolic-ref", f"refs/heads/{agent.branch}", "refs/heads/main")
    old = world.head()

    world.wave(agent)

    assert world.branches()["main"] == old
    assert world.head() == old
    assert world.git("symbolic-ref", "HEAD") == "refs/heads/main"


# -- branches outside the namespace


@pytest.mark.parametrize("branch", ["main", "release", "refs/heads/worktree-agent-a", "HEAD", "origin/main"])
def test_a_branch_outside_the_namespace_is_never_touched(world: World, branch: str) -> None:
    path = world.tmp / "tree"
    world.git("worktree", "add", "-q", "-b", "release", path)
    before = world.snapshot()
    entry = {"worktree_path": str(path), "branch": branch, "expected_base": world.head()}

    assert_left_alone(world, world.wave(entry), before, {"invalid_entry"})
    assert path.is_dir()


# -- leading dashes, dots and escapes

WORDS = [
    "--all",
    "-D",
    "--exec=touch pwned",
    "--output=pwned",
    "-c core.pager=touch",
    ":(top)*",
    "..",
    "../../etc",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("field", ["agent_id", "worktree_path", "expected_base", "branch"])
def test_a_value_that_looks_like_something_else_is_only_a_value(world: World, field: str, word: str) -> None:
    agent, good = world.agent("a"), world.agent("good")

    run = world.wave(world.entry(agent, **{field: word}), good)

    assert world.landed(good)
    assert run.entry(0)["status"] in ({"merged_removed"} if field == "agent_id" else {"blocked"})
    assert run.entry(0)["status"] == "merged_removed" or world.untouched(agent)
    assert not list(world.tmp.rglob("pwned"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("field", ["allowed_bases", "files_modified", "declared_deletions"])
def test_a_listed_value_that_looks_like_something_else_is_only_a_value(world: World, field: str, word: str) -> None:
    agent, deleting = world.agent("a"), world.agent("deleting", {}, ["LICENSE"])

    run = world.wave(*(world.entry(one, **{field: [word]}) for one in (agent, deleting)))

    assert run.entry(agent)["status"] == "merged_removed"
    assert run.outcome(deleting) == ("blocked", "branch_contains_deletions")
    assert world.untouched(deleting)
    assert not list(world.tmp.rglob("pwned"))


@pytest.mark.parametrize("name", ["-x", "--force", "-C", "a b", "é\n", "[x]*", "~"])
def test_a_worktree_of_an_awkward_name_lands(world: World, name: str) -> None:
    agent = world.agent("a", path=world.root / ".trees" / name)
    top = world.agent("top", path=world.root / name)

    run = world.wave(world.entry(agent, worktree_path=f".trees/{name}"), world.entry(top, worktree_path=name))

    assert run.code == 0, run.doc
    assert world.landed(agent)
    assert world.landed(top)


def test_a_path_with_dots_that_leads_to_the_worktree_takes_only_that(world: World) -> None:
    agent, other = world.agent("a"), world.agent("other")

    run = world.wave(world.entry(agent, worktree_path=f"{other.path}/../a"))

    assert world.landed(agent) if run.code == 0 else world.untouched(agent)
    assert world.untouched(other)


def test_a_null_byte_or_lone_surrogate_is_an_invalid_entry(world: World) -> None:
    rest = {"branch": "agent-a", "expected_base": world.head()}
    entries = [{"worktree_path": text, **rest} for text in ("/r\0", "/r\ud800", "/\udcff")]

    run = world.wave(*entries)

    assert [entry["reason"] for entry in run.entries] == ["invalid_entry"] * 3


def test_two_entries_that_share_a_branch_clear_only_the_one_that_is_right(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")

    run = world.wave(world.entry(two, branch=one.branch, expected_base=one.base), one)

    assert run.outcome(0) == ("blocked", "branch_mismatch")
    assert run.outcome(1) == ("merged_removed", "ok")
    assert world.untouched(two)


def test_a_worktree_on_the_branch_twice_keeps_the_one_that_is_not_named(world: World) -> None:
    agent: Agent = world.agent("a")
    twin = world.tmp / "twin"
    world.git("worktree", "add", "-q", "--force", twin, agent.branch)
    put(twin / "uncommitted.txt", "x")

    run = world.wave(agent)

    assert (twin / "uncommitted.txt").is_file()
    assert str(twin) in world.worktrees()
    assert world.git_code("rev-parse", "--verify", "-q", "HEAD", cwd=twin) == 0, run.doc


def test_a_fifo_in_the_worktree_stops_nobody(world: World) -> None:
    bad, good = world.agent("bad"), world.agent("good")
    os.mkfifo(bad.path / "pipe")
    (bad.path / ".planning").mkdir()
    os.mkfifo(bad.path / ".planning/1-SUMMARY.md")

    run = world.wave(bad, good)

    assert run.entry(bad)["status"] in {"blocked", "merged_removed"}
    assert world.landed(good)
    subprocess.run(["git", "-C", world.root, "status"], check=True, capture_output=True)
