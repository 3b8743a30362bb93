"""Whose a worktree is stands in a record beside it, written when the agent is recorded."""

import shutil
from collections.abc import Callable

import pytest

from support.reclaim import admin, owner, record
from support.shim import Shim
from support.world import Agent, World


def test_recording_with_a_session_writes_the_owner_beside_the_worktree_and_leaves_it_clean(yard: World) -> None:
    agent = yard.agent("one")
    manifest = yard.manifest()

    answer = record(yard, agent, "--session", "s-1", "--parent", "p-1", manifest=manifest)

    written = owner(yard, agent)
    assert answer.code == 0
    assert answer.doc["owner"] == written
    assert answer.doc["warnings"] == []
    assert written is not None
    told = {name: written[name] for name in ("agent_id", "branch", "session", "parent", "manifest", "base")}
    assert told == {
        "agent_id": agent.id,
        "branch": agent.branch,
        "session": "s-1",
        "parent": "p-1",
        "manifest": str(manifest),
        "base": agent.base,
    }
    assert yard.git("status", "--porcelain", "--ignored", "-uall", cwd=agent.path) == ""


def test_without_a_session_nothing_is_asked_and_nothing_written(yard: World, shim: Shim) -> None:
    agent = yard.agent("one")

    answer = record(yard, agent)

    assert set(answer.doc) == {"ok", "reason", "entry", "manifest_path"}
    assert [call[0] for call in shim.calls()] == ["config"]
    assert owner(yard, agent) is None


def clone(world: World, agent: Agent) -> None:
    world.git("worktree", "remove", agent.path)
    world.git("clone", "-q", world.root, agent.path)


ELSEWHERE: dict[str, Callable[[World, Agent], object]] = {
    "not there": lambda world, agent: shutil.rmtree(agent.path),
    "another branch": lambda world, agent: world.git("switch", "-qc", "other", cwd=agent.path),
    "a clone": clone,
    "another agent's": lambda world, agent: record(world, agent, "--session", "s-0", agent_id="agent-0"),
    "a garbled record": lambda world, agent: (admin(world, agent) / "git-wave-owner.json").write_text("{"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", ELSEWHERE)
def test_where_the_worktree_is_not_proven_the_entry_is_recorded_and_the_owner_is_not(yard: World, case: str) -> None:
    agent = yard.agent("one")
    ELSEWHERE[case](yard, agent)
    records = [path.read_text() for path in yard.root.glob(".git/worktrees/*/git-wave-owner.json")]

    answer = record(yard, agent, "--session", "s-1", manifest=yard.manifest(name="late.json"))

    assert (answer.code, answer.doc["reason"], answer.doc["owner"]) == (0, "ok", None)
    assert [warning["code"] for warning in answer.doc["warnings"]] == ["owner_not_recorded"]
    assert [path.read_text() for path in yard.root.glob(".git/worktrees/*/git-wave-owner.json")] == records


def test_what_was_on_record_of_the_same_agent_stays(yard: World) -> None:
    agent = yard.agent("one")
    record(yard, agent, "--session", "s-1")
    first = owner(yard, agent)

    record(yard, agent, "--parent", "p-2", manifest=yard.manifest(name="next.json"))

    second = owner(yard, agent)
    assert first is not None
    assert second is not None
    assert (second["recorded_at"], second["session"], second["parent"]) == (first["recorded_at"], "s-1", "p-2")
