"""`git wave restore`: what was discarded comes back as it was, and nothing that stands is written over."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.one import One, build_one, leave
from support.ours import our_refs
from support.repo import put
from support.world import World, files_below


@pytest.fixture
def one(world: World) -> One:
    return build_one(world, work=True)


def standing(one: One) -> dict[str, Any]:
    """What a restore must bring back; the mark of a hidden edit aside."""
    found = one.state()
    found["index"] = one.world.git("ls-files", "--stage", "-z", cwd=one.agent.path)
    found["manifest"] = sorted(one.entries(), key=lambda entry: str(entry["agent_id"]))
    found["user"].pop("worktrees")
    found["user"].pop("config")
    record = one.admin / "git-wave-owner.json"
    return {**found, "owner": record.read_bytes() if record.exists() else None}


def test_everything_comes_back_by_every_name(one: One) -> None:
    files = leave(one)
    one.world.git("update-index", "--no-assume-unchanged", "tests/test_app.py", cwd=one.agent.path)
    put(one.agent.path / "run.log", "output\n")
    put(one.agent.path / "logs/deep.log", "more output\n")
    owner = {"v": 1, "agent_id": one.agent.id, "branch": one.agent.branch, "recorded_at": "2026-01-01T00:00:00Z"}
    (one.admin / "git-wave-owner.json").write_text(json.dumps({**owner, "session": "s", "last_seen": None}))
    before = standing(one)

    told = one.call("discard", "--force").doc
    assert one.is_gone()

    answer = one.restore(told["wip"]["commit"])

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (0, True, "restored"), answer
    assert (answer.doc["wip_applied"], answer.doc["entry_recorded"]) == (True, True)
    after = standing(one)
    nothing = dict.fromkeys(("parent", "manifest", "base", "baseline"))
    assert json.loads(after.pop("owner")) == {**json.loads(before.pop("owner")), **nothing}
    assert after == before
    assert list((one.world.root / ".git/git-wave/kept").iterdir()) == []
    for name in (told["id"], told["backup"], told["wip"]["ref"]):
        assert one.restore(name).doc["reason"] == "already_restored"
    assert files.items() <= files_below(one.agent.path).items()
    assert one.world.fsck() == ""


def test_restored_again_it_says_so_and_moves_nothing(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    one.restore(run)
    put(one.agent.path / "late.txt", "written since\n")
    before = standing(one)

    again = one.restore(run)

    assert (again.code, again.doc["ok"], again.doc["reason"]) == (0, True, "already_restored")
    assert standing(one) == before


def test_a_worktree_that_was_gone_comes_back_at_its_tip(one: One) -> None:
    one.agent.path.rename(one.world.tmp / "elsewhere")

    assert one.restore(one.call("discard", "--force").doc["backup"]).code == 0

    assert one.world.untouched(one.agent)
    assert one.status() == []


def test_it_can_be_discarded_and_restored_again(one: One) -> None:
    for _ in range(2):
        run = one.call("discard", "--force").doc["id"]
        assert one.restore(run).doc["reason"] == "restored"
    assert one.world.untouched(one.agent)


def test_a_manifest_that_is_gone_is_not_made_again(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    one.manifest.unlink()

    answer = one.restore(run)

    assert (answer.code, answer.doc["entry_recorded"]) == (0, False)
    assert [warning["code"] for warning in answer.doc["warnings"]] == ["manifest_read_failed"]
    assert not one.manifest.exists()


def test_a_manifest_that_cannot_be_written_is_told_and_the_entry_comes_the_next_time(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    lock = one.manifest.parent / f".{one.manifest.name}.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()

    answer = one.restore(run)
    lock.rmdir()

    assert (answer.code, answer.doc["reason"]) == (1, "manifest_write_failed"), answer
    put(one.agent.path / "late.txt", "written since\n")
    assert one.restore(run).doc["entry_recorded"] is True
    assert len(one.entries()) == 2
    assert (one.agent.path / "late.txt").read_text() == "written since\n"


# -- refusals


def assert_refused(one: One, ref: str, reason: str, says: str = "") -> None:
    before, refs = one.world.snapshot(), our_refs(one.world)
    answer = one.restore(ref)
    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, reason), answer
    assert says in answer.doc["hint"]
    assert (one.world.snapshot(), our_refs(one.world)) == (before, refs)


def test_something_at_the_path_refuses_and_stays(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    put(one.agent.path / "notes.txt", "a person's\n")

    assert_refused(one, run, "path_exists", str(one.agent.path))

    assert (one.agent.path / "notes.txt").read_text() == "a person's\n"


def test_a_worktree_registered_at_the_path_refuses(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    one.world.git("worktree", "add", "-q", "-b", "newcomer", one.agent.path)
    one.agent.path.rename(one.world.tmp / "elsewhere")

    assert_refused(one, run, "path_exists")


def test_a_branch_of_that_name_elsewhere_refuses(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    one.world.git("branch", one.agent.branch, one.other.tip)

    assert_refused(one, run, "branch_exists")


def test_a_branch_that_is_checked_out_elsewhere_refuses(one: One) -> None:
    run = one.call("discard", "--force").doc["id"]
    one.world.git("worktree", "add", "-q", "-b", one.agent.branch, one.world.tmp / "elsewhere", one.agent.tip)

    assert_refused(one, run, "branch_exists", "elsewhere")


@pytest.mark.parametrize("ref", ["", "HEAD", "20200101T000000000000Z", "refs/git-wave/x/heads/y", "no such thing"])
def test_what_is_no_backup_of_a_discard_is_refused(one: One, ref: str) -> None:
    one.call("discard", "--force")

    assert_refused(one, ref, "unknown_backup")


def test_a_wave_is_not_restored(one: One) -> None:
    run = one.world.wave(one.other).doc["wave"]["id"]

    assert_refused(one, run, "unknown_backup")
    assert_refused(one, f"refs/git-wave/{run}/heads/{one.other.branch}", "unknown_backup")


def test_kept_output_stays_where_something_stands_in_its_way(one: One) -> None:
    one.world.commit(one.agent.path, {"keep/readme": "tracked\n"})
    put(one.agent.path / "keep/run.log", "output\n")
    told = one.call("discard", "--force").doc
    one.world.hook("post-index-change", f"mkdir -p {one.agent.path}/keep && echo other >{one.agent.path}/keep/run.log")

    answer = one.restore(told["id"])

    assert answer.code == 0
    (warning,) = answer.doc["warnings"]
    assert (warning["code"], warning["path"]) == ("ignored_output_kept", told["kept"][0])
    assert Path(told["kept"][0]).read_text() == "output\n"
    assert (one.agent.path / "keep/run.log").read_text() == "other\n"
