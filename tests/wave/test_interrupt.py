"""A wave that is told to stop, and two waves at once."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.calling import program
from support.repo import prose, put
from support.waiting import StuckHook
from support.world import Agent, World

Process = subprocess.Popen[str]


@pytest.fixture
def stuck(world: World) -> Iterator[StuckHook]:
    hook = StuckHook(world)
    yield hook
    hook.close()


def start(manifest: Path, *more: str) -> Process:
    """A wave as a program, in a process group of its own as a shell would start it."""
    return subprocess.Popen(
        [program("cleanup-wave"), "--manifest", str(manifest), "--format", "json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def finish(process: Process, patience: float = 120) -> dict[str, Any]:
    out, err = process.communicate(timeout=patience)
    try:
        document: dict[str, Any] = json.loads(out)
    except ValueError as error:
        raise AssertionError(f"no JSON document (exit {process.returncode})\n{out}\n{err}") from error
    return document


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("signum", "code"), SIGNALS)
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_signal_during_a_merge_ends_the_wave_in_good_order(
    world: World, stuck: StuckHook, signum: int, code: int, whole_group: bool
) -> None:
    one, two = world.agent("one", {"src/app.py": prose("better")}), world.agent("two")
    put(world.root / "LICENSE", "edited\n")
    before = world.snapshot()
    process = start(world.manifest(one, two))
    stuck.wait_until_it_runs()

    os.kill(-process.pid if whole_group else process.pid, signum)
    doc = finish(process)

    assert process.returncode == code
    assert doc["ok"] is False
    assert two.branch in [entry["branch"] for entry in doc["result"]["pending"]]
    told = [entry["branch"] for entry in [*doc["result"]["entries"], *doc["result"]["pending"]]]
    assert told == [one.branch, two.branch]
    assert stuck.alive() == []
    assert world.snapshot() == before
    assert not (world.root / ".git/MERGE_HEAD").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("signum", "code"), SIGNALS)
def test_what_landed_before_a_signal_stays_landed_and_the_same_command_finishes(
    world: World, stuck: StuckHook, signum: int, code: int
) -> None:
    done, agents = world.agent("done", {}), [world.agent("one"), world.agent("two")]
    manifest = world.manifest(done, *agents)
    process = start(manifest)
    stuck.wait_until_it_runs()
    process.send_signal(signum)
    doc = finish(process)
    assert (doc["result"]["entries"][0]["status"], process.returncode) == ("merged_removed", code)

    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert all(world.landed(agent) for agent in [done, *agents])


def test_a_reader_of_the_output_that_went_away_loses_nothing(world: World) -> None:
    agent = world.agent("a")
    with start(world.manifest(agent)) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        err = process.stderr.read()

    assert "Traceback" not in err
    assert world.landed(agent)


def test_killed_in_the_middle_of_a_merge_the_same_command_finishes(world: World, stuck: StuckHook) -> None:
    agents: list[Agent] = [world.agent("one", {"src/app.py": prose("better")}), world.agent("two")]
    put(world.root / "LICENSE", "edited\n")
    manifest = world.manifest(*agents)
    process = start(manifest)
    stuck.wait_until_it_runs()
    process.kill()
    process.communicate(timeout=60)
    # The machine died as a whole: no git goes on by itself.
    merging = [int(name) for name in os.listdir("/proc") if name.isdigit() and _merges_in(world.root, name)]
    for pid in merging:
        os.kill(pid, signal.SIGKILL)
    stuck.kill()

    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert all(world.landed(agent) for agent in agents)
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.git("status", "--porcelain") == " M LICENSE"


def _merges_in(root: Path, pid: str) -> bool:
    """Whether a process is a git merge in this test's own checkout."""
    try:
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b"merge" in argv and os.path.realpath(f"/proc/{pid}/cwd") == str(root.resolve())
    except OSError:
        return False


def test_of_two_waves_the_second_waits_or_says_who_holds_the_lock(world: World, stuck: StuckHook) -> None:
    one, two = world.agent("one"), world.agent("two")
    first = start(world.manifest(one, name="one.json"))
    stuck.wait_until_it_runs()
    second = start(world.manifest(two, name="two.json"))
    try:
        doc = finish(second, patience=10)
    except subprocess.TimeoutExpired:
        doc = None
    landed_meanwhile = world.merged(two.tip)
    first.terminate()
    finish(first)

    assert not landed_meanwhile
    if doc is None:
        assert finish(second)["ok"] is True
        assert world.landed(two)
    else:
        assert (second.returncode, doc["ok"]) == (1, False)
        assert str(first.pid) in json.dumps(doc), doc
        assert world.untouched(two)
