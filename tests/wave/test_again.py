"""The same command again: after a crash anywhere, after it is finished, with and without journals."""

import os
import shutil

import pytest

from support.checks import assert_all_landed, assert_landed
from support.killing import KILLED, calm, kill_when, wave_program
from support.ours import everything, forget_journals
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, Run, World

REMOVAL = '[ "$sub" = worktree ] && has remove "$@"'
DELETION = '[ "$sub" = update-ref ] && [ ! -e {path} ]'
# Where the crash comes, whether git has done its work by then, and what the second run has to say.
CRASHES = {
    "before the merge": ('[ "$sub" = merge ]', "before", "ok"),
    "after the merge": ('[ "$sub" = merge ]', "after", "already_landed"),
    "before the removal": (REMOVAL, "before", "already_landed"),
    "after the removal": (REMOVAL, "after", "already_landed"),
    "before the branch is deleted": (DELETION, "before", "already_landed"),
    "after the branch is deleted": (DELETION, "after", "already_landed"),
}
crashes = pytest.mark.parametrize(("condition", "when", "reason"), CRASHES.values(), ids=CRASHES)
with_and_without = pytest.mark.parametrize("journal", ["journal kept", "journal lost"])


def assert_again(world: World, run: Run, *agents: Agent) -> None:
    """Exit 0, and every entry was there already."""
    assert {run.outcome(agent) for agent in agents} == {("merged_removed", "already_landed")}, run.doc
    assert (run.code, run.doc["ok"], run.doc["result"]["pending"]) == (0, True, [])
    assert all(world.landed(agent) for agent in agents)


@crashes
def test_after_a_crash_the_entry_goes_on_from_where_it_stopped(
    world: World, shim: Shim, condition: str, when: str, reason: str
) -> None:
    check_crash(world, shim, condition, when, reason)


def test_after_a_crash_git_alone_tells_where_the_entry_stopped(world: World, shim: Shim) -> None:
    check_crash(world, shim, *CRASHES["after the branch is deleted"], journal="journal lost")


@pytest.mark.deep
@crashes
def test_after_any_crash_git_alone_tells_where_the_entry_stopped(
    world: World, shim: Shim, condition: str, when: str, reason: str
) -> None:
    check_crash(world, shim, condition, when, reason, journal="journal lost")


def check_crash(
    world: World, shim: Shim, condition: str, when: str, reason: str, journal: str = "journal kept"
) -> None:
    one, two = world.agent("one"), world.agent("two")
    put(world.root / "LICENSE", "edited\n")
    manifest = world.manifest(one, two)
    kill_when(shim, condition.format(path=one.path), when)
    assert wave_program(manifest).code == KILLED
    calm(shim)
    if journal == "journal lost":
        forget_journals(world)

    run = world.wave(manifest)

    assert run.outcome(one) == ("merged_removed", reason), run.doc
    assert_landed(world, run, two)
    assert (run.code, world.landed(one)) == (0, True)
    assert world.git("rev-list", "--count", "--merges", "HEAD") == "2"
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.fsck() == ""
    assert_again(world, world.wave(manifest), one, two)


def test_a_crash_in_the_second_entry_leaves_the_first_landed(world: World, shim: Shim) -> None:
    one, two, three = world.agent("one"), world.agent("two"), world.agent("three")
    manifest = world.manifest(one, two, three)
    kill_when(shim, '[ "$sub" = merge ] && count merges && [ "$n" = 2 ]', "after")
    assert wave_program(manifest).code == KILLED
    calm(shim)

    run = world.wave(manifest)

    assert [run.outcome(agent)[1] for agent in (one, two, three)] == ["already_landed", "already_landed", "ok"]
    assert (run.code, [world.landed(agent) for agent in (one, two, three)]) == (0, [True] * 3)


@pytest.mark.deep
@crashes
def test_a_worktree_that_was_gone_from_the_start_is_finished_after_a_crash(
    world: World, shim: Shim, condition: str, when: str, reason: str
) -> None:
    one = world.agent("one")
    shutil.rmtree(one.path)
    # The directory is gone all along: what tells the deletion from the backup is that main has moved.
    moved = f'[ "$sub" = update-ref ] && [ "$("$real" -C {world.root} rev-parse HEAD)" != {world.head()} ]'
    kill_when(shim, moved if "update-ref" in condition else condition, when)
    manifest = world.manifest(one)
    assert wave_program(manifest).code == KILLED
    calm(shim)

    run = world.wave(manifest)

    assert run.outcome(one) == ("merged_removed", reason), run.doc
    assert (run.code, world.landed(one)) == (0, True)


@with_and_without
def test_a_finished_manifest_run_again_exits_0_and_moves_nothing(world: World, journal: str) -> None:
    one, two = world.agent("one", {"src/app.py": prose("better")}), world.agent("two", delete=["LICENSE"])
    gone = world.agent("gone")
    shutil.rmtree(gone.path)
    bystander = world.agent("bystander")
    put(world.root / "setup.cfg", "edited\n")
    put(world.root / "scratch.txt", "untracked\n")
    manifest = world.manifest(one, world.entry(two, declared_deletions=["LICENSE"]), gone)
    assert world.wave(manifest).code == 0
    if journal == "journal lost":
        forget_journals(world)
    before = everything(world)

    for _ in range(2):
        assert_again(world, world.wave(manifest), one, two, gone)

    assert everything(world) == before
    assert world.untouched(bystander)


