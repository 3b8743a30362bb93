"""A defect of ours, or a question that git cannot answer, costs one entry or refuses the wave; it loses nothing."""

import pytest

from support.shim import Shim
from support.world import World


def test_a_defect_in_a_stage_blocks_its_entry_and_the_others_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = world.agent("one"), world.agent("two")
    from git_wave.git.reads import Reads

    real = Reads.merge_bases

    def merge_bases(self: Reads, target: str, tip: str) -> tuple[str, ...]:
        if tip == one.tip:
            raise ZeroDivisionError("a defect")
        return real(self, target, tip)

    monkeypatch.setattr(Reads, "merge_bases", merge_bases)

    run = world.wave(one, two)

    assert run.outcome(one) == ("blocked", "internal_error")
    assert "a defect" in run.entry(one)["stderr"]
    assert run.outcome(two) == ("merged_removed", "ok")
    assert one.path.is_dir()


def test_a_checkout_whose_status_cannot_be_asked_refuses_the_wave(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.fail("status", code=128, stderr="fatal: boom\n")
    before = world.snapshot()

    run = world.wave(agent)

    assert (run.code, run.doc["reason"]) == (1, "git_failed")
    assert "boom" in run.doc["result"]["error"]
    assert world.snapshot() == before


def test_out_of_scope_paths_are_told_one_by_one_up_to_a_hundred(world: World) -> None:
    agent = world.agent("a", {f"out/{n:03}.txt": f"{n}\n" for n in range(130)})

    run = world.wave(world.entry(agent, files_modified=["src"]))

    told = run.warnings(code="scope_out_of_declared")
    assert [warning["path"] for warning in told] == [*(f"out/{n:03}.txt" for n in range(100)), None]
    assert told[-1]["detail"] == "and 30 more paths"
