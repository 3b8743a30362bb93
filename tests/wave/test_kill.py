"""Killed between or after any two git calls, the same command again finishes the job and nothing is lost."""

import subprocess
from pathlib import Path

import pytest

from support.calling import program
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, World

# More calls than the wave below makes: where nothing is killed, the first run must simply have finished.
CALLS = 44
SOME = range(1, CALLS, 5)
REST = [number for number in range(1, CALLS) if number not in SOME]


def kill_at(shim: Shim, number: int, when: str) -> None:
    """Kill whoever makes the call of this number, before or after git has done its work."""
    work = "" if when == "before" else '"$real" "$@"; '
    shim.rules.append(f'if count calls-so-far && [ "$n" = {number} ]; then {work}kill -9 $PPID; exit 1; fi\n')
    shim.install()


def busy_world(world: World) -> list[Agent]:
    """Edits of the user's, and agents of which one left a summary and one is gone."""
    one = world.agent("one", {"src/app.py": prose("better"), "new/one.txt": "1\n"})
    put(one.path / ".planning/1/01-SUMMARY.md", "done\n")
    put(one.path / "run.log", "output\n")
    gone = world.agent("gone")
    gone.path.rename(world.tmp / "away")
    two = world.agent("two", {"src/util/math.py": prose("sums")})
    put(world.root / "LICENSE", "edited\n")
    put(world.root / "scratch.txt", "untracked\n")
    return [one, gone, two]


def kept_outputs(world: World) -> list[str]:
    return [path.read_text() for path in Path(world.root / ".git/git-wave").rglob("run.log")]


def check_killed_at(world: World, shim: Shim, number: int, when: str) -> None:
    agents = busy_world(world)
    manifest = world.manifest(*agents)
    kill_at(shim, number, when)
    first = subprocess.run(
        [program("cleanup-wave"), "--manifest", str(manifest)], capture_output=True, check=False, timeout=120
    )
    assert first.returncode in {0, -9}, first
    shim.rules.clear()
    shim.install()

    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert run.doc["result"]["pending"] == []
    assert all(world.landed(agent) for agent in agents)
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert (world.root / ".planning/1/01-SUMMARY.md").read_text() == "done\n"
    assert kept_outputs(world) == ["output\n"]
    assert world.git("status", "--porcelain") == " M LICENSE\n?? .planning/\n?? scratch.txt"
    assert world.git("rev-list", "--count", "--merges", "HEAD") == "3"
    assert not (world.root / ".git/MERGE_HEAD").exists()
    assert world.fsck() == ""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", SOME)
def test_killed_at_a_git_call_the_same_command_finishes(world: World, shim: Shim, number: int, when: str) -> None:
    check_killed_at(world, shim, number, when)


@pytest.mark.deep
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", REST)
def test_killed_at_any_other_git_call_the_same_command_finishes(
    world: World, shim: Shim, number: int, when: str
) -> None:
    check_killed_at(world, shim, number, when)