def test_a_dry_run_of_a_finished_manifest_exits_0_and_moves_nothing(world: World) -> None:
    one = world.agent("one")
    manifest = world.manifest(one)
    assert world.wave(manifest).code == 0
    before = everything(world)

    run = world.wave(manifest, args=["--dry-run"])

    assert (run.code, run.entry(one)["reason"]) == (0, "already_landed")
    assert everything(world) == before


def test_a_finished_manifest_stays_finished_when_main_goes_on(world: World) -> None:
    one = world.agent("one", {"src/app.py": prose("better")})
    manifest = world.manifest(one)
    assert world.wave(manifest).code == 0
    world.commit(write={"src/app.py": prose("better still"), "more.txt": "more\n"})
    before = everything(world)

    assert_again(world, world.wave(manifest), one)

    assert everything(world) == before


def test_each_half_of_a_grown_manifest_gets_its_own_answer(world: World) -> None:
    one = world.agent("one")
    assert world.wave(one).code == 0
    two = world.agent("two")

    run = world.wave(one, two)

    assert run.outcome(one) == ("merged_removed", "already_landed")
    assert_landed(world, run, two)
    assert run.code == 0


def test_an_entry_fixed_after_it_was_blocked_lands_on_the_next_run(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    put(two.path / "forgotten.txt", "forgotten\n")
    manifest = world.manifest(one, two)
    assert world.wave(manifest).outcome(two) == ("blocked", "worktree_dirty")
    (two.path / "forgotten.txt").unlink()

    run = world.wave(manifest)

    assert run.outcome(one) == ("merged_removed", "already_landed")
    assert_landed(world, run, two)
    assert run.code == 0


@with_and_without
def test_late_commits_land_on_the_next_run(world: World, journal: str) -> None:
    one = world.agent("one")
    late = f"cd {one.path} && unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE && [ ! -e late.txt ] || exit 0\n"
    late += "echo late >late.txt && git add late.txt && git commit -q -m late"
    world.hook("post-merge", late)
    manifest = world.manifest(one)
    first = world.wave(manifest)
    assert first.outcome(one) == ("blocked", "branch_moved")
    assert first.entry(one)["merge_commit"] == world.head()
    late_tip = world.branches()[one.branch]
    assert late_tip != one.tip
    if journal == "journal lost":
        forget_journals(world)

    run = world.wave(manifest)

    assert run.outcome(one) == ("merged_removed", "ok"), run.doc
    assert (run.code, run.entry(one)["tip"], world.merged(late_tip)) == (0, late_tip, True)
    assert (world.root / "late.txt").read_text() == "late\n"
    assert world.landed(one)
    assert_again(world, world.wave(manifest), one)


def test_a_teardown_withheld_for_a_lock_is_made_good_by_the_next_run(world: World) -> None:
    one = world.agent("one")
    world.git("worktree", "lock", "--reason=I am reading this", one.path)
    manifest = world.manifest(one)
    assert world.wave(manifest).outcome(one) == ("blocked", "worktree_locked")
    world.git("worktree", "unlock", one.path)
    head = world.head()

    assert_again(world, world.wave(manifest), one)

    assert world.head() == head


@with_and_without
def test_a_subject_that_a_hook_rewrites_is_recognised_all_the_same(world: World, journal: str) -> None:
    one, two = world.agent("one"), world.agent("two")
    world.hook("commit-msg", 'echo "JIRA-1: something else" >"$1"')
    manifest = world.manifest(one, two)
    assert_all_landed(world, world.wave(manifest), one, two)
    assert world.git("log", "-1", "--format=%s") == "JIRA-1: something else"
    if journal == "journal lost":
        forget_journals(world)
    before = everything(world)

    assert_again(world, world.wave(manifest), one, two)

    assert everything(world) == before


def test_a_crash_after_a_merge_with_a_rewritten_subject_is_made_good(world: World, shim: Shim) -> None:
    one = world.agent("one")
    world.hook("commit-msg", 'echo "JIRA-1: something else" >"$1"')
    manifest = world.manifest(one)
    kill_when(shim, '[ "$sub" = merge ]', "after")
    assert wave_program(manifest).code == KILLED
    calm(shim)

    assert_again(world, world.wave(manifest), one)

    assert world.git("rev-list", "--count", "--merges", "HEAD") == "1"


def test_a_branch_that_only_its_directory_outlived_is_not_cleared_away(world: World) -> None:
    """Landed and cleared, then somebody puts a directory at that path: it is not ours to remove."""
    one = world.agent("one")
    manifest = world.manifest(one)
    assert world.wave(manifest).code == 0
    put(one.path / "notes.txt", "a person's\n")

    run = world.wave(manifest)

    assert (one.path / "notes.txt").read_text() == "a person's\n"
    assert run.outcome(one) != ("merged_removed", "ok")
    assert os.listdir(one.path) == ["notes.txt"]
