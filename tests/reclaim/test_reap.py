"""`git wave reap`: a session has ended, and its agents' worktrees go where nothing is lost with them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from git_wave.state.creating import Intent, begun
from support.calling import call
from support.reclaim import admin, fates, journals, lock, process, reap, record, taken, untouched
from support.repo import put
from support.shim import Shim
from support.unseen import edit_unseen
from support.world import Agent, World


def agent_of(
    world: World, name: str, *flags: str, write: dict[str, str | bytes] | None = None, **kwargs: object
) -> Agent:
    """An agent sent by the session `s`, with nothing that is not in the default branch."""
    agent = world.agent(name, write or {})
    record(world, agent, *(flags or ("--parent", "s")), **kwargs)  # type: ignore[arg-type]
    return agent


def test_the_worktrees_of_the_session_go_and_nobody_elses(yard: World) -> None:
    sent, itself = agent_of(yard, "one"), agent_of(yard, "two", "--session", "s", "--parent", "p")
    others, unowned = agent_of(yard, "three", "--session", "t", "--parent", "ss"), yard.agent("four", {})

    answer = reap("s")

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (0, True, "ok")
    assert fates(answer) == {"one": ("removed", "removed"), "two": ("removed", "removed")}
    counts = {name: answer.doc[name] for name in ("removed", "already_gone", "kept", "partially_removed")}
    assert counts == {"removed": 2, "already_gone": 0, "kept": 0, "partially_removed": 0}
    assert all(taken(yard, agent) for agent in (sent, itself))
    assert all(untouched(yard, agent) for agent in (others, unowned))


def test_each_decision_is_a_line_before_and_a_line_after(yard: World) -> None:
    kept, gone = agent_of(yard, "one"), agent_of(yard, "two")
    put(kept.path / "new.txt", "new\n")

    run = reap("s").doc["id"]

    (lines,) = journals(yard)
    assert (lines[0]["kind"], lines[0]["session"]) == ("reap", "s")
    decided = [line for line in lines if line.get("action") == "decide"]
    assert [(line["path"], line["agent"]) for line in decided] == [(str(a.path), a.id) for a in (kept, gone)]
    told = [line["outcome"] for intent in decided for line in lines if line.get("intent") == intent["seq"]]
    assert told == ["kept", "removed"]
    assert "kept (worktree_dirty)" in call("show", run).out
    assert call("log").out.count("reap") == 1
    assert call("undo", run).doc["reason"] == "nothing_to_undo"


def ignored(world: World, agent: Agent) -> None:
    put(agent.path / "run.log", "out\n")
    put(agent.path / "node_modules/x/index.js", "x\n")


KEPT: dict[str, tuple[Callable[[World, Agent], object], str]] = {
    "uncommitted": (lambda world, agent: put(agent.path / "new.txt", "new\n"), "worktree_dirty"),
    "hidden edit, unseen": (lambda world, agent: edit_unseen(world, agent.path), "worktree_dirty"),
    "unpushed": (lambda world, agent: world.commit(agent.path, {"new.txt": "new\n"}), "commits_unpushed"),
    "ignored": (ignored, "ignored_output_blocks"),
    "locked": (lambda world, agent: lock(world, agent, "mine"), "lock_owner_unknown"),
    "claimed": (
        lambda world, agent: agent_of_manifest(world, agent),
        "worktree_claimed",
    ),
}


def agent_of_manifest(world: World, agent: Agent) -> None:
    """A second entry, of another agent, for the same worktree, in the manifest of a third."""
    third = world.agent("third", {})
    entry = world.entry(agent, agent_id="agent-99")
    record(world, third, "--session", "t", manifest=world.manifest(entry, name="other.json"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", KEPT)
def test_a_worktree_with_something_to_lose_is_kept_with_the_reason_and_that_is_no_error(yard: World, case: str) -> None:
    agent = agent_of(yard, "one")
    arrange, reason = KEPT[case]
    arrange(yard, agent)

    answer = reap("s")

    assert (answer.code, fates(answer)) == (0, {"one": ("kept", reason)})
    assert answer.doc["kept"] == 1
    assert agent.path.is_dir()
    assert yard.registered(agent)


def test_what_a_build_makes_again_goes_with_its_worktree(yard: World) -> None:
    agent = agent_of(yard, "one")
    put(agent.path / "node_modules/x/index.js", "x\n")

    assert fates(reap("s")) == {"one": ("removed", "removed")}


def test_a_worktree_somebody_is_in_is_kept(yard: World) -> None:
    agent = agent_of(yard, "one")

    with process(agent.path):
        assert fates(reap("s")) == {"one": ("kept", "worktree_in_use")}

    assert untouched(yard, agent)


def test_both_worktrees_of_an_agent_that_names_two_are_kept(yard: World) -> None:
    one = agent_of(yard, "one", agent_id="agent-7")
    two = agent_of(yard, "two", agent_id="agent-7")

    answer = reap("s")

    assert (answer.code, answer.doc["reason"]) == (1, "reap_incomplete")
    assert set(fates(answer).values()) == {("kept", "owner_unconfirmed")}
    assert untouched(yard, one)
    assert untouched(yard, two)


def test_an_owner_that_changes_between_the_look_and_the_act_keeps_its_worktree(yard: World, shim: Shim) -> None:
    agent = agent_of(yard, "one")
    file = admin(yard, agent) / "git-wave-owner.json"
    put(yard.tmp / "next.json", file.read_text().replace("agent-one", "agent-two"))
    shim.after("status", f"cp {yard.tmp}/next.json {file}", nth=1)

    assert fates(reap("s")) == {"one": ("kept", "owner_unconfirmed")}
    assert untouched(yard, agent)


def test_a_worktree_that_was_gone_is_counted_apart(yard: World) -> None:
    gone, stale = agent_of(yard, "one"), agent_of(yard, "two", "--parent", "t")
    for agent in (gone, stale):
        shutil.rmtree(agent.path)

    answer = reap("s")

    assert (answer.code, fates(answer)) == (0, {"one": ("already_gone", "already_gone")})
    assert (answer.doc["removed"], answer.doc["already_gone"]) == (0, 1)
    assert taken(yard, gone)
    assert yard.registered(stale)
    assert reap("s").doc["worktrees"] == []


def test_a_removal_that_fails_half_way_is_counted_apart_with_what_is_left(yard: World, shim: Shim) -> None:
    agent = agent_of(yard, "one")
    before = len(list(agent.path.rglob("*")))
    shim.before("worktree remove", f"rm -r {agent.path}/src")
    shim.fail("worktree remove", stderr="fatal: half")

    answer = reap("s")

    (fate,) = answer.doc["worktrees"]
    assert (answer.code, fate["outcome"], fate["reason"]) == (1, "partially_removed", "worktree_remove_failed")
    assert (fate["entries_before"], fate["entries_after"]) == (before, len(list(agent.path.rglob("*"))))
    assert answer.doc["partially_removed"] == 1


def test_files_that_git_has_let_go_of_are_said_to_be_the_users_to_delete(yard: World, shim: Shim) -> None:
    agent = agent_of(yard, "one")
    git_dir = admin(yard, agent)
    shim.before("worktree remove", f"rm -r {agent.path}/src {git_dir}")
    shim.fail("worktree remove", stderr="fatal: half")

    (fate,) = reap("s").doc["worktrees"]

    assert fate["outcome"] == "partially_removed"
    assert "git has let go of it" in fate["why"][-1]
    assert agent.path.is_dir()


def test_a_removal_that_git_reports_and_did_not_make_is_kept(yard: World, shim: Shim) -> None:
    agent = agent_of(yard, "one")
    shim.fail("worktree remove", code=0)

    answer = reap("s")

    assert (answer.code, fates(answer)) == (1, {"one": ("kept", "worktree_remove_failed")})
    assert untouched(yard, agent)


def test_one_worktree_that_cannot_be_removed_stops_none_of_the_others(yard: World, shim: Shim) -> None:
    one, two = agent_of(yard, "one"), agent_of(yard, "two")
    shim.fail("worktree remove", nth=1)

    answer = reap("s")

    assert (answer.code, fates(answer)["two"]) == (1, ("removed", "removed"))
    assert untouched(yard, one)
    assert taken(yard, two)


def test_a_path_that_came_back_is_judged_as_it_is(yard: World, shim: Shim) -> None:
    """Gone at the first look, and there again, with work in it, when its turn comes."""
    agent = agent_of(yard, "one")
    agent.path.rename(yard.tmp / "aside")
    put(yard.tmp / "aside/new.txt", "new\n")
    shim.before("diff-index", f"mv {yard.tmp}/aside {agent.path}")

    answer = reap("s")

    assert fates(answer)["one"][0] == "already_gone"
    assert [warning["code"] for warning in answer.doc["worktrees"][0]["warnings"]] == ["registration_kept"]
    assert (agent.path / "new.txt").exists()
    assert yard.registered(agent)


def test_a_managed_root_that_is_reached_through_a_link_is_the_same_root(yard: World) -> None:
    agent = agent_of(yard, "one")
    (yard.tmp / "link").symlink_to(yard.worktree_dir)
    yard.git("config", "wave.managedRoot", str(yard.tmp / "link"))

    assert fates(reap("s")) == {"one": ("removed", "removed")}
    assert taken(yard, agent)


def test_a_worktree_outside_the_managed_root_is_not_reaped(yard: World) -> None:
    inside, outside = agent_of(yard, "one"), yard.agent("two", {}, path=yard.tmp / "elsewhere/two")
    record(yard, outside, "--parent", "s")

    assert fates(reap("s"))["two"] == ("kept", "outside_managed_root")
    assert untouched(yard, outside)
    assert taken(yard, inside)


def test_a_dry_run_of_a_reap_changes_nothing(yard: World) -> None:
    agent_of(yard, "one")
    before = yard.snapshot()

    answer = reap("s", "--dry-run")

    assert (answer.code, answer.doc["would_remove"]) == (0, 1)
    assert yard.snapshot() == before
    assert journals(yard) == []


def test_a_record_that_cannot_be_read_is_told_and_takes_nothing_along(yard: World) -> None:
    agent = agent_of(yard, "one")
    garbled = agent_of(yard, "two")
    (admin(yard, garbled) / "git-wave-owner.json").write_text("{")

    answer = reap("s")

    assert (answer.code, fates(answer)) == (1, {"one": ("kept", "owner_unconfirmed")})
    assert [Path(warning["path"]).name for warning in answer.doc["warnings"]] == ["two"]
    assert untouched(yard, agent)
    assert untouched(yard, garbled)


def test_a_worktree_that_the_command_is_called_in_is_kept(yard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = agent_of(yard, "one")
    monkeypatch.chdir(agent.path)

    assert fates(reap("s")) == {"one": ("kept", "worktree_claimed")}
    assert untouched(yard, agent)


def test_a_worktree_that_a_create_is_still_making_is_kept(yard: World) -> None:
    agent = agent_of(yard, "one")
    tree = yard.git("rev-parse", f"{agent.tip}^{{tree}}")
    intent = Intent("id-1", "m.json", agent.id, agent.branch, str(agent.path), agent.base, tree)

    with begun(yard.root / ".git", intent):
        assert fates(reap("s")) == {"one": ("kept", "worktree_claimed")}
    assert untouched(yard, agent)
    assert fates(reap("s")) == {"one": ("removed", "removed")}
