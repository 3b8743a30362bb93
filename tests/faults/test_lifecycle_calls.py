"""Every git call of finalize, discard and restore struck: nothing is lost, and the same command again finishes."""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from faults.test_create_calls import dies_at
from faults.test_git_calls import DEADLY, KINDS, assert_killed_or_done, calm, strike
from support.calling import Answer, call
from support.forked import run_forked
from support.one import One, build_one, leave
from support.points import fault_points
from support.repo import put
from support.shim import Shim
from support.world import World, files_below

Record = Callable[[str, object], None]
VERBS = ("finalize", "finalize --drop-empty", "discard", "restore")
PARTS = 20
"""A test takes every twentieth call."""
CASES = list(itertools.product(VERBS, KINDS, range(PARTS)))
SAMPLE = [("finalize", "killed after", 16), ("finalize --drop-empty", "killed before", 17), ("discard", "failing", 5)]
SAMPLE += [("discard", "killed while git goes on alone", 19), ("restore", "killed after", 2)]


@dataclass
class Scene:
    """One agent with work, everything uncommitted that there is, and ignored output; and the verb to be struck."""

    one: One
    argv: list[str]
    files: dict[str, bytes | str]
    before: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Answer:
        return call(*self.argv)

    def finish(self) -> Answer:
        """The same command, until it exits 0: at most twice, since git of a killed one may still be at work."""
        answer = self.run()
        if answer.code:
            answer = self.run()
        assert (answer.code, answer.doc["ok"]) == (0, True), (answer.doc, answer.err)
        return answer

    def assert_nothing_lost(self) -> None:
        """Looks at no worktree's HEAD: git of a killed run may still be making it."""
        one, world, refs = self.one, self.one.world, "--glob=refs/*"
        assert one.agent.tip in world.git("rev-list", refs).split(), "the tip is lost"
        kept = [path for path in (world.root / ".git/git-wave").rglob("*") if path.is_file()]
        there = {path.read_bytes() for path in kept} | set(files_below(one.agent.path).values())
        held = set(world.git("rev-list", "--objects", refs, "--no-object-names").split())
        if (one.admin / "index").exists():
            held |= set(world.git(f"--git-dir={one.admin}", "ls-files", "-s").split())
        for content in {*self.files.values(), b"staged\n", b"output\n"} - {"-> nowhere"}:
            assert isinstance(content, bytes)
            blob = world.git("hash-object", "--stdin", stdin=os.fsdecode(content))
            assert content in there or blob in held, f"lost: {content[:40]!r}"
        assert world.branches()[one.other.branch] == one.other.tip


def scene_for(verb: str, place: Path, template: Path) -> Scene:
    world = World(place, template, dict(os.environ))
    empty = verb == "finalize --drop-empty"
    one = build_one(world, work=not empty)
    files: dict[str, bytes | str] = {} if empty else leave(one)
    if not empty:
        world.git("update-index", "--no-assume-unchanged", "tests/test_app.py", cwd=one.agent.path)
    put(one.agent.path / "run.log", "output\n")
    if empty:
        put(one.agent.path / "staged.log", "staged\n")
    scene = Scene(one, [*verb.split(), *one.named], files)
    scene.before = standing(one)
    if verb == "discard":
        scene.argv.append("--force")
    if verb == "restore":
        run = one.call("discard", "--force").doc["id"]
        scene.argv = ["restore", run, "--root", str(world.root)]
    return scene


def standing(one: One) -> dict[str, Any]:
    """What a restore must bring back."""
    index = one.world.git("ls-files", "--stage", "-z", cwd=one.agent.path)
    entries = sorted(map(str, one.entries()))
    return {
        "index": index,
        "status": one.status(),
        "files": files_below(one.agent.path),
        "entries": entries,
        "tip": one.tip(),
    }


def assert_finished(scene: Scene, verb: str, answer: Answer) -> None:
    """By plain git; and what was taken away comes back whole."""
    one = scene.one
    if verb == "finalize":
        assert (one.status(), answer.doc["tip"]) == ([], one.tip())
        assert files_below(one.agent.path) == scene.before["files"]
    elif verb == "restore":
        assert answer.doc["reason"] in ("restored", "already_restored")
        assert standing(one) == scene.before
    else:
        assert answer.doc["reason"] in ("discarded", "already_discarded", "dropped_empty")
        assert one.is_gone()
        ref = answer.doc["restore"].removeprefix("git wave restore ")
        assert one.restore(ref).code == 0
        assert standing(one) == scene.before
    scene.assert_nothing_lost()
    assert one.world.untouched(one.other)
    assert one.world.fsck() == ""


@pytest.fixture(scope="session")
def _lengths() -> dict[str, int]:
    return {}


@pytest.fixture
def length_of(_lengths: dict[str, int], tmp_path: Path, template: Path, shim: Shim) -> Callable[[str], int]:
    """How many calls a verb makes when nothing goes wrong; measured once."""

    def length(verb: str) -> int:
        if verb not in _lengths:
            scene = scene_for(verb, tmp_path / "undisturbed", template)
            shim.forget()
            assert scene.run().code == 0
            _lengths[verb] = len(shim.calls())
        return _lengths[verb]

    return length


@pytest.mark.parametrize(
    ("verb", "kind", "part"),
    [pytest.param(*case, marks=[] if case in SAMPLE else [pytest.mark.deep]) for case in CASES],
)
def test_a_call_is_struck_and_the_same_command_finishes(
    verb: str,
    kind: str,
    part: int,
    length_of: Callable[[str], int],
    tmp_path: Path,
    template: Path,
    shim: Shim,
    record_property: Record,
) -> None:
    total = length_of(verb)
    with fault_points(f"{verb}: git {kind}", record_property) as points:
        for number in range(part + 1, total + 1, PARTS):
            with points.at(f"{verb}: call {number} of {total} {kind}"):
                scene = scene_for(verb, tmp_path / str(number), template)
                strike(shim, kind, number)
                if kind in DEADLY:
                    assert_killed_or_done(run_forked("git-wave", scene.argv))
                else:
                    answer = scene.run()
                    assert (answer.code == 0) == answer.doc["ok"], answer
                calm(shim)
                scene.assert_nothing_lost()
                assert_finished(scene, verb, scene.finish())


def check_operations(verb: str, numbers: range, place: Path, template: Path, record: Record) -> None:
    """Killed right before an operation on a file, until the command ends before it would be killed."""
    with fault_points(f"{verb}: file operation killed", record) as points:
        for number in numbers:
            with points.at(f"{verb}: file operation {number}"):
                scene = scene_for(verb, place / str(number), template)
                code = run_forked("git-wave", scene.argv, dies_at(number, scene.one.world.tmp))
                assert_killed_or_done(code)
                scene.assert_nothing_lost()
                assert_finished(scene, verb, scene.finish())
                if code == 0:
                    return


@pytest.mark.parametrize(("verb", "start"), [("discard", 30), ("restore", 24)])
def test_killed_before_a_file_operation_the_same_command_finishes(
    verb: str, start: int, tmp_path: Path, template: Path, record_property: Record
) -> None:
    check_operations(verb, range(start, start + 1), tmp_path, template, record_property)


@pytest.mark.deep
@pytest.mark.parametrize("verb", VERBS)
def test_killed_before_any_file_operation_the_same_command_finishes(
    verb: str, tmp_path: Path, template: Path, record_property: Record
) -> None:
    check_operations(verb, range(1, 1000), tmp_path, template, record_property)
