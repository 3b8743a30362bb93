"""Every git call of a wave of five struck: killed around it, or failing. The same command again finishes."""

import random
import signal
from collections.abc import Callable

import pytest

from faults.conftest import Lengths, Scene
from support.five import Five
from support.forked import run_forked
from support.points import fault_points
from support.shim import Shim

STRUCK = 'echo >"$state/struck"; '
DEADLY = {
    "killed before": "kill -9 $PPID; exit 1",
    "killed after": '"$real" "$@"; kill -9 $PPID; exit 1',
    "killed while git goes on alone": 'kill -9 $PPID; exec "$real" "$@"',
}
FAILING = {
    "failing": "exit 128",
    "failing after its work": '"$real" "$@"; exit 128',
}
KINDS = {**DEADLY, **FAILING}
STEP = 29
SAMPLE = [(kind, 1 + 3 * number) for number, kind in enumerate(KINDS)]
REST = [(kind, start) for kind in KINDS for start in range(1, STEP + 1) if (kind, start) not in SAMPLE]
Record = Callable[[str, object], None]


def strike(shim: Shim, kind: str, number: int) -> None:
    """Have the call of this number, counted from now, meet its fate."""
    for name in ("calls-so-far", "struck"):
        (shim.state / name).unlink(missing_ok=True)
    shim.rules[:] = [f'if count calls-so-far && [ "$n" = {number} ]; then {STRUCK}{KINDS[kind]}; fi\n']
    shim.install()


def calm(shim: Shim) -> None:
    shim.rules.clear()
    shim.install()


def run_struck(five: Five, shim: Shim, kind: str, number: int) -> None:
    """The wave with its fault, and what must hold at once."""
    strike(shim, kind, number)
    if kind in DEADLY:
        assert_killed_or_done(run_forked("cleanup-wave", five.argv))
    else:
        five.assert_honest(five.world.wave(five.manifest))
    assert (shim.state / "struck").exists(), "the wave made fewer calls this time"
    calm(shim)
    five.assert_nothing_lost()


def assert_killed_or_done(code: int) -> None:
    assert code in {0, -9}, f"ended with {code}"


def check_calls(kind: str, start: int, lengths: Lengths, scene: Scene, shim: Shim, record: Record) -> None:
    with fault_points(f"git {kind}", record) as points:
        for number in range(start, lengths.calls + 1, STEP):
            with points.at(f"git call {number} {kind}"):
                five = scene(number)
                run_struck(five, shim, kind, number)
                five.finish()


@pytest.mark.parametrize(("kind", "start"), SAMPLE)
def test_a_git_call_is_struck_and_the_same_command_finishes(
    kind: str, start: int, lengths: Lengths, scene: Scene, shim: Shim, record_property: Record
) -> None:
    check_calls(kind, start, lengths, scene, shim, record_property)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "start"), REST)
def test_any_other_git_call_is_struck_and_the_same_command_finishes(
    kind: str, start: int, lengths: Lengths, scene: Scene, shim: Shim, record_property: Record
) -> None:
    check_calls(kind, start, lengths, scene, shim, record_property)


def check_twice(seeds: range, lengths: Lengths, scene: Scene, shim: Shim, record: Record) -> None:
    with fault_points("git struck again in the rerun", record) as points:
        for seed in seeds:
            pick = random.Random(seed)
            first, second = (pick.choice([*DEADLY]) for _ in range(2))
            at, then = pick.randint(1, lengths.calls), pick.randint(1, 40)
            with points.at(f"seed {seed}: call {at} {first}, in the rerun call {then} {second}"):
                five = scene(seed)
                run_struck(five, shim, first, at)
                strike(shim, second, then)
                assert_killed_or_done(run_forked("cleanup-wave", five.argv))
                calm(shim)
                five.assert_nothing_lost()
                five.finish()


def test_a_rerun_is_struck_too_and_the_same_command_finishes(
    lengths: Lengths, scene: Scene, shim: Shim, record_property: Record
) -> None:
    check_twice(range(1), lengths, scene, shim, record_property)


@pytest.mark.deep
@pytest.mark.parametrize("tens", range(1, 8))
def test_many_reruns_are_struck_too_and_the_same_command_finishes(
    tens: int, lengths: Lengths, scene: Scene, shim: Shim, record_property: Record
) -> None:
    check_twice(range(10 * tens, 10 * tens + 10), lengths, scene, shim, record_property)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_struck_before_the_branchs_config_went_a_rerun_clears_it(scene: Scene, shim: Shim, kind: str) -> None:
    five = scene(kind.replace(" ", "-"))
    shim.rules[:] = [f'if [ "$sub" = config ] && has --remove-section "$@"; then {KINDS[kind]}; fi\n']
    shim.install()
    # A section that could not be dropped is told: landed, but something small is left.
    assert run_forked("cleanup-wave", five.argv) in {-signal.SIGKILL, 0, 1}
    calm(shim)

    five.finish()

    assert five.world.git("config", "--get-regexp", r"^branch\.", check=False) == ""
