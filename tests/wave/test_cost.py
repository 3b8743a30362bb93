"""What a wave costs in git processes. Counted, never timed."""

from collections import Counter

from support.shim import Shim, subcommand
from support.world import World

PER_ENTRY = 10
FIXED = 12


def calls_of_a_wave(world: World, shim: Shim, name: str, size: int) -> list[str]:
    agents = [world.agent(f"{name}{number}") for number in range(size)]
    shim.forget()
    run = world.wave(*agents)
    assert run.code == 0, run.doc
    return [subcommand(call) for call in shim.calls()]


def test_a_happy_entry_costs_at_most_ten_processes(world: World, shim: Shim) -> None:
    calls_of_a_wave(world, shim, "first", 1)
    three, six = calls_of_a_wave(world, shim, "three", 3), calls_of_a_wave(world, shim, "six", 6)

    per_entry = (len(six) - len(three)) / 3
    assert per_entry <= PER_ENTRY, Counter(six) - Counter(three)
    assert len(three) - 3 * per_entry <= FIXED, Counter(three)


def test_the_cost_of_an_entry_does_not_grow_with_its_files(world: World, shim: Shim) -> None:
    small = world.agent("small", {"one.txt": "1\n"})
    large = world.agent("large", {f"many/{number}/file.txt": f"{number}\n" for number in range(200)})
    shim.forget()
    assert world.wave(small).code == 0
    few = len(shim.calls())
    shim.forget()
    assert world.wave(large).code == 0

    assert len(shim.calls()) <= few


def test_a_wave_of_unusable_entries_costs_only_the_fixed_part(world: World, shim: Shim) -> None:
    shim.forget()

    run = world.wave(*({"branch": "main"} for _ in range(50)))

    assert run.code == 1
    assert len(shim.calls()) <= FIXED
