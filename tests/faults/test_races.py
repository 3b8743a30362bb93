"""Somebody acts between any two git calls of a wave, and so between any two stages. Nothing is lost."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.points import fault_points
from support.racing import (
    Scene,
    assert_honest,
    assert_kept_somewhere,
    assert_others_untouched,
    at_call,
    build_scene,
    calm,
)
from support.shim import Shim
from support.world import World

Record = Callable[[str, object], None]
LATE = "late words\n"


@dataclass(frozen=True)
class Event:
    """A shell script in the scene's directory, done if the worktree is there; then `$done` holds what it made.

    `blocks` is false when the same command again must land everything.
    """

    script: str
    kept: bool = False
    blocks: bool = False
    absent_at_first: bool = False
    in_main: bool = False


EVENTS = {
    "a commit": Event(
        "cd wt/one && echo late >late.txt && git add late.txt && git commit -qm late && git rev-parse HEAD", blocks=True
    ),
    "an edit": Event(f"cd wt/one && printf '{LATE[:-1]}\\n' >README.md && echo edited", kept=True, blocks=True),
    "a new untracked file": Event(
        f"cd wt/one && printf '{LATE[:-1]}\\n' >fresh.txt && echo written", kept=True, blocks=True
    ),
    "a new ignored output": Event(f"cd wt/one && printf '{LATE[:-1]}\\n' >late.log && echo written", kept=True),
    "a branch switch": Event("cd wt/one && git switch -qc elsewhere && git rev-parse HEAD", blocks=True),
    "a lock": Event("cd wt/one && git worktree lock --reason='do not touch' . && echo locked", blocks=True),
    "a removal": Event("[ -d wt/one ] && rm -rf wt/one && echo removed"),
    "a reappearance": Event(
        "[ -d drawer ] && mv drawer wt/one && echo back", absent_at_first=True, blocks=True, kept=True
    ),
    "an empty reappearance": Event("mkdir wt/one && echo back", absent_at_first=True, blocks=True),
    "a commit in the main checkout": Event(
        "cd main && echo mine >mine.txt && git add mine.txt && git commit -qm mine -- mine.txt && git rev-parse HEAD",
        in_main=True,
    ),
    "a branch switch in the main checkout": Event(
        "cd main && git switch -qc topic && git rev-parse HEAD", in_main=True, blocks=True
    ),
    "an edit in the main checkout": Event(
        f"cd main && printf '{LATE[:-1]}\\n' >setup.cfg && echo edited", in_main=True, kept=True
    ),
    "a worktree added and others pruned": Event(
        "cd main && git worktree add -qb theirs ../wt/theirs && git worktree prune && git rev-parse theirs",
        in_main=True,
    ),
}
STEP = 29
MOST_CALLS = 80
SAMPLE = [(event, 1 + (5 * number) % STEP) for number, event in enumerate(EVENTS)]
REST = [(event, start) for event in EVENTS for start in range(1, STEP + 1) if (event, start) not in SAMPLE]


def write_script(scene: Scene, event: Event) -> Path:
    """The event as a program that notes what it did, or nothing when it could not."""
    script = scene.world.tmp / "event"
    lines = [
        "#!/bin/sh",
        f"cd {scene.world.tmp} || exit",
        f'did=$({event.script}) && echo "$did" >{scene.world.tmp}/did',
        "exit 0",
    ]
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return script


def check_event(world: World, shim: Shim, event: Event, number: int) -> bool:
    """Whether the wave had that many calls."""
    scene = build_scene(world)
    if event.absent_at_first:
        scene.agent.path.rename(world.tmp / "drawer")
        (world.tmp / "drawer/README.md").write_text(LATE)
    before = len(shim.calls())
    at_call(shim, number, write_script(scene, event))

    run = world.wave(scene.manifest)

    reached = len(shim.calls()) - before >= number
    calm(shim)
    did = (world.tmp / "did").read_text().strip() if (world.tmp / "did").exists() else None
    pruned = "prune" in event.script and did is not None
    assert_others_untouched(scene, pruned=pruned)
    assert_honest(scene, run)
    if did and len(did) == 40:
        assert world.reachable(did), f"a commit made meanwhile is not reachable: {did}"
        in_refs = world.git("for-each-ref", "--contains", did, "--format=%(refname)", "refs/heads")
        assert in_refs, "a commit made meanwhile is on no branch any more"
    if event.kept and (did or event.absent_at_first):
        assert_kept_somewhere(scene, LATE)
    if did == "locked" and world.worktrees().get(str(scene.agent.path)) is None:
        raise AssertionError("a worktree that somebody locked is gone")
    if did and "theirs" in event.script:
        assert (world.worktree_dir / "theirs/README.md").exists(), "somebody else's new worktree is gone"
        assert str(world.worktree_dir / "theirs") in world.worktrees()
    if not event.blocks:
        again = world.wave(scene.manifest)
        assert again.code == 0, [(e["branch"], e["status"], e["reason"], e["stderr"]) for e in again.entries]
        assert_honest(scene, again)
        assert_others_untouched(scene, pruned=pruned)
    return reached


def check_events(name: str, start: int, place: Path, template: Path, shim: Shim, record: Record) -> None:
    with fault_points("race", record) as points:
        for number in range(start, MOST_CALLS, STEP):
            with points.at(f"{name} before git call {number}"):
                world = World(place / str(number), template, dict(os.environ))
                if not check_event(world, shim, EVENTS[name], number):
                    points.tried -= 1
                    break
                shutil.rmtree(world.tmp)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("event", "start"), SAMPLE)
def test_somebody_acts_between_two_git_calls(
    event: str, start: int, tmp_path: Path, template: Path, shim: Shim, record_property: Record
) -> None:
    check_events(event, start, tmp_path, template, shim, record_property)


@pytest.mark.deep
@pytest.mark.parametrize(("event", "start"), REST)
def test_somebody_acts_between_any_other_two_git_calls(
    event: str, start: int, tmp_path: Path, template: Path, shim: Shim, record_property: Record
) -> None:
    check_events(event, start, tmp_path, template, shim, record_property)
