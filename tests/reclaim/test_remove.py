"""`git wave remove`: one worktree goes if nothing is lost with it, and its branch stays."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from git_wave.cli.reclaim import place_of
from git_wave.git import door
from git_wave.model.interrupts import Interrupts
from support.calling import call
from support.reclaim import dead_pid, journals, lock, process, record, remove, taken, untouched
from support.repo import put
from support.shim import Shim
from support.unseen import edit_unseen
from support.world import Agent, World


@pytest.mark.parametrize("named_by", ["path", "relative path", "branch", "agent"])
def test_a_worktree_is_named_by_its_path_its_branch_or_its_agent(yard: World, named_by: str) -> None:
    agent, other = yard.agent("one"), yard.agent("two")
    record(yard, agent, "--session", "s-1")
    names = {"path": str(agent.path), "relative path": f"../wt/{agent.path.name}", "branch": agent.branch}

    answer = remove(names.get(named_by, agent.id))

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (0, "removed", "removed")
    assert (answer.doc["worktree_path"], answer.doc["branch"], answer.doc["tip"]) == (
        str(agent.path),
        agent.branch,
        agent.tip,
    )
    assert answer.doc["agent_id"] == agent.id
    assert taken(yard, agent)
    assert untouched(yard, other)


def test_a_removal_is_on_record_and_the_commands_that_read_journals_cope(yard: World) -> None:
    agent = yard.agent("one")

    run = remove(agent.path).doc["id"]

    (lines,) = journals(yard)
    assert [line["event"] for line in lines] == ["began", "intent", "intent", "done", "done", "ended"]
    assert (lines[0]["kind"], lines[1]["action"], lines[4]["outcome"]) == ("remove", "decide", "removed")
    assert call("log", "--json").doc[0]["kind"] == "remove"  # type: ignore[index]
    assert "removed" in call("show", run).out
    assert call("undo", run).doc["reason"] == "nothing_to_undo"
    assert call("undo").doc["reason"] == "nothing_to_undo"
    assert call("gc", "--older-than", "0").doc["expired"] == [run]


def test_a_name_that_may_mean_two_worktrees_is_refused(yard: World) -> None:
    one = yard.agent("one")
    two = yard.agent("two", branch=one.id)
    twice = yard.agent("three")
    record(yard, one, "--session", "s-1")
    record(yard, twice, "--session", "s-1", agent_id="agent-9")
    record(yard, two, "--session", "s-1", agent_id="agent-9")

    answers = [remove(one.id), remove("agent-9")]

    assert [(answer.code, answer.doc["reason"]) for answer in answers] == [(1, "target_ambiguous")] * 2
    assert all(untouched(yard, agent) for agent in (one, two, twice))


@pytest.mark.parametrize("name", ["nobody", "wt/nobody", "main", "."])
def test_a_name_of_no_linked_worktree_is_refused(yard: World, name: str) -> None:
    answer = remove(name)

    assert (answer.code, answer.doc["ok"]) == (1, False)
    assert answer.doc["reason"] == ("main_worktree" if name == "." else "target_unknown")
    assert answer.err.startswith(f"remove: {answer.doc['reason']} — ")


def test_only_a_repository_at_or_below_the_current_directory_may_be_touched(
    yard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = yard.agent("one")
    for place in (yard.tmp / "nowhere", yard.root / "src", agent.path):
        monkeypatch.chdir(place)
        answer = remove(agent.path)
        assert (answer.code, answer.doc["reason"]) == (1, "not_authorized"), place
        assert untouched(yard, agent)
    (yard.tmp / "link").symlink_to(yard.tmp)
    monkeypatch.chdir(yard.tmp / "link")

    answer = remove(yard.tmp / "link/wt/one")

    assert answer.doc["outcome"] == "removed"
    assert taken(yard, agent)


def test_uncommitted_work_stays_unless_it_is_to_be_preserved(yard: World) -> None:
    agent = yard.agent("one")
    put(agent.path / "new file.txt", "new\n")
    put(agent.path / "README.md", "edited\n")
    (agent.path / "LICENSE").unlink()
    yard.git("add", "README.md", cwd=agent.path)
    yard.hook("pre-commit", "exit 1")
    yard.hook("commit-msg", "exit 1")

    refused = remove(agent.path)
    assert (refused.code, refused.doc["reason"], refused.doc["preserved"]) == (1, "worktree_dirty", None)
    assert [(one["gate"], one["answer"]) for one in refused.doc["blockers"]] == [("dirt", "blocks")]
    assert untouched(yard, agent)
    answer = remove(agent.path, "--preserve")

    kept = answer.doc["preserved"]
    assert (answer.code, answer.doc["outcome"], answer.doc["tip"]) == (0, "removed", kept)
    assert yard.branches()[agent.branch] == kept
    assert yard.git("rev-parse", f"{kept}^") == agent.tip
    changed = yard.git("diff-tree", "-r", "--no-commit-id", "--name-status", kept).splitlines()
    assert changed == ["D\tLICENSE", "M\tREADME.md", "A\tnew file.txt"]
    assert yard.git("show", "-s", "--format=%an %ce", kept) == "Test User test@example.invalid"
    assert not agent.path.exists()


def test_without_an_identity_the_preserving_commit_is_made_in_our_name(yard: World) -> None:
    agent = yard.agent("one")
    put(agent.path / "new.txt", "new\n")
    Path(yard.env["GIT_CONFIG_GLOBAL"]).write_text("[init]\n\tdefaultBranch = main\n")

    answer = remove(agent.path, "--preserve")

    assert yard.git("show", "-s", "--format=%an", answer.doc["preserved"]) == "git-wave"


def test_where_the_preserving_commit_fails_index_files_and_branch_are_as_they_were(yard: World) -> None:
    agent = yard.agent("one")
    put(agent.path / "new.txt", "new\n")
    put(agent.path / "README.md", "staged\n")
    yard.git("add", "README.md", cwd=agent.path)
    put(agent.path / "README.md", "and edited\n")
    index = Path(yard.git("rev-parse", "--absolute-git-dir", cwd=agent.path)) / "index"
    before = index.read_bytes()
    yard.hook("reference-transaction", "exit 1")

    answer = remove(agent.path, "--preserve")

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (1, "kept", "commit_failed")
    assert answer.doc["preserved"] is None
    assert index.read_bytes() == before
    assert (agent.path / "new.txt").read_text() == "new\n"
    assert untouched(yard, agent)


def test_the_preserving_commit_is_told_also_when_the_removal_then_fails(yard: World, shim: Shim) -> None:
    agent = yard.agent("one")
    put(agent.path / "new.txt", "new\n")
    shim.fail("worktree remove", stderr="fatal: no room")

    answer = remove(agent.path, "--preserve")

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (1, "kept", "worktree_remove_failed")
    assert answer.doc["why"] == ["fatal: no room"]
    assert yard.branches()[agent.branch] == answer.doc["preserved"]
    assert yard.git("status", "--porcelain", cwd=agent.path) == ""


def conflict(world: World, agent: Agent) -> None:
    world.commit(write={"README.md": "ours\n"})
    world.commit(agent.path, {"README.md": "theirs\n"})
    world.git("merge", "-q", "main", cwd=agent.path, check=False)


def submodule(world: World, agent: Agent) -> None:
    world.git("init", "-q", world.tmp / "inner")
    world.git("commit", "-q", "--allow-empty", "-m", "inner", cwd=world.tmp / "inner")
    world.git("submodule", "add", "-q", world.tmp / "inner", "module", cwd=agent.path)
    world.git("commit", "-qm", "module", cwd=agent.path)


def hidden_edit(world: World, agent: Agent) -> None:
    world.git("update-index", "--assume-unchanged", "README.md", cwd=agent.path)
    put(agent.path / "README.md", "hidden\n")


def unprovable(world: World, agent: Agent) -> None:
    link = agent.path / ".git"
    link.write_text(link.read_text().replace("worktrees/one", "worktrees/two"))


NEVER: dict[str, tuple[Callable[[World, Agent], object], str]] = {
    "conflict": (conflict, "operation_in_progress"),
    "detached HEAD": (lambda world, agent: world.git("switch", "-q", "--detach", cwd=agent.path), "detached_head"),
    "a person's lock": (lambda world, agent: lock(world, agent, "mine"), "lock_owner_unknown"),
    "a live lock": (lambda world, agent: lock(world, agent, f"pid {os.getpid()}"), "pid_alive"),
    "submodule": (submodule, "submodules_initialized"),
    "hidden edit": (hidden_edit, "worktree_dirty"),
    "hidden edit, unseen": (lambda world, agent: edit_unseen(world, agent.path), "worktree_dirty"),
    "ignored output": (lambda world, agent: put(agent.path / "run.log", "out\n"), "ignored_output_blocks"),
    "unprovable": (unprovable, "cannot_tell"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", NEVER)
def test_nothing_overrides_what_would_be_lost_or_cannot_be_told(yard: World, case: str) -> None:
    agent = yard.agent("one")
    arrange, reason = NEVER[case]
    arrange(yard, agent)
    before = yard.branches()
    put(agent.path / "new.txt", "new\n")

    answer = remove(agent.path, "--preserve")

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (1, "kept", reason)
    assert answer.doc["preserved"] is None
    assert (agent.path / "new.txt").exists()
    assert yard.branches() == before


def test_a_worktree_outside_the_managed_root_is_kept(yard: World) -> None:
    yard.worktree_dir.mkdir()
    agent = yard.agent("one", path=yard.tmp / "elsewhere/one")

    assert remove(agent.branch).doc["reason"] == "outside_managed_root"
    assert untouched(yard, agent)


@pytest.mark.parametrize("holds", ["stands in it", "holds a file of it"])
def test_a_worktree_that_a_process_is_in_goes_only_after_it(yard: World, holds: str) -> None:
    agent = yard.agent("one")
    stands = holds == "stands in it"

    with process(agent.path if stands else yard.tmp, None if stands else agent.path / "README.md") as pid:
        answer = remove(agent.path)
        assert (answer.code, answer.doc["reason"]) == (1, "worktree_in_use")
        assert f"pid {pid}" in answer.doc["why"][0]
        assert untouched(yard, agent)

    assert remove(agent.path).doc["outcome"] == "removed"


def test_the_lock_of_a_dead_process_is_taken_off_and_put_back_if_git_then_refuses(yard: World, shim: Shim) -> None:
    agent = yard.agent("one")
    locked = lock(yard, agent, f"harness (pid {dead_pid()})")
    before = (locked.read_text(), locked.stat().st_mtime)
    shim.fail("worktree remove", nth=1)

    assert remove(agent.path).code == 1
    assert (locked.read_text(), locked.stat().st_mtime) == before
    assert remove(agent.path).doc["outcome"] == "removed"
    assert taken(yard, agent)


def test_what_is_gone_already_is_said_and_only_its_registration_dropped(yard: World) -> None:
    agent, stale = yard.agent("one"), yard.agent("two")
    for one in (agent, stale):
        shutil.rmtree(one.path)

    first = remove(agent.branch)
    again = [remove(agent.branch), remove(agent.path)]

    assert (first.code, first.doc["ok"], first.doc["outcome"]) == (0, True, "already_gone")
    assert [(one.code, one.doc["reason"]) for one in again] == [(0, "already_gone")] * 2
    assert taken(yard, agent)
    assert yard.registered(stale)


def test_a_new_checkout_at_the_same_path_is_judged_afresh(yard: World) -> None:
    agent = yard.agent("one")
    assert remove(agent.path).doc["outcome"] == "removed"
    yard.git("worktree", "add", "-q", agent.path, agent.branch)
    put(agent.path / "new.txt", "new\n")

    answer = remove(agent.path)

    assert (answer.doc["outcome"], answer.doc["reason"]) == ("kept", "worktree_dirty")


@pytest.mark.parametrize("empty", [True, False])
def test_a_disk_that_is_not_mounted_is_no_worktree_that_is_gone(yard: World, empty: bool) -> None:
    """`empty` leaves the mount point, as old as it was before the disk was mounted there."""
    disk = yard.tmp / "wt"
    agent = yard.agent("one")
    disk.rename(yard.tmp / "drawer")
    if empty:
        disk.mkdir()
        os.utime(disk, (0, 0))

    answer = remove(agent.branch)

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (1, "kept", "cannot_tell")
    assert yard.registered(agent)


@pytest.mark.parametrize(
    ("case", "spoil"),
    {
        "locked": lambda world, agent: world.git("worktree", "lock", agent.path),
        "staged": lambda world, agent: (put(agent.path / "new.txt", "n\n"), world.git("add", ".", cwd=agent.path)),
        "detached": lambda world, agent: world.git("switch", "-q", "--detach", cwd=agent.path),
    }.items(),
)
def test_a_registration_that_holds_something_stays_when_its_directory_is_gone(
    yard: World, case: str, spoil: Callable[[World, Agent], object]
) -> None:
    agent = yard.agent("one")
    spoil(yard, agent)
    shutil.rmtree(agent.path)

    answer = remove(agent.path)

    assert (answer.code, answer.doc["outcome"]) == (0, "already_gone")
    assert [warning["code"] for warning in answer.doc["warnings"]] == ["registration_kept"]
    assert yard.registered(agent)


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_worktree_that_was_replaced_by_a_link_takes_nothing_with_it(yard: World, shim: Shim, when: str) -> None:
    agent, other = yard.agent("one"), yard.agent("two")
    swap = f"mv {agent.path} {yard.tmp}/aside && ln -s {other.path} {agent.path}"
    if when == "before":
        agent.path.rename(yard.tmp / "aside")
        agent.path.symlink_to(other.path)
    else:
        shim.before("worktree remove", swap)

    answer = remove(agent.path)

    assert answer.code == 1
    assert answer.doc["outcome"] != "removed"
    assert untouched(yard, other)
    assert (other.path / "two.txt").exists()
    assert (yard.tmp / "aside/one.txt").exists()


def test_gits_word_that_it_removed_a_worktree_is_not_enough(yard: World, shim: Shim) -> None:
    agent = yard.agent("one")
    shim.fail("worktree remove", code=0)

    answer = remove(agent.path)

    assert (answer.code, answer.doc["outcome"], answer.doc["reason"]) == (1, "kept", "worktree_remove_failed")
    assert untouched(yard, agent)


def test_work_that_arrives_while_the_gates_are_asked_is_kept(yard: World, shim: Shim) -> None:
    agent = yard.agent("one")
    shim.after("status", f"echo late >{agent.path}/late.txt", nth=1)

    answer = remove(agent.path)

    assert (answer.doc["outcome"], answer.doc["reason"]) == ("kept", "worktree_dirty")
    assert (agent.path / "late.txt").exists()


@pytest.fixture
def out_of_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A flag: git's time is up as soon as it stands."""
    flag, really = tmp_path / "time-is-up", door.has_ended

    def has_ended(pid: int, timeout: float) -> bool:
        while not really(pid, 0.02):
            if flag.exists():
                return False
        return True

    monkeypatch.setattr(door, "has_ended", has_ended)
    return flag


