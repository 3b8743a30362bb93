"""`git wave discard`: a worktree, its branch and its entry go; nothing else does, and nothing is lost."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import Answer, call, call_program
from support.killing import KILLED, calm
from support.one import One, build_one, leave, tree_of
from support.ours import journals, lines_of, our_refs
from support.repo import put
from support.shim import Shim
from support.unseen import FLAGS, edit_unseen
from support.world import World, files_below


@pytest.fixture
def one(world: World) -> One:
    return build_one(world)


def assert_discarded(one: One, answer: Answer) -> None:
    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (0, True, "discarded"), answer
    assert one.is_gone()
    assert our_refs(one.world)[answer.doc["backup"]] == answer.doc["tip"] == one.agent.tip
    assert one.world.fsck() == ""


def assert_refused(one: One, reason: str, *more: str, says: str = "") -> None:
    """Exit 1, the worktree named, and everything as it was, with a dry run and without."""
    before, refs = one.state(), our_refs(one.world)
    for flags in (("--dry-run",), ()):
        answer = one.call("discard", *more, *flags)
        assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, reason), answer
        assert answer.doc["preserved_path"] == str(one.agent.path)
        assert says in answer.doc["hint"]
        assert (one.state(), our_refs(one.world)) == (before, refs)
    assert f"discard: {reason} — " in answer.err


def test_a_worktree_without_work_goes_with_branch_and_entry(one: One) -> None:
    one.world.git("config", f"branch.{one.agent.branch}.description", "work in hand")
    user = one.world.snapshot()["files"]

    answer = one.call("discard")

    assert_discarded(one, answer)
    assert answer.doc["wip"] is None
    assert one.world.snapshot()["files"] == user
    assert one.world.git("config", "--get-regexp", r"^branch\.", check=False) == ""


def test_the_manifest_keeps_everything_else_as_it_was(one: One) -> None:
    before = json.loads(one.manifest.read_text())

    one.call("discard")

    assert json.loads(one.manifest.read_text()) == {**before, "worktrees": before["worktrees"][1:]}


def test_an_entry_of_the_same_worktree_by_another_agent_stays(one: One) -> None:
    document = json.loads(one.manifest.read_text())
    document["worktrees"] += [{**document["worktrees"][0], "agent_id": "second"}, document["worktrees"][0]]
    one.manifest.write_text(json.dumps(document))

    one.checked("discard", str(one.agent.path), *one.named)

    assert [entry["agent_id"] for entry in one.entries()] == [one.other.id, "second"]


def test_discarded_again_it_says_the_same_by_every_name(one: One) -> None:
    told = one.call("discard").doc

    for again in (one.call("discard"), one.at_path("discard"), one.at_path("discard", *one.named)):
        assert (again.code, again.doc["ok"], again.doc["reason"]) == (0, True, "already_discarded"), again
        assert {key: again.doc[key] for key in ("id", "backup", "tip")} == {k: told[k] for k in ("id", "backup", "tip")}


def test_a_dry_run_changes_nothing_and_says_what_would_be_kept(one: One) -> None:
    put(one.agent.path / "run.log", "output\n")
    before = one.state()

    answer = one.call("discard", "--dry-run")

    assert (answer.code, answer.doc["reason"], answer.doc["backup"]) == (0, "would_discard", None)
    assert [Path(kept).name for kept in answer.doc["kept"]] == ["run.log"]
    assert (one.state(), journals(one.world)) == (before, [])


def test_commits_beyond_the_base_are_refused_and_listed(world: World) -> None:
    one = build_one(world, work=True)

    assert_refused(one, "has_commits", says=one.agent.tip)


@pytest.mark.parametrize("flag", FLAGS)
def test_a_hidden_edit_that_no_size_and_no_time_gives_away_is_refused_and_saved(one: One, flag: str) -> None:
    edited = edit_unseen(one.world, one.agent.path, flag=flag)

    assert_refused(one, "worktree_dirty", says="hidden edit: setup.cfg")
    answer = one.call("discard", "--force")

    assert_discarded(one, answer)
    assert tree_of(one, answer.doc["wip"]["commit"])["setup.cfg"] == edited


def test_whatever_is_uncommitted_is_refused_and_listed(one: One) -> None:
    leave(one)

    assert_refused(one, "worktree_dirty", says="hidden edit: tests/test_app.py")


def test_an_unknown_base_is_refused(one: One) -> None:
    before = one.state()

    answer = one.at_path("discard")

    assert (answer.code, answer.doc["reason"]) == (1, "base_unknown")
    assert one.state() == before


def test_forced_the_commits_and_all_that_was_uncommitted_are_kept(world: World) -> None:
    one = build_one(world, work=True)
    files = leave(one)
    index = one.world.git("write-tree", cwd=one.agent.path)

    answer = one.call("discard", "--force")

    assert_discarded(one, answer)
    wip = answer.doc["wip"]["commit"]
    assert our_refs(world)[answer.doc["wip"]["ref"]] == wip
    assert answer.doc["restore"] == f"git wave restore {answer.doc['wip']['ref']}"
    assert tree_of(one, wip) == files
    assert world.git("rev-parse", f"{wip}^1") == one.agent.tip
    assert world.git("rev-parse", f"{wip}^2^{{tree}}") == index


def test_ignored_output_is_kept_and_what_a_build_makes_again_is_not(one: One) -> None:
    put(one.agent.path / "run.log", "output\n")
    put(one.agent.path / "node_modules/big.js", "made again\n")

    answer = one.call("discard")

    assert_discarded(one, answer)
    (kept,) = answer.doc["kept"]
    assert Path(kept).read_text() == "output\n"
    assert answer.doc["regenerable_dropped"] == 1


def test_a_worktree_that_is_gone_goes_with_its_branch_and_no_other(one: One) -> None:
    shutil.rmtree(one.agent.path)
    shutil.rmtree(one.other.path)

    answer = one.call("discard")

    assert_discarded(one, answer)


def test_a_path_alone_finds_its_entry_through_the_owners_record(one: One) -> None:
    record = {"v": 1, "agent_id": one.agent.id, "branch": one.agent.branch, "recorded_at": "2026-01-01T00:00:00Z"}
    put(one.admin / "git-wave-owner.json", json.dumps({**record, "manifest": str(one.manifest)}))

    assert_discarded(one, one.at_path("discard"))


def test_it_runs_from_inside_the_worktree(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(one.agent.path)

    answer = call("discard", ".", "--force")

    assert (answer.code, os.path.lexists(one.agent.path)) == (0, False), answer


def test_a_harness_lock_is_taken_off(one: One) -> None:
    one.world.git("worktree", "lock", "--reason=claude agent", one.agent.path)

    assert_discarded(one, one.call("discard"))


# -- refused even with force


def a_persons_lock(one: One) -> None:
    one.world.git("worktree", "lock", "--reason=on my usb stick", one.agent.path)


def detached(one: One) -> None:
    one.world.git("checkout", "-q", "--detach", cwd=one.agent.path)


def in_a_pick(one: One) -> None:
    put(one.admin / "CHERRY_PICK_HEAD", one.other.tip)


def on_another_branch(one: One) -> None:
    one.world.git("checkout", "-q", "-b", "agent-elsewhere", cwd=one.agent.path)


def nested_repository(one: One) -> None:
    one.world.git("init", "-q", one.agent.path / "inner")


def nested_worktree(one: One) -> None:
    one.world.git("worktree", "add", "-q", "-b", "inner", one.agent.path / "node_modules/inner")


def private_ref(one: One) -> None:
    one.world.git("update-ref", "refs/worktree/mine", one.other.tip, cwd=one.agent.path)


def submodule_commits(one: One) -> None:
    one.world.git("init", "-q", one.agent.path / "sub")
    one.world.git("commit", "-q", "--allow-empty", "-m", "only here", cwd=one.agent.path / "sub")
    one.world.git("submodule", "--quiet", "add", "./sub", "sub", cwd=one.agent.path, check=False)


def checked_out_twice(one: One) -> None:
    one.world.git("worktree", "add", "-q", "-f", one.world.worktree_dir / "twice", one.agent.branch)


REFUSALS: dict[str, tuple[Callable[[One], None], str]] = {
    "locked by a person": (a_persons_lock, "worktree_locked"),
    "detached": (detached, "detached_head"),
    "half-way in a cherry-pick": (in_a_pick, "operation_in_progress"),
    "on another branch": (on_another_branch, "branch_mismatch"),
    "a repository inside": (nested_repository, "worktree_dirty"),
    "a worktree inside": (nested_worktree, "worktree_dirty"),
    "a ref of its own": (private_ref, "worktree_dirty"),
    "commits that only a submodule has": (submodule_commits, "worktree_dirty"),
    "checked out twice": (checked_out_twice, "branch_delete_failed"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_cannot_be_brought_back_is_refused_even_with_force(one: One, what: str) -> None:
    arrange, reason = REFUSALS[what]
    arrange(one)

    assert_refused(one, reason, "--force")


def staged_alone(one: One) -> None:
    put(one.agent.path / "new.txt", "precious\n")
    one.world.git("add", "new.txt", cwd=one.agent.path)


@pytest.mark.parametrize("arrange", [private_ref, staged_alone, in_a_pick])
def test_what_only_a_registration_keeps_of_a_worktree_that_is_gone_is_refused(
    one: One, arrange: Callable[[One], None]
) -> None:
    arrange(one)
    shutil.rmtree(one.agent.path)

    answer = one.call("discard", "--force")

    assert (answer.code, answer.doc["reason"]) == (1, "worktree_dirty"), answer
    assert (one.admin.is_dir(), one.tip()) == (True, one.agent.tip)


def test_a_branch_outside_the_namespace_is_refused_even_with_force(one: One) -> None:
    one.world.git("worktree", "add", "-q", "-b", "release", one.world.tmp / "release")
    before = one.world.snapshot()

    answer = one.at_path("discard", "--force", path=one.world.tmp / "release")

    assert (answer.code, answer.doc["reason"]) == (1, "invalid_entry")
    assert one.world.snapshot() == before


def test_the_main_worktree_is_refused(one: One) -> None:
    before = one.state()

    answer = one.at_path("discard", "--force", path=one.world.root)

    assert (answer.code, answer.doc["reason"]) == (1, "main_worktree")
    assert one.state() == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{", "invalid_manifest_json"), ("{}", "manifest_shape_invalid"), (None, "manifest_read_failed")],
)
def test_a_manifest_that_cannot_be_read_refuses_before_anything_is_done(
    one: One, text: str | None, reason: str
) -> None:
    one.manifest.unlink()
    if text is not None:
        one.manifest.write_text(text)

    answer = one.call("discard")

    assert (answer.code, answer.doc["reason"]) == (1, reason)
    assert one.world.untouched(one.agent)


def test_a_manifest_that_cannot_be_written_refuses_before_anything_is_done(one: One) -> None:
    (one.manifest.parent / f".{one.manifest.name}.lock").mkdir()

    assert_refused(one, "manifest_write_failed", "--force")


def test_a_wave_that_is_running_refuses(one: One) -> None:
    from git_wave.state.wave_lock import wave_lock

    before = one.state()
    with wave_lock(one.world.root / ".git", 0):
        answer = one.call("discard")

    assert (answer.code, answer.doc["reason"]) == (1, "wave_locked")
    assert one.state() == before


# -- what happens meanwhile


def test_a_file_written_right_before_the_removal_stops_it(one: One, shim: Shim) -> None:
    leave(one)
    shim.after("update-ref", f"echo late >{one.agent.path}/late.txt", nth=1)

    answer = one.call("discard", "--force")

    assert (answer.code, answer.doc["reason"]) == (1, "still_changing"), answer
    assert answer.doc["wip"]["ref"] in our_refs(one.world)
    assert (one.agent.path / "late.txt").read_text() == "late\n"
    assert one.tip() == one.agent.tip
    again = one.call("discard", "--force")
    assert_discarded(one, again)
    assert tree_of(one, again.doc["wip"]["commit"])["late.txt"] == b"late\n"


def test_a_commit_made_right_before_the_branch_goes_keeps_it(one: One, shim: Shim) -> None:
    shim.after("worktree remove", f"git update-ref refs/heads/{one.agent.branch} {one.other.tip}")

    answer = one.call("discard")

    assert (answer.code, answer.doc["reason"]) == (1, "branch_moved"), answer
    assert one.tip() == one.other.tip
    assert len(one.entries()) == 2


def test_git_that_will_not_remove_leaves_branch_lock_and_entry(one: One, shim: Shim) -> None:
    one.world.git("worktree", "lock", "--reason=claude agent", one.agent.path)
    before = one.state()
    shim.fail("worktree remove", 128, "no")

    answer = one.call("discard")

    assert (answer.code, answer.doc["reason"]) == (1, "worktree_remove_failed")
    assert one.state() == before


def test_a_branch_that_git_will_not_delete_is_told_and_goes_the_next_time(one: One) -> None:
    refuse = one.world.hook(
        "reference-transaction", f'[ $1 != prepared ] || ! grep -q " 0000.*refs/heads/{one.agent.branch}"'
    )

    answer = one.call("discard")
    refuse.unlink()

    assert (answer.code, answer.doc["reason"]) == (1, "branch_delete_failed"), answer
    assert one.tip() == one.agent.tip
    assert_discarded(one, one.call("discard"))


def test_a_branch_made_anew_after_a_discard_is_not_taken(one: One) -> None:
    one.call("discard")
    one.world.git("branch", one.agent.branch, one.agent.tip)

    assert one.at_path("discard", "--force").doc["reason"] == "already_discarded"
    assert one.tip() == one.agent.tip


# -- git killed, or failing, in the middle of a removal

DELETED = {
    "nothing but what was untracked": "rm -rf new moved.cfg link odd*",
    "all but the directory": "find . -mindepth 1 -delete",
    "the link file and some files": "rm -rf .git LICENSE new src/app.py setup.cfg",
    "the directory too": 'rm -rf "$PWD"',
}


def cut_short(one: One, shim: Shim, deleting: str) -> None:
    """A forced discard, killed together with the git that has deleted only that."""
    strike = f"cd {one.agent.path} && {deleting}; kill -9 $PPID; exit 1"
    shim.rules.append(f'if [ "$sub" = worktree ] && has remove "$@"; then {strike}; fi\n')
    shim.install()
    assert call_program("git-wave", "discard", *one.named, "--force").code == KILLED
    calm(shim)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", DELETED)
def test_a_removal_cut_short_is_finished_and_all_comes_back(one: One, shim: Shim, what: str) -> None:
    files = leave(one)
    one.world.git("update-index", "--no-assume-unchanged", "tests/test_app.py", cwd=one.agent.path)
    status = one.status()
    cut_short(one, shim, DELETED[what])

    answer = one.call("discard", "--force")

    assert_discarded(one, answer)
    assert one.restore(answer.doc["restore"].split()[-1]).code == 0
    assert (files_below(one.agent.path), one.status()) == (files, status)


def test_a_file_written_after_a_removal_was_cut_short_is_kept_too(one: One, shim: Shim) -> None:
    files = leave(one)
    cut_short(one, shim, "rm src/app.py")
    first = our_refs(one.world)
    put(one.agent.path / "late.txt", "late\n")

    answer = one.call("discard", "--force")

    assert_discarded(one, answer)
    assert tree_of(one, answer.doc["wip"]["commit"])["late.txt"] == b"late\n"
    (wip,) = [ref for ref in first if "/wip/" in ref]
    assert tree_of(one, our_refs(one.world)[wip]) == files


def test_leftovers_of_a_removal_that_git_gave_up_are_named(one: One, shim: Shim) -> None:
    shim.after("worktree remove", f"mkdir {one.agent.path}; echo late >{one.agent.path}/late.txt")
    assert one.call("discard").doc["reason"] == "worktree_remove_failed"
    calm(shim)

    again = one.call("discard")

    assert (again.code, again.doc["reason"]) == (1, "worktree_remove_failed"), again
    assert (one.agent.path / "late.txt").read_text() == "late\n"
    shutil.rmtree(one.agent.path)
    assert_discarded(one, one.call("discard"))


# -- among the other runs


def test_the_log_tells_discard_and_restore_and_undo_leaves_them_alone(one: One) -> None:
    run = one.call("discard").doc["id"]
    one.restore(run)
    root = ["--root", str(one.world.root)]

    kinds = [told["kind"] for told in json.loads(call("log", "--json", *root).out)]
    assert kinds == ["restore", "discard"]
    assert f"restore of {run}" in call("log", *root).out
    assert "remove_worktree" in call("show", run, *root).out
    assert call("undo", *root).doc["reason"] == "nothing_to_undo"
    assert call("undo", run, *root).doc["reason"] == "nothing_to_undo"


def test_a_discard_is_no_proof_that_a_branch_landed(world: World) -> None:
    one = build_one(world, work=True)
    one.call("discard", "--force")

    run = world.wave(one.agent)

    assert run.outcome() == ("blocked", "branch_mismatch")


def test_what_a_discard_kept_is_no_business_of_a_later_wave(one: One) -> None:
    put(one.agent.path / "run.log", "output\n")
    one.call("discard")
    again = one.world.agent("one")

    run = one.world.wave(again)

    assert (run.outcome(), run.codes()) == (("merged_removed", "ok"), [])


def test_backups_go_with_gc_and_not_before(one: One) -> None:
    run = one.call("discard").doc["id"]
    root = ["--root", str(one.world.root)]

    assert call("gc", *root).doc["kept"] == [run]
    assert call("gc", "--older-than", "0", *root).doc["expired"] == [run]
    assert our_refs(one.world) == {}
    assert one.restore(run).doc["reason"] == "unknown_backup"


def test_every_change_is_on_record_before_it_is_made(one: One) -> None:
    put(one.agent.path / "run.log", "output\n")
    one.call("discard")

    (journal,) = journals(one.world)
    actions = [line["action"] for line in lines_of(journal) if line["event"] == "intent"]
    assert actions == ["discard", "back_up", "keep", "remove_worktree", "delete_branch", "remove_entry"]
