"""Every git call and every file operation of a create struck: killed, failing, hanging or interrupted there.

Afterwards the same command succeeds, and then no worktree or branch exists that no manifest names.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call
from support.creates import REPLAY, Scene, build_scene, copy_scene, forget
from support.forked import run_forked
from support.points import Points, fault_points
from support.repo import put
from support.sealed import sealed_variables
from support.shim import Shim
from support.world import World

STRUCK = 'echo >"$state/struck"; '
DEADLY = {
    "killed before": "kill -9 $PPID; exit 1",
    "killed after": '"$real" "$@"; kill -9 $PPID; exit 1',
    "killed while git goes on alone": 'kill -9 $PPID; exec "$real" "$@"',
}
FAILING = {
    "failing": "exit 128",
    "failing after its work": '"$real" "$@"; exit 128',
    "hanging": "sleep 600",
    "hanging after its work": '"$real" "$@"; sleep 600',
}
SIGNALLED = {"interrupted": 'kill -INT $PPID; exec "$real" "$@"', "ended": '"$real" "$@"; kill -TERM $PPID; exit 0'}
KINDS = {**DEADLY, **FAILING, **SIGNALLED}
PATIENCE = ("--git-timeout=1", "--checkout-timeout=1")
STEP = 19
SAMPLE = [(kind, 1 + 2 * number) for number, kind in enumerate(KINDS)]
REST = [(kind, start) for kind in KINDS for start in range(1, STEP + 1) if (kind, start) not in SAMPLE]
CHANGING = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.chmod", "os.utime", "os.link")
Record = Callable[[str, object], None]
Fresh = Callable[[object], Scene]


@pytest.fixture(scope="session")
def built_create(tmp_path_factory: pytest.TempPathFactory) -> World:
    place = tmp_path_factory.mktemp("create")
    return build_scene(place, {"PATH": os.environ["PATH"]} | sealed_variables(place / "home"))


@pytest.fixture
def fresh(built_create: World, tmp_path: Path, _sealed: None) -> Fresh:
    return lambda name: copy_scene(built_create, tmp_path / f"create-{name}", dict(os.environ))


@pytest.fixture(scope="session")
def _counted() -> dict[tuple[str, ...], int]:
    return {}


@pytest.fixture
def calls(fresh: Fresh, shim: Shim, _counted: dict[tuple[str, ...], int]) -> Callable[..., int]:
    """How many git calls the undisturbed command makes; it must itself end well."""

    def count(*more: str) -> int:
        if more not in _counted:
            shim.forget()
            scene = fresh("undisturbed")
            answer = call(*scene.argv(*more))
            _counted[more] = len(shim.calls())
            scene.assert_told(answer, *more)
            assert answer.code == 0, answer
            forget(scene)
        return _counted[more]

    return count


def strike(shim: Shim, kind: str, number: int) -> None:
    for name in ("calls-so-far", "struck"):
        (shim.state / name).unlink(missing_ok=True)
    shim.rules[:] = [f'if count calls-so-far && [ "$n" = {number} ]; then {STRUCK}{KINDS[kind]}; fi\n']
    shim.install()


def calm(shim: Shim) -> None:
    shim.rules.clear()
    shim.install()


def run_struck(scene: Scene, shim: Shim, kind: str, number: int, more: tuple[str, ...]) -> bool:
    """The command with its fault, and what must hold at once; whether it said that it ended well."""
    strike(shim, kind, number)
    argv = scene.argv(*more, *PATIENCE)
    said_well = False
    if kind in FAILING:
        answer = call(*argv)
        calm(shim)
        scene.assert_told(answer, *more)
        said_well = answer.code == 0
    else:
        code = run_forked("git-wave", argv)
        calm(shim)
        assert code in {0, -9} if kind in DEADLY else code in {0, 1, 130, 143}, f"ended with {code}"
        scene.assert_others_untouched()
        if kind in SIGNALLED:
            assert scene.unmanaged() == []
    assert (shim.state / "struck").exists(), "the command made fewer calls this time"
    return said_well


def check_calls(
    kind: str, start: int, calls: Callable[..., int], fresh: Fresh, shim: Shim, record: Record, more: tuple[str, ...]
) -> None:
    with fault_points(f"create: git {kind}", record) as points:
        for number in range(start, calls(*more) + 1, STEP):
            check_call(points, kind, number, fresh, shim, more)


def check_call(points: Points, kind: str, number: int, fresh: Fresh, shim: Shim, more: tuple[str, ...]) -> None:
    with points.at(f"git call {number} {kind}"):
        scene = fresh(number)
        if not run_struck(scene, shim, kind, number, more):
            scene.finish(*more)
        forget(scene)


@pytest.mark.parametrize(("kind", "start"), SAMPLE)
def test_a_git_call_is_struck_and_the_same_command_succeeds(
    kind: str, start: int, calls: Callable[..., int], fresh: Fresh, shim: Shim, record_property: Record
) -> None:
    check_calls(kind, start, calls, fresh, shim, record_property, REPLAY)


@pytest.mark.deep
@pytest.mark.parametrize("more", [(), REPLAY], ids=["plain", "replay"])
@pytest.mark.parametrize(("kind", "start"), REST)
def test_any_other_git_call_is_struck_and_the_same_command_succeeds(
    kind: str,
    start: int,
    more: tuple[str, ...],
    calls: Callable[..., int],
    fresh: Fresh,
    shim: Shim,
    record_property: Record,
) -> None:
    check_calls(kind, start, calls, fresh, shim, record_property, more)


# -- what a killed create has left


def killed_after_the_add(scene: Scene, shim: Shim, *more: str) -> Path:
    shim.rules[:] = ['if [ "$sub" = worktree ] && has add "$@"; then "$real" "$@"; kill -9 $PPID; exit 1; fi\n']
    shim.install()
    assert run_forked("git-wave", scene.argv(*more)) == -9
    calm(shim)
    return scene.world.root / ".claude/worktrees/agent-a1"


def test_a_wave_of_others_takes_away_what_a_killed_create_has_left(fresh: Fresh, shim: Shim) -> None:
    scene = fresh("wave")
    path = killed_after_the_add(scene, shim)
    other = scene.world.agent("other", {})

    run = scene.world.wave(scene.world.manifest(other, name="other.json"))

    assert run.code == 0, run.doc
    assert not path.exists()
    assert scene.unmanaged() == []


def test_another_create_takes_away_what_a_killed_one_has_left_and_says_so(fresh: Fresh, shim: Shim) -> None:
    scene = fresh("other")
    path = killed_after_the_add(scene, shim)

    answer = call(*scene.argv("--branch=agent-b"))

    assert answer.code == 0, answer
    assert [warning["code"] for warning in answer.doc["warnings"]] == ["unfinished_create_undone"]
    assert not path.exists()
    assert scene.unmanaged() == []


@pytest.mark.parametrize("work", ["a new file", "an edit", "a commit", "ignored output"])
def test_work_in_what_a_killed_create_has_left_is_never_lost(fresh: Fresh, shim: Shim, work: str) -> None:
    """Somebody found the worktree and did not wait for the manifest."""
    scene = fresh(work.replace(" ", "-"))
    world, path = scene.world, killed_after_the_add(scene, shim)
    name = {"an edit": "README.md", "ignored output": "run.log"}.get(work, "work.txt")
    put(path / name, "somebody's work\n")
    if work == "a commit":
        world.commit(path)

    answer = call(*scene.argv())

    assert (path / name).read_text() == "somebody's work\n", answer
    if answer.code:
        assert answer.doc["reason"] in {"path_exists", "branch_exists"}
        assert world.branches()["agent-a1"] == world.git("rev-parse", "HEAD", cwd=path)


# -- killed between two git calls


def dies_at(number: int, below: Path) -> Callable[[], None]:
    """SIGKILL for the process itself right before its operation of this number on a file below a place."""
    left = iter(range(number - 1, -1, -1))

    def look(event: str, args: tuple[object, ...]) -> None:
        named = event in CHANGING and args and isinstance(args[0], str | bytes | os.PathLike)
        if named and os.fsdecode(args[0]).startswith(str(below)) and next(left, -1) == 0:  # type: ignore[arg-type]
            os.kill(os.getpid(), signal.SIGKILL)

    return lambda: sys.addaudithook(look)


def check_operations(numbers: range, fresh: Fresh, record: Record, more: tuple[str, ...]) -> None:
    """Until the command ends before it would be killed."""
    with fault_points("create: file operation killed", record) as points:
        for number in numbers:
            with points.at(f"file operation {number}"):
                scene = fresh(number)
                code = run_forked("git-wave", scene.argv(*more), dies_at(number, scene.world.tmp))
                assert code in {0, -9}, f"ended with {code}"
                scene.assert_others_untouched()
                if code == 0:
                    scene.assert_complete(scene.made(), *more)
                    return
                scene.finish(*more)
                forget(scene)


@pytest.mark.parametrize("start", [3, 12, 24])
def test_killed_before_a_file_operation_the_same_command_succeeds(
    fresh: Fresh, record_property: Record, start: int
) -> None:
    check_operations(range(start, 1000, 29), fresh, record_property, REPLAY)


@pytest.mark.deep
@pytest.mark.parametrize("more", [(), REPLAY], ids=["plain", "replay"])
def test_killed_before_any_file_operation_the_same_command_succeeds(
    fresh: Fresh, record_property: Record, more: tuple[str, ...]
) -> None:
    check_operations(range(1, 1000), fresh, record_property, more)
