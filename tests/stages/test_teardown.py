"""Teardown: are worktree and branch gone, and only they?"""

import os
import subprocess
from collections.abc import Iterator

import pytest

from support.repo import put
from support.shim import Shim
from support.world import Agent, World


@pytest.fixture
def live_pid() -> Iterator[int]:
    """A process that is alive and is none of our ancestors."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def lock(world: World, agent: Agent, reason: str | None) -> None:
    world.git("worktree", "lock", *(() if reason is None else ("--reason", reason)), agent.path)


def assert_withheld(world: World, agent: Agent, reason: str) -> None:
    """Merged, but worktree, lock and branch still stand as they did."""
    assert world.merged(agent.tip)
    assert world.worktrees()[str(agent.path)]["locked"] == reason
    assert agent.path.is_dir()
    assert world.branches()[agent.branch] == agent.tip


# -- what is cleared away


def test_worktree_registration_and_branch_are_gone_and_nothing_else(world: World) -> None:
    agent, bystander = world.agent("a"), world.agent("bystander")
    world.git("branch", "agent-unnamed")
    world.git("tag", "kept")
    put(bystander.path / "scratch.txt", "x")
    others = world.branches()
    del others[agent.branch], others["main"]

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok")
    assert world.landed(agent)
    left = world.branches()
    assert left.pop("main") == world.head()
    assert left == others
    assert world.registered(bystander)
    assert (bystander.path / "scratch.txt").read_text() == "x"
    assert world.git("tag") == "kept"


def test_the_branchs_own_config_goes_with_it_and_other_config_stays(world: World) -> None:
    agent = world.agent("a")
    world.git("config", f"branch.{agent.branch}.description", "mine")
    world.git("config", "branch.agent-other.description", "theirs")

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert world.git("config", "branch.agent-other.description") == "theirs"


def test_a_registration_that_the_manifest_does_not_name_is_never_pruned(world: World) -> None:
    absent, stranger = world.agent("absent"), world.agent("stranger")
    for agent in (absent, stranger):
        subprocess.run(["rm", "-rf", agent.path], check=True)

    run = world.wave(absent)

    assert run.outcome() == ("merged_removed", "ok")
    assert run.codes() == ["accepted_absent_worktree"]
    assert not world.registered(absent)
    assert world.registered(stranger)
    assert world.branches()[stranger.branch] == stranger.tip


def test_an_absent_worktree_that_is_back_before_teardown_is_kept(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    subprocess.run(["rm", "-rf", agent.path], check=True)
    shim.after("merge", f"mkdir {agent.path} && echo back >{agent.path}/file")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_remove_failed"), shim.chatter()
    assert run.entry()["merge_commit"] == world.head()
    assert world.registered(agent)
    assert (agent.path / "file").read_text() == "back\n"
    assert world.branches()[agent.branch] == agent.tip


# -- locks


@pytest.mark.parametrize(
    "reason",
    [
        None,
        "agent-a",
        "worktree-agent-a",
        "claude agent agent-a",
        "claude session",
        "Claude Code",
    ],
)
def test_a_lock_of_the_harness_is_opened(world: World, reason: str | None) -> None:
    agent = world.agent("a")
    lock(world, agent, reason)

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc
    assert world.landed(agent)


def test_a_lock_that_names_a_dead_process_is_opened(world: World, dead_pid: int) -> None:
    agent = world.agent("a")
    lock(world, agent, f"busy (pid {dead_pid})")

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc


def test_a_lock_that_names_an_ancestor_of_ours_is_opened(world: World) -> None:
    agent = world.agent("a")
    lock(world, agent, f"claude agent agent-a (pid {os.getppid()})")

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc


@pytest.mark.parametrize("form", ["claude agent agent-a (pid {})", "pid {}", "agent-a pid={}", "pid: {}"])
def test_a_lock_that_names_another_live_process_stays(world: World, live_pid: int, form: str) -> None:
    agent, good = world.agent("a"), world.agent("good")
    lock(world, agent, form.format(live_pid))

    run = world.wave(agent, good)

    assert run.code == 1
    assert run.entry(agent)["status"] != "merged_removed"
    assert run.entry(agent)["reason"] == "worktree_locked"
    assert run.entry(agent)["merge_commit"] is not None
    assert str(live_pid) in run.entry(agent)["stderr"]
    assert_withheld(world, agent, form.format(live_pid))
    assert world.landed(good)


@pytest.mark.parametrize(
    "reason",
    [
        "do not touch, Bob",
        "wait for the review",
        "agent-ab is at work",
        "on a USB stick",
        "not-claudes",
        "42",
    ],
)
def test_a_lock_with_a_persons_words_stays(world: World, reason: str) -> None:
    agent, good = world.agent("a"), world.agent("good")
    lock(world, agent, reason)

    run = world.wave(agent, good)

    assert run.entry(agent)["reason"] == "worktree_locked"
    assert run.entry(agent)["merge_commit"] is not None
    assert reason in run.entry(agent)["stderr"]
    assert_withheld(world, agent, reason)
    assert world.landed(good)


def test_a_short_agent_id_is_not_found_inside_a_persons_word(world: World) -> None:
    agent = world.agent("a")
    lock(world, agent, "bob wants that")

    run = world.wave(world.entry(agent, agent_id="a"))

    assert run.entry()["reason"] == "worktree_locked"
    assert_withheld(world, agent, "bob wants that")


def test_no_agent_id_matches_no_lock(world: World) -> None:
    agent = world.agent("a")
    lock(world, agent, "None of your business")

    run = world.wave(world.entry(agent, agent_id=None))

    assert run.entry()["reason"] == "worktree_locked"
    assert_withheld(world, agent, "None of your business")


def test_what_was_withheld_is_cleared_when_the_lock_is_gone(world: World) -> None:
    agent = world.agent("a")
    lock(world, agent, "wait for Bob")
    assert world.wave(agent).entry()["reason"] == "worktree_locked"
    merged = world.head()
    world.git("worktree", "unlock", agent.path)

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert world.landed(agent)
    assert world.head() == merged


def test_a_locked_worktree_that_is_absent_keeps_its_registration_for_a_person(world: World) -> None:
    agent = world.agent("a")
    lock(world, agent, "on a USB stick")
    subprocess.run(["rm", "-rf", agent.path], check=True)

    run = world.wave(agent)

    assert run.code == 1
    assert run.entry()["status"] != "merged_removed"
    assert world.registered(agent)
    assert world.branches()[agent.branch] == agent.tip


# -- removal and deletion that fail


def test_a_removal_that_fails_keeps_merge_and_branch_and_the_others_go_on(world: World, shim: Shim) -> None:
    bad, good = world.agent("bad"), world.agent("good")
    shim.fail("worktree remove", 128, "fatal: it would not go\n", arg=str(bad.path))

    run = world.wave(bad, good)

    assert run.code == 1
    assert run.outcome(bad) == ("blocked", "worktree_remove_failed")
    assert run.entry(bad)["merge_commit"] is not None
    assert "it would not go" in run.entry(bad)["stderr"]
    assert world.merged(bad.tip)
    assert bad.path.is_dir()
    assert world.branches()[bad.branch] == bad.tip
    assert world.landed(good)


def test_a_removal_that_says_it_removed_and_did_not_keeps_the_branch(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.fail("worktree remove", 0)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_remove_failed")
    assert agent.path.is_dir()
    assert world.branches()[agent.branch] == agent.tip


def test_a_branch_that_cannot_be_deleted_is_a_warning_and_the_others_go_on(world: World) -> None:
    bad, good = world.agent("bad"), world.agent("good")
    put(world.root / f".git/refs/heads/{bad.branch}.lock", "")

    run = world.wave(bad, good)

    assert run.code == 1
    assert run.entry(bad)["status"] == "warning"
    assert "branch_delete_failed" in {run.entry(bad)["reason"], *run.codes(bad)}
    assert run.entry(bad)["merge_commit"] is not None
    assert not bad.path.exists()
    assert world.branches()[bad.branch] == bad.tip
    assert world.landed(good)


# -- things that move while the wave runs

COMMIT = "cd {path} && echo late >late.txt && git add late.txt && git commit -qm late"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_commit_made_on_the_branch_around_the_merge_is_not_lost(world: World, shim: Shim, moment: str) -> None:
    agent = world.agent("a")
    getattr(shim, moment)("merge", COMMIT.format(path=agent.path), nth=1)

    run = world.wave(agent)

    late = world.git("rev-parse", "HEAD", cwd=agent.path)
    assert late != agent.tip, shim.chatter()
    assert run.outcome() == ("blocked", "branch_moved")
    assert run.entry()["merge_commit"] is not None
    assert run.entry()["tip"] == agent.tip
    assert world.git("rev-parse", "HEAD^2") == agent.tip
    assert world.branches()[agent.branch] == late
    assert (agent.path / "late.txt").read_text() == "late\n"


def test_a_commit_made_on_the_branch_after_the_removal_is_not_lost(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    late = world.git("commit-tree", "-p", agent.tip, "-m", "late", f"{agent.tip}^{{tree}}")
    shim.after("worktree remove", f"git -C {world.root} update-ref refs/heads/{agent.branch} {late}")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_moved"), shim.chatter()
    assert world.branches()[agent.branch] == late


def test_a_worktree_that_left_its_branch_with_commits_of_its_own_is_kept(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    detach = f"cd {agent.path} && git checkout -q --detach && git commit -q --allow-empty -m loose"
    shim.before("merge", detach, nth=1)

    run = world.wave(agent)

    assert run.outcome()[0] == "blocked", shim.chatter()
    assert run.outcome()[1] in {"branch_moved", "worktree_remove_failed"}
    loose = world.git("rev-parse", "HEAD", cwd=agent.path)
    assert loose != agent.tip
    assert world.branches()[agent.branch] == agent.tip


@pytest.mark.parametrize("name", ["late.txt", "LICENSE", "late dir/é.txt"])
def test_a_file_written_after_the_dirt_check_is_not_lost(world: World, shim: Shim, name: str) -> None:
    agent = world.agent("a")
    shim.before("merge", f"mkdir -p '{agent.path}/late dir' && echo late >'{agent.path}/{name}'", nth=1)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_remove_failed"), shim.chatter()
    assert name in run.entry()["stderr"]
    assert (agent.path / name).read_text() == "late\n"
    assert run.entry()["merge_commit"] is not None
    assert world.branches()[agent.branch] == agent.tip


def test_an_ignored_file_written_after_the_dirt_check_is_not_lost(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.before("merge", f"echo late >{agent.path}/secret.env", nth=1)

    run = world.wave(agent)

    kept = [agent.path / "secret.env", *map(world.root.joinpath, (w["path"] for w in run.warnings()))]
    assert [path for path in kept if path.is_file() and path.read_text() == "late\n"], run.doc
