"""A worktree whose directory is gone: accepted when git registers it on the branch and it proved gone."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import put
from support.shim import Shim
from support.world import Agent, World

MISMATCH = "branch_mismatch"
ABSENT = "accepted_absent_worktree"


def vanish(*agents: Agent) -> None:
    for agent in agents:
        shutil.rmtree(agent.path)


def prunable(world: World, agent: Agent) -> str | None:
    return world.worktrees()[str(agent.path)].get("prunable")


def test_absent_worktree_lands_with_gits_own_words_as_detail(world: World) -> None:
    agent = world.agent("a")
    vanish(agent)
    words = prunable(world, agent)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    (warning,) = run.warnings(agent)
    assert warning == {"code": ABSENT, "branch": agent.branch, "path": str(agent.path), "detail": words}
    assert warning in run.doc["result"]["warnings"]
    assert words


@pytest.mark.parametrize("count", [2, 3])
def test_absent_worktrees_all_land_and_the_list_is_read_once(world: World, shim: Shim, count: int) -> None:
    agents = [world.agent(name) for name in "abc"[:count]]
    vanish(*agents)
    run = world.wave(*agents)
    assert_all_landed(world, run, *agents)
    assert [run.codes(agent) for agent in agents] == [[ABSENT]] * count
    assert len(shim.calls("worktree list")) == 1


def test_absent_and_present_worktrees_land_side_by_side(world: World) -> None:
    first, second, third = (world.agent(name) for name in "abc")
    vanish(second)
    run = world.wave(first, second, third)
    assert_all_landed(world, run, first, second, third)
    assert [run.codes(agent) for agent in (first, second, third)] == [[], [ABSENT], []]


@pytest.mark.parametrize(
    "through",
    [r"sed 's/prunable [^\x00]*/prunable/'", r"sed -z '/^prunable/d' | sed '/^prunable/d'"],
    ids=["bare", "none"],
)
def test_detail_is_null_where_git_gives_no_prunable_reason(world: World, shim: Shim, through: str) -> None:
    agent = world.agent("a")
    vanish(agent)
    shim.rewrite("worktree list", through)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert [warning["detail"] for warning in run.warnings(agent, ABSENT)] == [None]


def test_gone_worktree_that_git_registers_on_another_branch_is_blocked(world: World) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    world.git("switch", "-q", "-c", "worktree-agent-other", cwd=agent.path)
    vanish(agent, fine)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, MISMATCH)
    assert_landed(world, run, fine)
    assert "worktree-agent-other" in world.branches()


def test_gone_worktree_that_was_detached_is_blocked(world: World) -> None:
    agent = world.agent("a")
    world.git("checkout", "-q", "--detach", cwd=agent.path)
    vanish(agent)
    assert_blocked(world, world.wave(agent), agent, MISMATCH)


def test_path_that_was_never_registered_is_blocked_though_the_branch_exists(world: World) -> None:
    agent = world.agent("a")
    vanish(agent)
    run = world.wave(world.entry(agent, worktree_path=str(world.worktree_dir / "never")))
    assert_blocked(world, run, agent, MISMATCH)


def test_worktree_that_was_pruned_before_the_wave_is_blocked_though_the_branch_exists(world: World) -> None:
    agent = world.agent("a")
    vanish(agent)
    world.git("worktree", "prune")
    run = world.wave(agent)
    assert run.outcome() == ("blocked", MISMATCH)
    assert world.branches()[agent.branch] == agent.tip
    assert not world.merged(agent.tip)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ENOTDIR, errno.ELOOP, errno.ESTALE, errno.EPERM])
def test_unreadable_path_is_blocked_though_git_calls_it_prunable(
    world: World, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    vanish(agent)
    assert prunable(world, agent)
    refuse_lstat(monkeypatch, agent.path, code)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, MISMATCH)
    assert_landed(world, run, fine)


def refuse_lstat(monkeypatch: pytest.MonkeyPatch, refused: Path, code: int, since: Path | None = None) -> None:
    """Stand-in for a path that the system will not look at; with `since`, not before that file is there."""

    def lstat(path: str | Path, *args: object, **kwargs: object) -> os.stat_result:
        covered = Path(path) == refused or refused in Path(path).parents
        if covered and (since is None or since.exists()):
            raise OSError(code, os.strerror(code), str(path))
        return os.lstat(path)

    monkeypatch.setattr("git_wave.git.presence.lstat", lstat)


def file_for_parent(parent: Path) -> None:
    parent.write_text("x")


def loop_for_parent(parent: Path) -> None:
    parent.symlink_to(parent)


def dangling_parent(parent: Path) -> None:
    parent.symlink_to(parent.with_name("unmounted") / "volume")


@pytest.mark.parametrize("stand_in", [file_for_parent, loop_for_parent, dangling_parent])
def test_worktree_below_a_parent_that_cannot_be_read_is_blocked(world: World, stand_in: Callable[[Path], None]) -> None:
    agent = world.agent("a")
    world.worktree_dir.rename(world.tmp / "hidden")
    stand_in(world.worktree_dir)
    assert prunable(world, agent)
    run = world.wave(agent)
    assert_blocked(world, run, agent, MISMATCH)
    assert (world.tmp / "hidden/a/.git").exists()


def test_absence_is_not_accepted_where_the_list_cannot_be_read(world: World, shim: Shim) -> None:
    absent, present = world.agent("a"), world.agent("b")
    vanish(absent)
    shim.fail("worktree list", stderr="boom")
    run = world.wave(absent, present)
    assert_blocked(world, run, absent, MISMATCH)
    assert_landed(world, run, present)


def test_stale_registration_that_the_manifest_does_not_name_is_not_pruned(world: World) -> None:
    ours, theirs = world.agent("a"), world.agent("theirs")
    vanish(ours, theirs)
    os.utime(world.root / ".git/worktrees/theirs/gitdir", (1, 1))
    run = world.wave(ours)
    assert_all_landed(world, run, ours)
    assert world.untouched(theirs)


def test_blocked_absent_entry_keeps_its_registration_when_another_absent_one_lands(world: World) -> None:
    lands, blocked = world.agent("a"), world.agent("b")
    vanish(lands, blocked)
    run = world.wave(lands, world.entry(blocked, expected_base=world.git("rev-parse", "HEAD~2")))
    assert_landed(world, run, lands)
    assert_blocked(world, run, blocked, "base_mismatch")


@pytest.mark.parametrize("command", ["merge-base", "ls-files"])
def test_worktree_that_vanishes_after_identity_still_lands(world: World, shim: Shim, command: str) -> None:
    agent, other = world.agent("a"), world.agent("b")
    shim.before(command, f"rm -rf {agent.path}", nth=1)
    run = world.wave(agent, other)
    assert_all_landed(world, run, agent, other)
    assert run.codes(agent) == [ABSENT]
    assert run.codes(other) == []


def test_worktree_that_vanishes_after_identity_is_blocked_when_it_is_no_longer_registered(
    world: World, shim: Shim
) -> None:
    agent = world.agent("a")
    shim.before("merge-base", f"git worktree remove --force {agent.path}", nth=1)
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert world.branches()[agent.branch] == agent.tip
    assert not world.merged(agent.tip)


def test_worktree_that_becomes_unreadable_after_identity_is_blocked(
    world: World, shim: Shim, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    shim.before("merge-base", f"mv {world.worktree_dir} {world.tmp}/hidden; touch {world.worktree_dir}", nth=1)
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert world.untouched(agent)
    assert (world.tmp / "hidden/a/a.txt").exists()


@pytest.mark.parametrize("when", ["after merge", "before worktree remove"])
def test_worktree_that_vanishes_before_its_removal_still_lands(world: World, shim: Shim, when: str) -> None:
    agent, other = world.agent("a"), world.agent("b")
    place, _, words = when.partition(" ")
    getattr(shim, place)(words, f"rm -rf {agent.path}", nth=1)
    run = world.wave(agent, other)
    assert_all_landed(world, run, agent, other)


@pytest.mark.parametrize("names", [[], ["note.txt"]], ids=["empty", "with a file"])
def test_worktree_that_is_back_before_teardown_is_kept_with_its_registration_and_branch(
    world: World, shim: Shim, names: list[str]
) -> None:
    agent, other = world.agent("a"), world.agent("b")
    vanish(agent)
    shim.after(
        "merge", f"mkdir {agent.path}; cd {agent.path}; {'; '.join(['true', *(f'touch {n}' for n in names)])}", nth=1
    )
    run = world.wave(agent, other)
    assert run.outcome(agent) == ("blocked", "worktree_remove_failed")
    assert world.merged(agent.tip)
    assert run.entry(agent)["merge_commit"]
    assert world.branches()[agent.branch] == agent.tip
    assert world.registered(agent)
    assert [path.name for path in agent.path.iterdir()] == names
    assert_landed(world, run, other)
    assert run.code == 1


def test_worktree_that_is_unreadable_before_teardown_is_not_taken_for_gone(
    world: World, shim: Shim, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    vanish(agent)
    shim.after("merge", f"touch {world.tmp}/merged", nth=1)
    refuse_lstat(monkeypatch, agent.path, errno.EACCES, since=world.tmp / "merged")
    run = world.wave(agent)
    assert run.outcome() == ("blocked", "worktree_remove_failed")
    assert world.branches()[agent.branch] == agent.tip
    assert world.registered(agent)


def test_whole_checkout_that_is_back_before_teardown_is_kept(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    aside = world.tmp / "aside"
    agent.path.rename(aside)
    put(aside / "late.txt", "written while away")
    shim.after("merge", f"mv {aside} {agent.path}", nth=1)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", "worktree_remove_failed")
    assert (agent.path / "late.txt").read_text() == "written while away"
    assert world.branches()[agent.branch] == agent.tip
    assert world.registered(agent)


def test_absent_worktree_with_a_branch_that_gained_a_commit_meanwhile_keeps_that_commit(
    world: World, shim: Shim
) -> None:
    agent = world.agent("a")
    vanish(agent)
    late = world.git("commit-tree", "-p", agent.tip, "-m", "late", f"{agent.tip}^{{tree}}")
    shim.after("merge", f"git update-ref refs/heads/{agent.branch} {late}", nth=1)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", "branch_moved")
    assert world.branches()[agent.branch] == late
    assert world.registered(agent)


def test_gone_worktree_of_which_git_alone_has_a_commit_or_a_staged_file_is_blocked(world: World) -> None:
    first, second = world.agent("a"), world.agent("b")
    world.git("update-ref", "refs/worktree/mine", world.git("commit-tree", "-m", "x", "HEAD^{tree}"), cwd=first.path)
    put(second.path / "new.txt", "precious\n")
    world.git("add", "new.txt", cwd=second.path)
    vanish(first, second)
    run = world.wave(first, second)
    for agent in (first, second):
        assert (run.entry(agent)["reason"], run.entry(agent)["merge_commit"]) == ("worktree_dirty", None)
        assert world.registered(agent)


@pytest.mark.parametrize("shared", [True, False])
def test_gone_worktree_with_a_submodule_lands_only_where_a_remote_has_its_commits(world: World, shared: bool) -> None:
    agent = world.agent("a")
    inner = world.root / ".git/worktrees" / agent.path.name / "modules/sub"
    world.git("clone", "-q", "--bare", world.root, inner)
    world.git("config", "core.bare", "false", cwd=inner)
    world.git("config", "core.worktree", agent.path / "sub", cwd=inner)
    if shared:
        world.git(
            f"--git-dir={inner}", f"--work-tree={inner}", "update-ref", "refs/remotes/origin/all", "refs/heads/main"
        )
        world.git(f"--git-dir={inner}", f"--work-tree={inner}", "update-ref", "refs/remotes/origin/a", agent.tip)
    vanish(agent)
    run = world.wave(agent)
    assert run.entry(agent)["reason"] == ("ok" if shared else "worktree_dirty"), run.entry(agent)
    assert world.registered(agent) != shared


@pytest.mark.parametrize("same", [True, False])
def test_a_staged_summary_of_a_gone_worktree_is_safe_only_where_the_checkout_has_the_very_same(
    world: World, same: bool
) -> None:
    agent = world.agent("a")
    path = ".planning/phase/01-SUMMARY.md"
    put(agent.path / path, "done\n")
    world.git("add", path, cwd=agent.path)
    put(world.root / path, "done\n" if same else "of somebody else\n")
    vanish(agent)

    run = world.wave(agent)

    assert run.outcome() == (("merged_removed", "ok") if same else ("blocked", "worktree_dirty")), run.entry()
    assert world.registered(agent) != same
