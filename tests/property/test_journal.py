"""A journal may end anywhere: it loads, it says no more than the truth, and the next run ends the same."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from git_wave.state.journal import load_history
from support.calling import SCHEMAS, call
from support.contract import assert_lines_published, validator
from support.killing import KILLED, calm, kill_at_call, wave_program
from support.ours import everything, forget_journals, journals, waves_dir
from support.repo import prose, put
from support.sealed import seal
from support.shim import Shim
from support.world import Agent, World

DEEP = bool(os.environ.get("GIT_WAVE_DEEP"))
STEADY = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=400 if DEEP else 60,
    suppress_health_check=list(HealthCheck),
)
FEW = settings(STEADY, max_examples=80 if DEEP else 5)
parts = st.floats(0, 1)


def busy_agents(world: World) -> list[Agent]:
    """One that lands with output kept and a summary rescued, one that is gone, one that is dirty, one locked."""
    one, gone, dirty, locked = (world.agent(name) for name in ("one", "gone", "dirty", "locked"))
    put(one.path / ".planning/1/01-SUMMARY.md", "done\n")
    put(one.path / "run.log", "output\n")
    gone.path.rename(world.tmp / "away")
    put(dirty.path / "scratch.txt", "x\n")
    world.git("worktree", "lock", "--reason=I am reading this", locked.path)
    return [one, gone, dirty, locked]


def cut(data: bytes, part: float) -> bytes:
    return data[: round(part * len(data))]


# -- loading


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, template: Path) -> bytes:
    """The bytes of the journal of a wave in which much happened."""
    place = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as monkeypatch:
        seal(monkeypatch, place / "home")
        world = World(place, template, dict(os.environ))
        world.wave(*busy_agents(world))
        return journals(world)[0].read_bytes()


def loaded(path: Path, data: bytes) -> list[object]:
    path.write_bytes(data)
    return [dict(event) for event in load_history(path).events]


@STEADY
@given(size=st.integers(0, 20_000))
def test_every_prefix_loads_and_yields_a_prefix_of_the_events(written: bytes, tmp_path: Path, size: int) -> None:
    whole = [json.loads(line) for line in written.splitlines()]
    data = written[: size % (len(written) + 1)]

    events = loaded(tmp_path / "x.jsonl", data)

    assert events == whole[: data.count(b"\n")]


@STEADY
@given(version=st.one_of(st.integers(2, 99), st.none(), st.text(max_size=3)), at=st.integers(0, 99))
def test_lines_of_an_unknown_version_are_passed_over(written: bytes, tmp_path: Path, version: object, at: int) -> None:
    lines = written.splitlines(keepends=True)
    strange = json.dumps({"v": version, "seq": 1, "event": "ended", "ok": True, "more": [1]}).encode() + b"\n"

    events = loaded(tmp_path / "x.jsonl", b"".join([*lines[: at % len(lines)], strange, *lines[at % len(lines) :]]))

    assert events == [json.loads(line) for line in lines]


@STEADY
@given(junk=st.binary(max_size=60), part=parts)
def test_a_torn_end_of_any_bytes_is_passed_over(written: bytes, tmp_path: Path, junk: bytes, part: float) -> None:
    lines = written.splitlines(keepends=True)[: round(part * written.count(b"\n"))]

    events = loaded(tmp_path / "x.jsonl", b"".join(lines) + junk.replace(b"\n", b""))

    assert events == [json.loads(line) for line in lines]


@STEADY
@given(data=st.binary(max_size=200))
@example(data=b'{"v": 1e999, "seq": NaN}\n')
@example(data=b'null\n1\n""\n[]\n{}\n')
def test_any_bytes_load(tmp_path: Path, data: bytes) -> None:
    loaded(tmp_path / "x.jsonl", data + b"\n")


# -- resuming


@FEW
@given(part=parts)
@example(part=0.0)
@example(part=1.0)
def test_a_finished_wave_is_finished_whatever_is_left_of_its_journal(finished: World, part: float) -> None:
    world = finished
    before = everything(world)
    whole = (world.tmp / "whole.jsonl").read_bytes()
    name = (world.tmp / "name").read_text()
    forget_journals(world)
    put(waves_dir(world) / name, cut(whole, part))

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, {entry["reason"] for entry in run.entries}) == (0, {"already_landed"})
    assert everything(world) == before


@pytest.fixture
def finished(world: World) -> World:
    one, gone = world.agent("one", {"src/app.py": prose("better")}), world.agent("gone")
    gone.path.rename(world.tmp / "away")
    assert world.wave(one, gone).code == 0
    (journal,) = journals(world)
    put(world.tmp / "whole.jsonl", journal.read_bytes())
    put(world.tmp / "name", journal.name)
    return world


def check_resumed(world: World, shim: Shim, number: int, when: str, part: float) -> None:
    """Killed at a git call, and the last line of the journal torn as well."""
    one, two = world.agent("one", {"src/app.py": prose("better")}), world.agent("two")
    put(one.path / ".planning/1/01-SUMMARY.md", "done\n")
    put(world.root / "LICENSE", "edited\n")
    manifest = world.manifest(one, two)
    kill_at_call(shim, number, when)
    assert wave_program(manifest).code in {0, KILLED}
    calm(shim)
    for journal in journals(world):
        data = journal.read_bytes()
        last = data.rstrip(b"\n").rfind(b"\n") + 1
        journal.write_bytes(data[:last] + cut(data[last:], part))

    runs = [world.wave(manifest), world.wave(manifest)]

    assert runs[-1].code == 0, runs[-1].doc
    assert world.landed(one)
    assert world.landed(two)
    assert world.git("rev-list", "--count", "--merges", "HEAD") == "2"
    assert (world.root / ".planning/1/01-SUMMARY.md").read_text() == "done\n"
    assert world.git("status", "--porcelain") == " M LICENSE\n?? .planning/"
    assert world.fsck() == ""


@pytest.mark.parametrize(("number", "part"), [(16, 0.5), (26, 0.0)])
def test_a_torn_last_line_after_a_kill_ends_the_same(world: World, shim: Shim, number: int, part: float) -> None:
    check_resumed(world, shim, number, "after", part)


@pytest.mark.deep
@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(4, 44))
def test_any_torn_last_line_after_any_kill_ends_the_same(
    world: World, shim: Shim, number: int, when: str, part: float
) -> None:
    check_resumed(world, shim, number, when, part)


def test_a_run_goes_on_beside_journals_that_nobody_can_read(world: World) -> None:
    home = waves_dir(world)
    put(home / "20200101T000000000000Z.jsonl", b"\xff\xfe\0\n[]\n{}\n")
    put(home / "20300101T000000000000Z.jsonl", b'{"v": 2, "seq": 1, "event": "began", "kind": "wave"}\n')
    put(home / "notes.txt", "a person's\n")
    agent = world.agent("one")

    run = world.wave(agent)

    assert (run.code, world.landed(agent)) == (0, True)
    assert (home / "notes.txt").read_text() == "a person's\n"


def test_a_new_journal_sorts_after_those_of_a_clock_that_went_ahead(world: World) -> None:
    put(waves_dir(world) / "29990101T000000000000Z.jsonl", b"")

    run = world.wave(world.agent("one"))

    assert journals(world)[-1].name == f"{run.doc['wave']['id']}.jsonl"


# -- the published schema


def assert_all_published(world: World, *kinds: str) -> None:
    """Every line of every journal satisfies the schema, is numbered in order, and intents are closed in pairs."""
    seen = set()
    for journal in journals(world):
        lines = assert_lines_published(journal)
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        intents = {line["seq"] for line in lines if line["event"] == "intent"}
        closed = [line["intent"] for line in lines if line["event"] in ("done", "failed")]
        assert set(closed) <= intents
        assert len(closed) == len(set(closed))
        seen |= {line["event"] for line in lines}
    assert seen >= {"began", *kinds}, seen


def test_the_command_prints_the_published_schema(world: World) -> None:
    answer = call("schema", "journal")

    assert (answer.code, answer.doc) == (0, json.loads((SCHEMAS / "journal.schema.json").read_text()))
    jsonschema.Draft202012Validator.check_schema(answer.doc)


@pytest.mark.parametrize("line", [{}, {"v": 2}, {"v": 1, "seq": 1, "at": "", "event": "intent"}])
def test_the_schema_refuses_what_is_no_line(line: dict[str, object]) -> None:
    assert not validator("journal").is_valid(line)


def test_every_line_of_a_wave_is_as_published(world: World) -> None:
    agents = busy_agents(world)
    world.hook("post-merge", "exit 1")

    world.wave(*agents, {"worktree_path": 7}, {**world.entry(agents[0]), "branch": "worktree-agent-none"})

    assert_all_published(world, "intent", "done", "entry", "ended")


def test_every_line_of_a_merge_that_conflicts_or_is_refused_is_as_published(world: World) -> None:
    one, two = world.agent("one", {"setup.cfg": "one\n"}), world.agent("two", {"setup.cfg": "two\n"})
    three = world.agent("three")
    world.hook("pre-merge-commit", f"[ ! -e {three.path} ] || [ ! -e three.txt ]")

    world.wave(one, two, three)

    assert_all_published(world, "intent", "done", "entry", "ended")


def test_every_line_of_a_killed_wave_a_rerun_and_undos_is_as_published(world: World, shim: Shim) -> None:
    one, two = world.agent("one"), world.agent("two")
    manifest = world.manifest(one, two)
    for number in (20, 30):
        kill_at_call(shim, number, "before")
        wave_program(manifest)
        calm(shim)
    world.wave(manifest)
    undo = call("undo", "--root", str(world.root))
    call("undo", "--root", str(world.root), *([undo.doc["undo"]] if undo.doc["undo"] else []))

    assert_all_published(world, "intent", "done", "entry", "ended")


def test_a_refused_wave_and_a_dry_run_write_no_journal(world: World) -> None:
    agent = world.agent("one")

    world.wave(agent, args=["--dry-run"])
    world.wave(agent, args=["--expect-branch", "elsewhere"])

    assert journals(world) == []
