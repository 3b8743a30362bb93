"""Does something else lay claim to it?"""

from git_wave.gates.in_use import GATE
from support.asking import CLEAR, ask, told
from support.world import World


def test_claims_on_other_places_leave_it_clear(world: World) -> None:
    agent = world.agent("a")
    claims = {agent.path.parent: "a session", agent.path.with_name("a-2"): "another"}

    assert told(ask(GATE, world, agent, claims=claims)) == CLEAR
    assert told(ask(GATE, world, agent, claims={})) == CLEAR


def test_a_claim_on_it_below_it_or_by_another_spelling_blocks(world: World) -> None:
    agent = world.agent("a")
    (world.tmp / "link").symlink_to(agent.path)
    for place in (agent.path, agent.path / "src", world.tmp / "link"):
        answer = ask(GATE, world, agent, claims={place: "session 1"})

        assert told(answer) == ("blocks", "worktree_claimed")
        assert answer.why == (f"claimed by session 1: {place}",)


def test_claims_that_were_not_found_out_are_no_answer(world: World) -> None:
    assert told(ask(GATE, world, world.agent("a"))) == ("cannot_tell", "cannot_tell")
