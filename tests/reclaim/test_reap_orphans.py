"""`git wave reap-orphans`: locked worktrees whose owner is dead and whose work is in the default branch."""

import os
import shutil
from collections.abc import Callable

import pytest

from support.forked import run_forked
from support.killing import KILLED, calm, kill_when
from support.reclaim import admin, dead_pid, fates, lock, process, reap, reap_orphans, taken, untouched
from support.repo import put
from support.shim import Shim
from support.unseen import edit_unseen
from support.world import Agent, World


def orphan(world: World, name: str = "one", **kwargs: object) -> Agent:
    """Its owner is dead, its lock is old and its branch has nothing of its own."""
    agent = world.agent(name, {}, **kwargs)  # type: ignore[arg-type]
    lock(world, agent, f"claude agent (pid {dead_pid()})")
    return agent


def test_an_orphan_whose_work_is_in_the_default_branch_goes_and_its_branch_stays(yard: World) -> None:
    agent, unlocked = orphan(yard), yard.agent("two", {})

    dry = reap_orphans("--dry-run")
    answer = reap_orphans()

    assert fates(dry) == {"one": ("would_remove", "pid_dead_and_merged")}
    assert (answer.code, fates(answer)) == (0, {"one": ("removed", "pid_dead_and_merged")})
    assert taken(yard, agent)
    assert untouched(yard, unlocked)


def relock(world: World, agent: Agent, reason: str) -> None:
    world.git("worktree", "unlock", agent.path)
    lock(world, agent, reason)


def freshen(world: World, agent: Agent, age: float = 250) -> None:
    relock(world, agent, f"pid {dead_pid()}")
    locked = admin(world, agent) / "locked"
    then = locked.stat().st_mtime + 3600 - age
    os.utime(locked, (then, then))


def lose_the_branch(world: World, agent: Agent) -> None:
    world.git("update-ref", "-d", f"refs/heads/{agent.branch}")


KEPT: dict[str, tuple[Callable[[World, Agent], object], str]] = {
    "a lock of four minutes": (freshen, "lock_too_fresh"),
    "a lock without a pid": (lambda world, agent: relock(world, agent, "by hand"), "lock_owner_unknown"),
    "a lock without a reason": (lambda world, agent: relock(world, agent, ""), "lock_owner_unknown"),
    "a pid of a million digits": (lambda world, agent: relock(world, agent, f"pid {'9' * 30}"), "pid_alive"),
    "somebody else's pid": (lambda world, agent: relock(world, agent, "pid 1"), "pid_alive"),
    "a detached HEAD": (
        lambda world, agent: world.git("switch", "-q", "--detach", cwd=agent.path),
        "cannot_resolve_branch_tip",
    ),
    "a branch that is gone": (lose_the_branch, "cannot_resolve_branch_tip"),
    "work of its own": (lambda world, agent: world.commit(agent.path, {"a": "b"}), "branch_not_merged"),
    "a hidden edit, unseen": (lambda world, agent: edit_unseen(world, agent.path), "worktree_dirty"),
    "an edit": (lambda world, agent: put(agent.path / "new.txt", "new\n"), "worktree_dirty"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", KEPT)
def test_at_the_least_doubt_an_orphan_is_kept_with_the_reason(yard: World, case: str) -> None:
    agent = orphan(yard)
    arrange, reason = KEPT[case]
    arrange(yard, agent)

    answer = reap_orphans()

    assert fates(answer) == {"one": ("kept", reason)}
    assert agent.path.is_dir()
    assert "locked" in yard.worktrees()[str(agent.path)]


def test_a_pid_that_was_used_again_is_alive(yard: World) -> None:
    agent = yard.agent("one", {})

    with process(yard.tmp) as pid:
        lock(yard, agent, f"harness (pid {pid})")
        assert fates(reap_orphans()) == {"one": ("kept", "pid_alive")}

    assert fates(reap_orphans()) == {"one": ("removed", "pid_dead_and_merged")}


def test_a_lock_whose_age_cannot_be_read_is_not_an_old_one(yard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = orphan(yard)
    monkeypatch.setattr("git_wave.git.links.Worktree.locked_since", lambda worktree: os.lstat("/nowhere/at/all"))

    answer = reap_orphans()

    assert (answer.code, fates(answer)) == (1, {"one": ("kept", "lock_age_unknown")})
    assert untouched(yard, agent)


def test_where_git_does_not_remove_an_orphan_it_is_locked_again(yard: World, shim: Shim) -> None:
    agent = orphan(yard)
    before = (admin(yard, agent) / "locked").read_text()
    shim.fail("worktree remove")

    answer = reap_orphans()

    assert (answer.code, fates(answer)) == (1, {"one": ("kept", "remove_failed")})
    assert (admin(yard, agent) / "locked").read_text() == before
    assert untouched(yard, agent)


def test_the_lock_that_a_killed_run_had_taken_off_is_put_back_and_the_next_one_finishes(
    yard: World, shim: Shim
) -> None:
    agent = orphan(yard)
    locked = admin(yard, agent) / "locked"
    before = (locked.read_text(), locked.stat().st_mtime)
    kill_when(shim, '[ "$sub" = worktree ] && has unlock "$@"', "after")

    code = run_forked("git-wave", ["reap-orphans"])

    calm(shim)
    assert (code, locked.exists()) == (KILLED, False)
    assert fates(reap_orphans("--dry-run")) == {}
    assert reap("nobody").code == 0
    assert fates(reap_orphans("--dry-run")) == {"one": ("would_remove", "pid_dead_and_merged")}
    assert (locked.read_text(), locked.stat().st_mtime) == before


def test_a_locked_worktree_that_is_not_there_is_left_alone(yard: World) -> None:
    agent = orphan(yard)
    shutil.rmtree(agent.path)

    answer = reap_orphans()

    assert (answer.code, answer.doc["worktrees"]) == (0, [])
    assert [warning["code"] for warning in answer.doc["warnings"]] == ["registration_kept"]
    assert yard.registered(agent)


def test_an_orphan_outside_the_managed_root_is_kept(yard: World) -> None:
    yard.worktree_dir.mkdir()
    agent = orphan(yard, path=yard.tmp / "elsewhere/one")

    assert fates(reap_orphans()) == {"one": ("kept", "outside_managed_root")}
    assert untouched(yard, agent)


def test_a_lock_that_came_off_although_git_said_no_is_put_back(yard: World, shim: Shim) -> None:
    agent = orphan(yard)
    shim.rules.append('if [ "$sub" = worktree ] && has unlock "$@"; then "$real" "$@"; exit 128; fi\n')
    shim.install()

    assert fates(reap_orphans()) == {"one": ("kept", "remove_failed")}
    assert (admin(yard, agent) / "locked").exists()
