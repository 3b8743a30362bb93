"""`wave.*` in git's config: what it may be, and that a wrong value stops everything before anything is touched."""

import pytest

from support.world import World

WRONG = [
    ("wave.branchPattern", "agent-("),
    ("wave.mergeTimeout", "soon"),
    ("wave.mergeTimeout", "0"),
    ("wave.gitTimeout", "-1"),
    ("wave.gitTimeout", "inf"),
    ("wave.lockTimeout", "nan"),
    ("wave.mergeMessage", " "),
    ("wave.mergeMessage", "merge {who}"),
]


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_setting_that_cannot_be_used_refuses_the_wave(world: World, key: str, value: str) -> None:
    agent = world.agent("a")
    world.git("config", key, value)
    before = world.snapshot()

    run = world.wave(agent)

    assert run.code == 1
    assert run.doc["reason"] == "config_invalid"
    assert key in run.doc["result"]["error"]
    assert [entry["branch"] for entry in run.doc["result"]["pending"]] == [agent.branch]
    assert world.snapshot() == before


def test_the_branch_pattern_of_the_config_opens_and_closes_the_namespace(world: World) -> None:
    mine, usual = world.agent("mine", branch="bot/mine"), world.agent("usual")
    world.git("config", "wave.branchPattern", "^bot/")

    run = world.wave(mine, usual)

    assert run.outcome(mine) == ("merged_removed", "ok")
    assert run.outcome(usual) == ("blocked", "invalid_entry")


def test_a_flag_wins_over_the_config(world: World) -> None:
    agent = world.agent("a")
    world.git("config", "wave.mergeTimeout", "0.2")
    world.hook("pre-merge-commit", "sleep 1")

    assert world.wave(agent).outcome() == ("blocked", "merge_timed_out")
    assert world.wave(agent, args=["--merge-timeout", "60"]).outcome() == ("merged_removed", "ok")
