"""A manifest that is not simply a file: read whole where somebody writes it, refused at once where nobody does."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from support.calling import call_program, program
from support.world import World


@pytest.mark.parametrize("more", ["--dry-run", None])
def test_a_wave_of_a_pipe_that_nobody_writes_into_is_refused_at_once(world: World, more: str | None) -> None:
    pipe = world.tmp / "pipe"
    os.mkfifo(pipe)

    began = time.monotonic()
    run = world.wave(pipe, args=[more] if more else [])

    assert (run.code, run.doc["reason"]) == (1, "manifest_read_failed")
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("verb", ["cleanup-wave", "create"])
def test_a_signal_ends_the_wait_for_a_writer_that_is_silent(world: World, verb: str) -> None:
    pipe = world.tmp / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)
    more = [] if verb == "cleanup-wave" else ["create", "--agent-id=a", f"--root={world.root}"]
    name = "cleanup-wave" if verb == "cleanup-wave" else "git-wave"
    waiting = subprocess.Popen([program(name), *more, f"--manifest={pipe}"], cwd=world.root, stdout=subprocess.PIPE)
    os.close(reader)
    while not reads_from(pipe, waiting.pid):
        time.sleep(0.02)

    waiting.terminate()
    out, _ = waiting.communicate(timeout=3)

    os.close(writer)
    assert waiting.returncode == 143
    assert json.loads(out)["reason"] == "interrupted"


def reads_from(pipe: Path, pid: int) -> bool:
    links = Path(f"/proc/{pid}/fd")
    return any(os.path.realpath(link) == str(pipe) for link in links.iterdir())


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


def test_a_manifest_may_come_through_a_pipe_that_is_opened_for_writing_only_now(world: World) -> None:
    agent, pipe = world.agent("a"), world.tmp / "pipe"
    text = world.manifest(agent).read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[text])
    writer.start()

    assert world.wave(pipe).code == 0
    writer.join()


# -- files of ours that are read back

OURS = {
    "a journal": ("waves/20991231T000000000000Z.jsonl", ["cleanup-wave", "log", "undo", "doctor", "gc"]),
    "who holds the lock": ("holder.json", ["cleanup-wave", "doctor"]),
    "a request to reap": ("requests/x.json", ["doctor", "list"]),
    "a create that was begun": ("creating/x.json", ["create", "reap", "doctor", "list"]),
}


@pytest.mark.parametrize("what", OURS)
def test_a_pipe_in_the_place_of_a_file_of_ours_keeps_nobody_waiting(world: World, what: str) -> None:
    place, verbs = OURS[what]
    pipe = world.root / ".git/git-wave" / place
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    manifest = str(world.manifest(world.agent("a")))
    flags = {
        "cleanup-wave": ["--manifest", manifest, "--dry-run"],
        "create": ["--manifest", manifest, "--agent-id=b", f"--root={world.root}"],
    }

    for verb in verbs:
        answer = call_program("git-wave", verb, *flags.get(verb, []), cwd=world.root)

        assert answer.code in (0, 1), (verb, answer)
        assert "Traceback" not in answer.err, (verb, answer)
