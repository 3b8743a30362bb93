"""Does it belong to whom the caller says?"""

from pathlib import Path

import pytest

from git_wave.gates import Expected, Inspection, Terms
from git_wave.gates.ownership import GATE
from git_wave.model.owner import Owner
from git_wave.state.owner import NAME, write_owner
from support.asking import CLEAR, ask, reads_of, told
from support.repo import put
from support.world import Agent, World

UNCONFIRMED = ("blocks", "owner_unconfirmed")
CANNOT_TELL = ("cannot_tell", "owner_unconfirmed")
WHOSE = Expected(agent="agent-a", parent="parent-1")


def admin(world: World, agent: Agent) -> Path:
    return world.root / ".git/worktrees" / agent.path.name


def own(world: World, agent: Agent, agent_id: str | None = None, parent: str | None = "parent-1") -> None:
    write_owner(admin(world, agent), Owner(agent_id or agent.id, agent.branch, "2026-01-01T00:00:00Z", parent=parent))


def test_the_expected_owner_is_clear(world: World) -> None:
    agent, other = world.agent("a"), world.agent("b")
    own(world, agent)
    own(world, other)

    assert told(ask(GATE, world, agent, expected=WHOSE)) == CLEAR
    assert told(ask(GATE, world, agent, expected=Expected(parent="parent-1"))) == CLEAR


def test_no_record_confirms_nobody(world: World) -> None:
    assert told(ask(GATE, world, world.agent("a"), expected=WHOSE)) == UNCONFIRMED


@pytest.mark.parametrize("expected", [Expected(agent="agent-b"), Expected(parent="2"), Expected(session="s")])
def test_another_agent_parent_or_session_blocks_and_both_are_named(world: World, expected: Expected) -> None:
    agent = world.agent("a")
    own(world, agent)
    answer = ask(GATE, world, agent, expected=expected)

    assert told(answer) == UNCONFIRMED
    assert expected.agent or expected.parent or expected.session in answer.why[0]


@pytest.mark.parametrize("text", ["", "{", '{"v": 1}', '{"v": 99, "agent_id": "agent-a"}', "[" * 100_000])
def test_a_garbled_record_confirms_nobody(world: World, text: str) -> None:
    agent = world.agent("a")
    put(admin(world, agent) / NAME, text)

    assert told(ask(GATE, world, agent, expected=WHOSE)) == CANNOT_TELL


def test_nobody_expected_is_no_answer(world: World) -> None:
    agent = world.agent("a")
    own(world, agent)

    assert told(ask(GATE, world, agent)) == CANNOT_TELL


def test_of_two_worktrees_of_one_agent_neither_is_confirmed(world: World) -> None:
    agent, other = world.agent("a"), world.agent("b")
    own(world, agent)
    own(world, other, agent_id="agent-a", parent="somebody else")

    answer = ask(GATE, world, agent, expected=WHOSE)
    assert told(answer) == CANNOT_TELL
    assert str(other.path) in answer.why[0]
    assert told(ask(GATE, world, other, expected=Expected(agent="agent-a"))) == CANNOT_TELL


def test_another_worktree_of_the_agent_whose_directory_is_gone_is_none(world: World) -> None:
    agent, other = world.agent("a"), world.agent("b")
    own(world, agent)
    own(world, other, agent_id="agent-a")
    other.path.rename(world.tmp / "elsewhere")

    assert told(ask(GATE, world, agent, expected=WHOSE)) == CLEAR


def test_a_record_elsewhere_that_cannot_be_read_may_be_the_same_agents(world: World) -> None:
    agent, other = world.agent("a"), world.agent("b")
    own(world, agent)
    put(admin(world, other) / NAME, "{")

    assert told(ask(GATE, world, agent, expected=WHOSE)) == CANNOT_TELL


def test_a_record_that_changed_since_is_seen_by_the_next_pass_only(world: World) -> None:
    agent = world.agent("a")
    own(world, agent)
    with reads_of(world) as reads:
        early = Inspection(reads, Terms(expected=WHOSE))
        subject = early.subject(agent.path)
        assert GATE.ask(subject).is_clear
        own(world, agent, parent="somebody else")

        assert GATE.ask(subject).is_clear
        assert told(GATE.ask(early.again().subject(agent.path))) == UNCONFIRMED
