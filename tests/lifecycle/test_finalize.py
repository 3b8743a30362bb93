"""`git wave finalize`: whatever the agent left is committed, or nothing is changed and the reason says why."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call
from support.one import One, build_one, leave, tree_of
from support.ours import our_refs
from support.repo import put
from support.shim import Shim
from support.unseen import FLAGS, edit_unseen
from support.world import World, files_below


@pytest.fixture
def one(world: World) -> One:
    return build_one(world)


def assert_refused(one: One, reason: str, *more: str, says: str = "") -> None:
    """Exit 1, the worktree named, and everything as it was."""
    before = one.state()
    answer = one.call("finalize", *more)
    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, reason), answer
    assert answer.doc["preserved_path"] == str(one.agent.path)
    assert says in answer.doc["hint"]
    assert f"finalize: {reason} — " in answer.err
    assert one.state() == before


def test_whatever_was_left_is_committed_on_the_branch(one: One) -> None:
    files = leave(one)

    answer = one.call("finalize", "--message", "done by hand")

    assert (answer.code, answer.doc["reason"], answer.doc["auto_committed"]) == (0, "ok", True), answer
    assert answer.doc["produced_work"] is True
    assert answer.doc["commit"] == answer.doc["tip"] == one.tip()
    assert tree_of(one, one.tip() or "") == files == files_below(one.agent.path)
    assert one.world.git("log", "-1", "--format=%P %s", one.agent.branch) == f"{one.agent.tip} done by hand"
    mode = one.world.git("ls-tree", one.agent.branch, "src/core/engine.py").split()[0]
    assert (mode, one.status(), one.world.fsck()) == ("100755", [], "")


@pytest.mark.parametrize("flag", FLAGS)
def test_a_hidden_edit_that_no_size_and_no_time_gives_away_is_committed(one: One, flag: str) -> None:
    edited = edit_unseen(one.world, one.agent.path, flag=flag)

    answer = one.call("finalize")

    assert (answer.code, answer.doc["auto_committed"]) == (0, True), answer
    assert tree_of(one, one.tip() or "")["setup.cfg"] == edited == (one.agent.path / "setup.cfg").read_bytes()


def test_finalized_again_it_says_the_same_and_moves_nothing(one: One) -> None:
    leave(one)
    tip = one.call("finalize").doc["tip"]

    again = one.call("finalize")

    assert (again.code, again.doc["reason"], again.doc["auto_committed"], again.doc["tip"]) == (0, "ok", False, tip)


def test_what_was_staged_in_another_version_is_kept_under_a_ref(one: One) -> None:
    leave(one)

    answer = one.call("finalize")

    assert one.world.git("show", f"{answer.doc['staged']}:LICENSE") == "staged"


def test_a_worktree_is_named_by_any_spelling_of_its_path(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    link = one.world.tmp / "link"
    link.symlink_to(one.agent.path)
    monkeypatch.chdir(one.world.worktree_dir)

    for spelling in (str(link), "one", "./other/../one/"):
        answer = call("finalize", spelling)
        assert (answer.code, answer.doc["worktree_path"]) == (0, str(one.agent.path)), answer


def test_a_branch_without_work_is_told(one: One) -> None:
    answer = one.call("finalize")

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (0, True, "no_work")
    assert (answer.doc["produced_work"], answer.doc["tip"]) == (False, one.agent.tip)


def test_work_is_unknown_where_nobody_knows_the_base(one: One) -> None:
    answer = one.at_path("finalize")

    assert (answer.code, answer.doc["reason"], answer.doc["produced_work"]) == (0, "ok", None)


def test_a_baseline_is_no_work_and_a_commit_on_it_is(world: World) -> None:
    agent = world.agent("early", {"src/app.py": "the user's\n"})
    one = build_one(world, baseline=agent.tip)
    world.git("reset", "-q", "--hard", agent.tip, cwd=one.agent.path)

    assert one.call("finalize").doc["reason"] == "no_work"

    put(one.agent.path / "more.txt", "mine\n")
    assert one.call("finalize").doc["produced_work"] is True


def test_a_branch_moved_back_behind_its_base_holds_work(one: One) -> None:
    one.world.git("reset", "-q", "--hard", "HEAD~1", cwd=one.agent.path)

    assert one.call("finalize").doc["produced_work"] is True


def test_base_and_manifest_are_found_through_the_owners_record(one: One) -> None:
    record = {"v": 1, "agent_id": one.agent.id, "branch": one.agent.branch, "recorded_at": "2026-01-01T00:00:00Z"}
    record |= {"manifest": str(one.manifest), "base": one.agent.base}
    put(one.admin / "git-wave-owner.json", json.dumps(record))

    assert one.at_path("finalize").doc["reason"] == "no_work"

    one.manifest.unlink()
    assert one.at_path("finalize").doc["reason"] == "no_work"
    assert one.at_path("finalize").doc["agent_id"] == one.agent.id


def test_hooks_on_commits_are_not_asked(one: One) -> None:
    leave(one)
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-index-change"):
        one.world.hook(name, f"touch {one.world.tmp}/ran; exit 1")

    assert one.call("finalize").code == 0
    assert not (one.world.tmp / "ran").exists()


def test_a_commit_is_made_in_our_name_only_where_none_is_configured(one: One) -> None:
    put(one.agent.path / "more.txt", "mine\n")
    one.call("finalize")
    mine = one.world.git("log", "-1", "--format=%an %cn", one.agent.branch)
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("")
    put(one.agent.path / "more.txt", "ours\n")
    one.call("finalize")

    assert mine == "Test User Test User"
    assert one.world.git("log", "-1", "--format=%an %cn", one.agent.branch) == "git-wave git-wave"


def test_files_outside_a_sparse_checkout_are_committed_too(one: One) -> None:
    one.world.git("sparse-checkout", "set", "src", cwd=one.agent.path)
    put(one.agent.path / "docs/guide.md", "written again\n")

    assert one.call("finalize").code == 0

    assert one.world.git("show", f"{one.agent.branch}:docs/guide.md") == "written again"
    assert one.world.git("show", f"{one.agent.branch}:docs/api/index.md") != ""
    assert one.status() == []


def test_a_worktree_that_is_gone_is_judged_by_its_branch(world: World) -> None:
    one = build_one(world, work=True)
    one.agent.path.rename(world.tmp / "elsewhere")

    answer = one.call("finalize")

    assert (answer.code, answer.doc["produced_work"], answer.doc["tip"]) == (0, True, one.agent.tip)


# -- refusals


def test_a_worktree_that_was_never_checked_out_is_not_taken_for_emptied(one: One) -> None:
    (one.admin / "index").unlink()

    answer = one.call("finalize")

    assert (answer.code, answer.doc["reason"]) == (1, "dirt_check_failed")
    assert one.tip() == one.agent.tip


def in_a_pick(one: One) -> None:
    put(one.admin / "CHERRY_PICK_HEAD", one.other.tip)


def detached(one: One) -> None:
    one.world.git("checkout", "-q", "--detach", cwd=one.agent.path)


def unmerged(one: One) -> None:
    put(one.agent.path / "LICENSE", "one\n")
    one.world.git("stash", "-q", cwd=one.agent.path)
    put(one.agent.path / "LICENSE", "two\n")
    one.world.git("commit", "-qam", "two", cwd=one.agent.path)
    one.world.git("stash", "pop", "-q", cwd=one.agent.path, check=False)


def on_another_branch(one: One) -> None:
    one.world.git("checkout", "-q", "-b", "agent-elsewhere", cwd=one.agent.path)


def nested_repository(one: One) -> None:
    one.world.git("init", "-q", one.agent.path / "inner")
    put(one.agent.path / "inner/file", "theirs\n")


REFUSALS: dict[str, Callable[[One], None]] = {
    "operation_in_progress": in_a_pick,
    "detached_head": detached,
    "unmerged_paths": unmerged,
    "branch_mismatch": on_another_branch,
    "not_committable": nested_repository,
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_cannot_be_committed_is_refused(one: One, reason: str) -> None:
    leave(one)
    REFUSALS[reason](one)

    assert_refused(one, reason)


def test_edits_inside_a_submodule_are_refused_and_a_moved_pointer_is_committed(one: One) -> None:
    add_submodule(one)
    put(one.agent.path / "sub/file", "edited\n")
    assert_refused(one, "not_committable", says="sub")

    one.world.git("commit", "-qam", "inside", cwd=one.agent.path / "sub")

    assert one.call("finalize").code == 0
    pointer = one.world.git("rev-parse", f"{one.agent.branch}:sub")
    assert pointer == one.world.git("rev-parse", "HEAD", cwd=one.agent.path / "sub")
    assert one.status() == []


def add_submodule(one: One) -> None:
    library = one.world.tmp / "library"
    one.world.git("init", "-q", library)
    put(library / "file", "there\n")
    one.world.git("add", "file", cwd=library)
    one.world.git("commit", "-qm", "there", cwd=library)
    one.world.git("submodule", "--quiet", "add", str(library), "sub", cwd=one.agent.path)
    one.world.git("commit", "-qm", "a submodule", cwd=one.agent.path)


def test_the_main_worktree_is_refused(one: One) -> None:
    put(one.world.root / "mine.txt", "the user's\n")
    before = one.state()

    answer = one.at_path("finalize", path=one.world.root)

    assert (answer.code, answer.doc["reason"]) == (1, "main_worktree")
    assert one.state() == before


@pytest.mark.parametrize("what", ["a subdirectory", "a clone", "nothing", "a copy", "no link file"])
def test_what_is_no_linked_worktree_is_refused(one: One, what: str) -> None:
    path = one.world.tmp / "place"
    if what == "a subdirectory":
        path = one.agent.path / "src"
    elif what == "a clone":
        one.world.git("clone", "-q", str(one.world.root), path)
    elif what == "a copy":
        path.mkdir()
        (path / ".git").write_bytes((one.agent.path / ".git").read_bytes())
    elif what == "no link file":
        path = one.agent.path
        (path / ".git").unlink()

    answer = one.at_path("finalize", path=path)

    assert (answer.code, answer.doc["reason"]) == (1, "not_a_worktree"), answer
    assert one.tip() == one.agent.tip


def test_an_agent_that_the_manifest_does_not_know_is_refused(one: One) -> None:
    answer = one.checked("finalize", "--manifest", str(one.manifest), "--agent-id", "nobody")

    assert (answer.code, answer.doc["reason"], answer.doc["preserved_path"]) == (1, "unknown_agent", None)


def test_two_entries_of_one_agent_are_told_apart_by_the_path(one: One) -> None:
    document = json.loads(one.manifest.read_text())
    document["worktrees"][1]["agent_id"] = one.agent.id
    one.manifest.write_text(json.dumps(document))

    assert one.call("finalize").doc["reason"] == "unknown_agent"
    answer = one.checked("finalize", str(one.other.path), *one.named)
    assert (answer.code, answer.doc["branch"]) == (0, one.other.branch)


@pytest.mark.parametrize("argv", [[], ["--agent-id", "a"], ["--manifest", "/m.json"], ["/p", "--message", " "]])
def test_a_worktree_must_be_named(argv: list[str]) -> None:
    assert call("finalize", *argv).code == 2


# -- the commit cannot be made


def test_a_hook_that_refuses_the_ref_leaves_everything_as_it_was(one: One) -> None:
    leave(one)
    one.world.hook("reference-transaction", "[ $1 != prepared ]")

    assert_refused(one, "commit_failed")


def test_a_commit_that_must_be_signed_and_cannot_be_is_not_made(one: One) -> None:
    leave(one)
    one.world.git("config", "commit.gpgSign", "true")
    one.world.git("config", "gpg.program", "false")

    assert_refused(one, "commit_failed")


def test_a_commit_that_must_be_signed_is_signed(one: One) -> None:
    key = one.world.tmp / "key"
    put(one.agent.path / "more.txt", "mine\n")
    signer = put(one.world.tmp / "sign", '#!/bin/sh\nprintf "%s\\n" SIGNED >"$(eval echo \\${$#}).sig"\n')
    signer.chmod(0o755)
    put(key, "not a key\n")
    for name, value in {"gpg.format": "ssh", "gpg.ssh.program": signer, "user.signingKey": key}.items():
        one.world.git("config", name, str(value))
    one.world.git("config", "commit.gpgSign", "true")

    assert one.call("finalize").code == 0

    assert "gpgsig SIGNED" in one.world.git("cat-file", "commit", one.agent.branch)


def test_a_lock_file_that_stays_is_named_and_nothing_is_committed(one: One) -> None:
    leave(one)
    one.world.git("config", "wave.lockTimeout", "0.05")
    for lock in (one.admin / "index.lock", one.world.root / f".git/refs/heads/{one.agent.branch}.lock"):
        put(lock, "")
        assert_refused(one, "commit_failed", says=lock.name)
        lock.unlink()


def test_a_file_that_cannot_be_read_leaves_everything_as_it_was(one: One) -> None:
    one.world.git("config", "filter.strict.clean", "false")
    one.world.git("config", "filter.strict.required", "true")
    put(one.world.root / ".git/info/attributes", "draft.txt filter=strict\n")
    leave(one)

    assert_refused(one, "commit_failed")


def test_a_status_that_git_cannot_tell_is_refused(one: One, shim: Shim) -> None:
    leave(one)
    shim.fail("status")

    assert_refused(one, "dirt_check_failed")


def test_a_branch_that_moves_while_it_is_committed_is_not_moved_over(one: One, shim: Shim) -> None:
    leave(one)
    one.world.git("branch", "late", one.other.tip)
    shim.before("commit-tree", f"git update-ref refs/heads/{one.agent.branch} {one.other.tip}", nth=1)

    answer = one.call("finalize")

    assert (answer.code, answer.doc["reason"]) == (1, "commit_failed")
    assert one.tip() == one.other.tip


def test_a_file_written_while_it_was_committed_is_told(one: One, shim: Shim) -> None:
    leave(one)
    shim.after("read-tree --reset", f"echo late >{one.agent.path}/late.txt")

    answer = one.call("finalize")

    assert (answer.code, answer.doc["reason"], answer.doc["commit"]) == (1, "still_changing", one.tip())
    assert "late.txt" in answer.doc["hint"]
    assert one.call("finalize").code == 0
    assert one.world.git("show", f"{one.agent.branch}:late.txt") == "late"


# -- dropping what holds no work


def test_a_branch_without_work_is_dropped_with_worktree_and_entry(one: One) -> None:
    put(one.agent.path / "run.log", "output\n")

    answer = one.call("finalize", "--drop-empty")

    assert (answer.code, answer.doc["reason"], answer.doc["dropped"]) == (0, "dropped_empty", True), answer
    assert one.is_gone()
    assert [Path(kept).read_text() for kept in answer.doc["kept"]] == ["output\n"]
    assert one.agent.tip in our_refs(one.world).values()
    again = one.call("finalize", "--drop-empty")
    assert (again.code, again.doc["reason"]) == (0, "dropped_empty")
    assert one.restore(answer.doc["restore"].split()[-1]).code == 0
    assert (one.agent.path / "run.log").read_text() == "output\n"


@pytest.mark.parametrize("work", [True, False])
def test_a_branch_with_work_is_not_dropped(world: World, work: bool) -> None:
    one = build_one(world, work=work)
    if not work:
        put(one.agent.path / "late.txt", "work after all\n")

    answer = one.call("finalize", "--drop-empty")

    assert (answer.code, answer.doc["reason"], answer.doc["dropped"]) == (0, "ok", False)
    assert one.world.registered(one.agent)


def test_a_branch_of_unknown_base_is_committed_and_not_dropped(one: One) -> None:
    leave(one)

    answer = one.at_path("finalize", "--drop-empty")

    assert (answer.code, answer.doc["reason"], answer.doc["commit"]) == (1, "base_unknown", one.tip())
    assert answer.doc["preserved_path"] == str(one.agent.path)