def test_a_git_that_takes_too_long_has_not_answered(yard: World, shim: Shim, out_of_time: Path) -> None:
    agent = yard.agent("one")
    shim.before("status", f"touch {out_of_time}; sleep 60")

    answer = remove(agent.path)

    assert (answer.code, answer.doc["outcome"]) == (1, "kept")
    assert "cannot_tell" in {one["answer"] for one in answer.doc["blockers"]}
    assert untouched(yard, agent)


def test_a_removal_that_runs_out_of_time_is_finished_by_the_next_run(
    yard: World, shim: Shim, out_of_time: Path
) -> None:
    agent = yard.agent("one")
    shim.before("worktree remove", f"rm -r {agent.path}/src {agent.path}/.git; touch {out_of_time}; sleep 60", nth=1)

    first = remove(agent.path)
    out_of_time.unlink()
    second = remove(agent.path)

    assert (first.code, first.doc["outcome"]) == (1, "partially_removed")
    assert first.doc["entries_before"] > first.doc["entries_after"] > 0
    assert (second.code, second.doc["outcome"]) == (0, "removed")
    assert taken(yard, agent)


def test_a_dry_run_asks_everything_and_changes_nothing(yard: World) -> None:
    agent, dirty = yard.agent("one"), yard.agent("two")
    put(dirty.path / "new.txt", "new\n")
    before = yard.snapshot()

    answers = [
        remove(agent.path, "--dry-run"),
        remove(dirty.path, "--dry-run"),
        remove(dirty.path, "--dry-run", "--preserve"),
    ]

    assert [answer.doc["outcome"] for answer in answers] == ["would_remove", "kept", "would_remove"]
    assert yard.snapshot() == before
    assert journals(yard) == []


@pytest.mark.parametrize(("setting", "seconds"), [("600", 30), ("5", 5)])
def test_no_git_command_may_take_longer_than_thirty_seconds_whatever_the_setting_says(
    yard: World, setting: str, seconds: float
) -> None:
    yard.git("config", "wave.gitTimeout", setting)

    assert place_of(None, Interrupts()).door.timeout == seconds
