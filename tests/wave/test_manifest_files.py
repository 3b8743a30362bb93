"""A manifest that is not simply a file: read whole where somebody writes it, refused at once where nobody does."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from support.calling import program
from support.world import World


@pytest.mark.parametrize("more", ["--dry-run", None])
def test_a_wave_of_a_pipe_that_nobody_writes_into_is_refused_at_once(world: World, more: str | None) -> None:
    pipe = world.tmp / "pipe"
    os.mkfifo(pipe)

    run = world.wave(pipe, args=[more] if more else [])

    assert (run.code, run.doc["reason"]) == (1, "manifest_read_failed")


def test_a_manifest_may_come_through_a_shells_pipe(world: World) -> None:
    agent = world.agent("a")
    manifest = world.manifest(agent)
    line = f"exec {program('cleanup-wave')} --manifest <(sleep 0.3; cat {manifest})"

    done = subprocess.run(["bash", "-c", line], cwd=world.root, capture_output=True, check=False, timeout=60)

    assert done.returncode == 0, done
    assert world.landed(agent)


def test_a_writer_that_falls_silent_is_not_waited_for_for_ever(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("git_wave.state.named_files.PATIENCE", 0.1)
    pipe = world.tmp / "pipe"
    os.mkfifo(pipe)
    opened: list[int] = []
    writer = threading.Thread(target=lambda: opened.append(os.open(pipe, os.O_WRONLY)))
    writer.start()
    holder = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer.join()

    assert world.wave(pipe).doc["reason"] == "manifest_read_failed"
    os.close(holder)
    os.close(opened[0])


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_that_is_too_large_never_reaches_the_result(world: World, number: str) -> None:
    manifest = world.manifest(world.agent("a"), more=0)
    manifest.write_text(manifest.read_text().replace('"more": 0', f'"more": {number}'))

    run = world.wave(manifest)

    assert run.doc["reason"] == "invalid_manifest_json"
    assert "Infinity" not in run.out


def test_a_manifest_that_is_a_link_to_a_file_is_read(world: World) -> None:
    agent = world.agent("a")
    link = world.tmp / "link.json"
    link.symlink_to(Path(world.manifest(agent)))

    assert world.wave(link).code == 0
