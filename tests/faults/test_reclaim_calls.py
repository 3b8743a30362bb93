"""Every git call of a removal and of a reap struck: killed around it, or failing. The same command again finishes."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from faults.test_git_calls import DEADLY, KINDS, assert_killed_or_done, calm, strike
from support.calling import call
from support.forked import run_forked
from support.points import Points, fault_points
from support.reclaim import dead_pid, journals, lock, record, untouched
from support.repo import put
from support.shim import Shim
from support.world import Agent, World

Record = Callable[[str, object], None]
WORK = "the only copy\n"
STEP = 23


@dataclass(frozen=True)
class Scene:
    """A worktree of session `s` with uncommitted work, one without any that is locked, and a bystander's."""

    world: World
    dirty: Agent
    clean: Agent
    bystander: Agent

    @property
    def verbs(self) -> dict[str, list[str]]:
        return {
            "remove": ["remove", self.dirty.branch, "--preserve"],
            "reap": ["reap", "--session", "s"],
            "reap-orphans": ["reap-orphans"],
        }

    def assert_nothing_lost(self) -> None:
        """Takes no lock: git of a killed run may still be at work."""
        world, branches = self.world, self.world.branches()
        assert [branches.get(agent.branch) for agent in (self.clean, self.bystander)] == [
            self.clean.tip,
            self.bystander.tip,
        ]
        assert world.git_code("merge-base", "--is-ancestor", self.dirty.tip, self.dirty.branch) == 0
        file = self.dirty.path / "new.txt"
        committed = world.git("show", f"{self.dirty.branch}:new.txt", check=False) + "\n"
        assert WORK in (committed, file.read_text() if file.exists() else ""), "uncommitted work is gone"
        assert untouched(world, self.bystander)
        assert (self.bystander.path / "half.txt").read_text() == "half an idea\n"

    def finish(self, verb: str) -> None:
        """The same command until it exits 0, and once more."""
        for _ in range(3):
            answer = call(*self.verbs[verb])
            self.assert_nothing_lost()
            if answer.code == 0:
                break
        assert answer.code == 0, answer.out
        assert call(*self.verbs[verb]).code == 0
        gone = self.dirty if verb == "remove" else self.clean
        assert not gone.path.exists()
        assert not self.world.registered(gone)
        other = self.clean if verb == "remove" else self.dirty
        assert other.path.is_dir()
        assert [*self.world.root.glob(".git/worktrees/*/index.lock")] == []
        assert self.world.fsck() == ""
        journals(self.world)


Build = Callable[[object], Scene]


@pytest.fixture
def build(tmp_path: Path, template: Path, _sealed: None, monkeypatch: pytest.MonkeyPatch) -> Build:
    def make(name: object) -> Scene:
        place = tmp_path / f"scene-{name}"
        place.mkdir()
        world = World(place, template, dict(os.environ))
        world.git("config", "wave.managedRoot", str(world.worktree_dir))
        dirty, clean, bystander = world.agent("dirty"), world.agent("clean", {}), world.agent("bystander")
        record(world, clean, "--parent", "s")
        record(world, dirty, "--parent", "s")
        record(world, bystander, "--parent", "t")
        lock(world, clean, f"agent (pid {dead_pid()})")
        put(dirty.path / "new.txt", WORK)
        put(bystander.path / "half.txt", "half an idea\n")
        monkeypatch.chdir(world.root)
        return Scene(world, dirty, clean, bystander)

    return make


def check(verb: str, kind: str, start: int, step: int, build: Build, shim: Shim, record_property: Record) -> None:
    with fault_points(f"{verb}: git {kind}", record_property) as points:
        number = start
        while struck(verb, kind, number, build, shim, points):
            number += step


def struck(verb: str, kind: str, number: int, build: Build, shim: Shim, points: Points) -> bool:
    """Whether there was a call of that number."""
    scene = build(f"{verb}-{kind.replace(' ', '-')}-{number}")
    with points.at(f"{verb}: git call {number} {kind}"):
        strike(shim, kind, number)
        if kind in DEADLY:
            assert_killed_or_done(run_forked("git-wave", scene.verbs[verb]))
        else:
            answer = call(*scene.verbs[verb])
            assert answer.doc["ok"] == (answer.code == 0), answer.out
        calm(shim)
        scene.assert_nothing_lost()
        scene.finish(verb)
    return (shim.state / "struck").exists()


VERBS = ("remove", "reap", "reap-orphans")
SAMPLE = [(VERBS[number % 3], kind, 8 + 3 * number) for number, kind in enumerate(KINDS)]


@pytest.mark.parametrize(("verb", "kind", "start"), SAMPLE)
def test_a_git_call_of_a_removal_is_struck_and_the_same_command_finishes(
    verb: str, kind: str, start: int, build: Build, shim: Shim, record_property: Record
) -> None:
    check(verb, kind, start, STEP, build, shim, record_property)


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_any_git_call_of_a_removal_is_struck_and_the_same_command_finishes(
    verb: str, kind: str, build: Build, shim: Shim, record_property: Record
) -> None:
    check(verb, kind, 1, 1, build, shim, record_property)
