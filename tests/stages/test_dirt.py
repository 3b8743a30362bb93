"""Is anything uncommitted left in the worktree?"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import REAL_GIT, put
from support.shim import Shim
from support.unseen import FLAGS, edit_unseen
from support.world import World, files_below

DIRTY = "worktree_dirty"
Dirty = Callable[[World, Path], object]


def git(world: World, where: Path, *args: str) -> str:
    return world.git(*args, cwd=where)


def exclude(world: World, *patterns: str) -> None:
    put(world.root / ".git/info/exclude", "\n".join(patterns) + "\n")


def type_changed(world: World, where: Path) -> None:
    (where / "setup.cfg").unlink()
    (where / "setup.cfg").symlink_to("README.md")


def staged_then_reverted_on_disk(world: World, where: Path) -> None:
    before = (where / "setup.cfg").read_text()
    put(where / "setup.cfg", "staged")
    world.git("add", "setup.cfg", cwd=where)
    put(where / "setup.cfg", before)


def same_size_edit(world: World, where: Path) -> None:
    old = (where / "setup.cfg").read_text()
    put(where / "setup.cfg", old.swapcase())


DIRT: dict[str, Dirty] = {
    "modified": lambda world, where: put(where / "setup.cfg", "edited"),
    "emptied": lambda world, where: put(where / "setup.cfg", ""),
    "modified to the same size": same_size_edit,
    "staged": lambda world, where: (
        put(where / "setup.cfg", "edited"),
        git(world, where, "add", "setup.cfg"),
    ),
    "staged, then put back on disk": staged_then_reverted_on_disk,
    "deleted": lambda world, where: (where / "setup.cfg").unlink(),
    "deletion staged": lambda world, where: git(world, where, "rm", "-q", "setup.cfg"),
    "removed from the index only": lambda world, where: git(world, where, "rm", "-q", "--cached", "setup.cfg"),
    "untracked": lambda world, where: put(where / "untracked.txt", "x"),
    "untracked and empty": lambda world, where: put(where / "untracked.txt", ""),
    "untracked in a new directory": lambda world, where: put(where / "new/deep/untracked.txt", "x"),
    "untracked link": lambda world, where: (where / "link").symlink_to("README.md"),
    "added": lambda world, where: (put(where / "added.txt", "x"), git(world, where, "add", "added.txt")),
    "intent to add": lambda world, where: (
        put(where / "n.txt", "x"),
        git(world, where, "add", "-N", "n.txt"),
    ),
    "renamed": lambda world, where: git(world, where, "mv", "setup.cfg", "renamed.cfg"),
    "moved": lambda world, where: (where / "setup.cfg").rename(where / "moved.cfg"),
    "executable": lambda world, where: (where / "setup.cfg").chmod(0o755),
    "type changed": type_changed,
}
HIDING_SETTINGS = [
    "status.showUntrackedFiles=no",
    "status.short=true",
    "status.branch=true",
    "status.showStash=true",
    "status.relativePaths=false",
    "status.renames=false",
    "status.submoduleSummary=true",
    "status.aheadBehind=false",
    "color.ui=always",
    "color.status=always",
    "column.ui=always",
    "core.quotePath=false",
    "core.untrackedCache=true",
    "core.preloadIndex=false",
    "core.checkStat=minimal",
    "diff.ignoreSubmodules=all",
    "diff.external=true",
    "advice.statusHints=true",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", DIRT)
def test_uncommitted_change_blocks_and_stays(world: World, kind: str) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    DIRT[kind](world, agent.path)
    before = files_below(agent.path), world.git("ls-files", "-s", cwd=agent.path)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, DIRTY)
    assert run.entry(agent)["stderr"]
    assert_landed(world, run, fine)
    assert (files_below(agent.path), world.git("ls-files", "-s", cwd=agent.path)) == before


@pytest.mark.sampled(4)
@pytest.mark.parametrize("setting", HIDING_SETTINGS)
@pytest.mark.parametrize("kind", ["untracked", "modified"])
def test_users_status_settings_hide_nothing(world: World, setting: str, kind: str) -> None:
    world.git("config", "--global", *setting.split("=", 1))
    agent, fine = world.agent("a"), world.agent("b")
    DIRT[kind](world, agent.path)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, DIRTY)
    assert_landed(world, run, fine)


def test_blocked_entry_names_the_offending_paths(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "setup.cfg", "edited")
    put(agent.path / "un tracked/größe.txt", "x")
    detail = world.wave(agent).entry()["stderr"].splitlines()
    assert len(detail) == 2
    assert "setup.cfg" in detail[0] + detail[1]
    assert "un tracked/" in detail[0] + detail[1]


@pytest.mark.parametrize("name", ["new\nline", "-rf", "esc\x1b[2J", ' "q" ', "a -> b", "\udce9", "R  x"])
def test_odd_names_are_dirt_and_harm_nothing(world: World, name: str) -> None:
    agent = world.agent("a")
    put(agent.path / name, "x")
    run = world.wave(agent)
    assert_blocked(world, run, agent, DIRTY)
    assert "\x1b" not in run.out + run.err
    assert len(run.entry()["stderr"].splitlines()) == 1


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edit_hidden_by_an_index_flag_blocks(world: World, flag: str) -> None:
    agent = world.agent("a")
    world.git("update-index", flag, "setup.cfg", cwd=agent.path)
    put(agent.path / "setup.cfg", "hidden edit")
    assert world.git("status", "--porcelain", cwd=agent.path) == ""
    run = world.wave(agent)
    assert_blocked(world, run, agent, DIRTY)
    assert "setup.cfg" in run.entry()["stderr"]
    assert (agent.path / "setup.cfg").read_text() == "hidden edit"


@pytest.mark.parametrize("flag", FLAGS)
def test_a_hidden_edit_that_no_size_and_no_time_gives_away_blocks(world: World, flag: str) -> None:
    agent = world.agent("a")
    edited = edit_unseen(world, agent.path, flag=flag)

    run = world.wave(agent)

    assert_blocked(world, run, agent, DIRTY)
    assert "hidden edit: setup.cfg" in run.entry()["stderr"]
    assert (agent.path / "setup.cfg").read_bytes() == edited


@pytest.mark.parametrize("setting", ["core.ignoreStat=true", "diff.autoRefreshIndex=false", "core.splitIndex=true"])
def test_settings_make_no_hidden_edit_where_there_is_none(world: World, setting: str) -> None:
    agent = world.agent("a")
    world.git("config", *setting.split("="))
    world.git("update-index", "--assume-unchanged", "setup.cfg", cwd=agent.path)
    os.utime(agent.path / "setup.cfg")

    assert_all_landed(world, world.wave(agent), agent)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_index_flag_on_an_unedited_file_lands(world: World, flag: str) -> None:
    agent = world.agent("a")
    world.git("update-index", flag, "setup.cfg", "src/app.py", cwd=agent.path)
    assert_all_landed(world, world.wave(agent), agent)


def test_sparse_worktree_lands(world: World) -> None:
    agent = world.agent("a")
    world.git("sparse-checkout", "set", "src", cwd=agent.path)
    assert not (agent.path / "docs").exists()
    assert_all_landed(world, world.wave(agent), agent)


@pytest.mark.parametrize("version", ["1", "2"])
def test_lying_file_system_monitor_hides_nothing(world: World, version: str) -> None:
    agent = world.agent("a")
    monitor = put(world.tmp / "monitor", "#!/bin/sh\nprintf 'token\\0'\n" if version == "2" else "#!/bin/sh\n")
    monitor.chmod(0o755)
    world.git("config", "core.fsmonitor", str(monitor))
    world.git("config", "core.fsmonitorHookVersion", version)
    world.git("status", cwd=agent.path)
    put(agent.path / "setup.cfg", "hidden edit")
    assert world.git("status", "--porcelain", cwd=agent.path) == ""
    assert_blocked(world, world.wave(agent), agent, DIRTY)


def test_worktrees_own_settings_hide_nothing(world: World) -> None:
    agent = world.agent("a")
    world.git("config", "extensions.worktreeConfig", "true")
    world.git("config", "--worktree", "status.showUntrackedFiles", "no", cwd=agent.path)
    put(agent.path / "untracked.txt", "x")
    assert_blocked(world, world.wave(agent), agent, DIRTY)


def test_setting_that_sends_git_to_another_directory_hides_nothing(world: World) -> None:
    agent, decoy = world.agent("a"), world.agent("decoy", write={})
    world.git("checkout", "-q", "--detach", agent.tip, cwd=decoy.path)
    world.git("config", "extensions.worktreeConfig", "true")
    world.git("config", "--worktree", "core.worktree", str(decoy.path), cwd=agent.path)
    put(agent.path / "untracked.txt", "x")
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert world.branches()[agent.branch] == agent.tip
    assert (agent.path / "untracked.txt").exists()


@pytest.mark.parametrize("command", ["status", "ls-files"])
def test_dirt_that_cannot_be_asked_blocks_with_gits_words(world: World, shim: Shim, command: str) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    shim.fail(command, code=128, stderr="fatal: boom\n", arg=str(agent.path))
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, "dirt_check_failed")
    assert "boom" in run.entry(agent)["stderr"]
    assert_landed(world, run, fine)


def test_file_written_after_the_identity_was_settled_is_dirt_and_nothing_is_merged(world: World, shim: Shim) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    shim.before("merge-base", f"touch {agent.path}/late.txt", nth=1)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, DIRTY)
    assert (agent.path / "late.txt").exists()
    assert_landed(world, run, fine)


def test_broken_index_blocks(world: World) -> None:
    agent = world.agent("a")
    put(world.root / ".git/worktrees/a/index", "no index at all")
    assert_blocked(world, world.wave(agent), agent, "dirt_check_failed")


def test_worktree_is_read_without_taking_its_locks_or_refreshing_its_index(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "untracked.txt", "x")
    (agent.path / "setup.cfg").touch()
    admin = world.root / ".git/worktrees/a"
    (admin / "index.lock").touch()
    before = {name: (admin / name).read_bytes() for name in ("index", "HEAD", "index.lock")}
    run = world.wave(agent)
    assert_blocked(world, run, agent, DIRTY)
    assert {name: (admin / name).read_bytes() for name in before} == before


def test_file_whose_dates_alone_changed_is_not_dirt(world: World) -> None:
    agent = world.agent("a")
    (agent.path / "setup.cfg").touch()
    assert_all_landed(world, world.wave(agent), agent)


def test_empty_directory_is_not_dirt(world: World) -> None:
    agent = world.agent("a")
    (agent.path / "empty/inside").mkdir(parents=True)
    assert_all_landed(world, world.wave(agent), agent)


def test_stash_that_an_agent_made_outlives_its_worktree(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "setup.cfg", "stashed")
    world.git("stash", cwd=agent.path)
    stash = world.git("rev-parse", "refs/stash")
    assert_all_landed(world, world.wave(agent), agent)
    assert world.git("rev-parse", "refs/stash") == stash
    assert world.git("show", "stash@{0}:setup.cfg") == "stashed"


# --- operations in progress whose status is clean


def merge(world: World, where: Path) -> None:
    side = git(world, where, "commit-tree", "-p", "HEAD~1", "-m", "side", "HEAD~1^{tree}")
    git(world, where, "merge", "-q", "--no-commit", "-s", "ours", side)


def cherry_pick(world: World, where: Path) -> None:
    assert world.git_code("cherry-pick", "HEAD", cwd=where) == 1


def revert(world: World, where: Path) -> None:
    for text in ("one", "two"):
        world.commit(where, write={"setup.cfg": text})
    assert world.git_code("revert", "--no-edit", "HEAD~1", cwd=where) == 1
    git(world, where, "checkout", "-q", "HEAD", "--", "setup.cfg")


def bisect(world: World, where: Path) -> None:
    git(world, where, "bisect", "start")


def apply_mail(world: World, where: Path) -> None:
    patch = b"From: a <a@b>\nSubject: x\n\n---\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n"
    done = subprocess.run(
        [REAL_GIT, "am", "-q"], cwd=where, env=world.env, input=patch, capture_output=True, check=False
    )
    assert done.returncode == 128


def rebase(world: World, where: Path) -> None:
    world.env["GIT_SEQUENCE_EDITOR"] = "sed -i 1ibreak"
    git(world, where, "rebase", "-q", "-i", "HEAD~1")


@pytest.mark.parametrize("start", [merge, cherry_pick, revert, bisect, apply_mail, rebase])
def test_operation_in_progress_blocks_though_the_status_is_clean(world: World, start: Dirty) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    start(world, agent.path)
    assert world.git("status", "--porcelain", cwd=agent.path) == ""
    tip = world.branches()[agent.branch]
    run = world.wave(agent, fine)
    expected = "branch_mismatch" if start is rebase else DIRTY
    assert run.outcome(agent) == ("blocked", expected)
    assert world.branches()[agent.branch] == tip
    assert world.registered(agent)
    assert not world.merged(tip)
    assert_landed(world, run, fine)


@pytest.mark.parametrize("ref", ["refs/worktree/mine", "refs/bisect/bad", "refs/rewritten/mine"])
@pytest.mark.parametrize("packed", [False, True])
def test_commit_that_only_a_ref_of_the_worktrees_own_reaches_is_not_lost(world: World, ref: str, packed: bool) -> None:
    agent = world.agent("a")
    only_here = world.git("commit-tree", "-p", agent.tip, "-m", "only here", f"{agent.tip}^{{tree}}")
    world.git("update-ref", ref, only_here, cwd=agent.path)
    if packed:
        world.git("pack-refs", "--all", cwd=agent.path)
    run = world.wave(agent)
    if run.outcome()[0] == "blocked":
        assert_blocked(world, run, agent, DIRTY)
        assert world.git("rev-parse", ref, cwd=agent.path) == only_here
    else:
        assert world.reachable(only_here)
