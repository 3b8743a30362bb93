"""Standard streams as nobody wants them: closed, full, a pipe without a reader, an encoding without our letters."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from git_wave.cli.main import COMMANDS
from support.calling import Answer, program
from support.repo import put
from support.verbs import VERBS, Verb
from support.world import World

STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
PYTHON = ("Traceback", "Exception", "Error", "Errno")
LOST = "standard output could not be written: "


@contextmanager
def broken(name: str, how: str) -> Iterator[dict[str, Any]]:
    """What `subprocess.run` is to be told so that a stream is full, or a pipe that has nobody at its other end."""
    if how == "full":
        with open("/dev/full", "r+b", buffering=0) as full:
            yield {name: full}
    else:
        ours, theirs = os.pipe()
        if name == "stdin":
            ours, theirs = theirs, ours
        os.close(ours)
        try:
            yield {name: theirs}
        finally:
            os.close(theirs)


def run(world: World, verb: Verb, *more: str, stream: str = "", how: str = "", **environ: str) -> Answer:
    """Call the installed program in the checkout, with one of its streams in a bad state."""
    argv = [program(verb.prog), *verb.words(world), *more]
    with ExitStack() as stack:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if stream != "stdin":
            streams["stdin"] = stack.enter_context(put(world.tmp / "told", verb.reads).open("rb"))
        if how == "closed":
            argv = ["sh", "-c", f'exec "$@" {STREAMS[stream]}>&-', "sh", *argv]
        elif how:
            streams.update(stack.enter_context(broken(stream, how)))
        env = {**os.environ, **environ}
        done = subprocess.run(argv, cwd=world.root, check=False, timeout=120, env=env, **streams)
    return Answer(done.returncode, os.fsdecode(done.stdout or b""), os.fsdecode(done.stderr or b""))


def test_the_table_has_every_command() -> None:
    assert {verb.argv[0] for verb in VERBS.values() if verb.prog == "git-wave"} >= set(COMMANDS)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("how", ["closed", "full", "broken"])
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_does_its_work_once_whatever_its_streams_are(world: World, name: str, stream: str, how: str) -> None:
    verb = VERBS[name]

    answer = run(world, verb, stream=stream, how=how)

    assert not any(word in answer.err for word in PYTHON), answer.err
    if stream == "stdin" and verb.reads:
        assert (answer.code, answer.err.count("\n")) == (1, 1), answer
        assert "payload_invalid" in answer.err
        return
    assert answer.code == 0, answer
    assert verb.is_done(world), answer
    assert answer.out or stream == "stdout"
    if stream == "stdout":
        called = name.split(",")[0].split()[0].removeprefix("help").removeprefix("version") or "git-wave"
        (told,) = [line for line in answer.err.splitlines() if LOST in line]
        assert told.startswith(f"{called}: done (exit code 0), but {LOST}")


@pytest.mark.parametrize("how", ["closed", "full", "broken"])
def test_a_wave_with_a_blocked_entry_keeps_its_exit_code_without_a_reader(world: World, how: str) -> None:
    world.manifest(world.agent("bad", {}, ["LICENSE"]), world.agent("one"))

    answer = run(world, Verb(("cleanup-wave", "--manifest", "{manifest}")), stream="stdout", how=how)

    assert answer.code == 1
    assert f"cleanup-wave: ended with exit code 1, but {LOST}" in answer.err
    assert world.git("rev-list", "--count", "--merges", "HEAD") == "1"


@pytest.mark.parametrize("how", [">&- 2>&-", ">/dev/full 2>/dev/full", "<&- >&- 2>&-"])
def test_a_wave_without_any_stream_lands_all_the_same(world: World, how: str) -> None:
    agent = world.agent("one")
    argv = [program("cleanup-wave"), "--manifest", str(world.manifest(agent))]

    done = subprocess.run(["sh", "-c", f'exec "$@" {how}', "sh", *argv], check=False, timeout=120)

    assert done.returncode == 0
    assert world.landed(agent)


def test_a_pipe_that_does_not_block_gets_the_whole_answer(world: World) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    argv = [program("git-wave"), "schema", "result"]
    with subprocess.Popen(argv, stdout=writer, stderr=subprocess.PIPE) as process, open(reader, "rb") as out:
        os.close(writer)
        data = out.read()
        assert process.stderr is not None
        assert process.stderr.read() == b""

    assert process.returncode == 0
    assert json.loads(data)["$schema"]


def test_a_reader_who_has_read_enough_is_told_no_piece_from_behind(world: World, tmp_path: Path) -> None:
    """A file system with too little room for the answer holds its beginning, or nothing of it."""
    whole = run(world, VERBS["schema"]).out
    limited = 'ulimit -f 1; trap "" XFSZ; exec "$@" >"$0"'
    out = tmp_path / "out.json"

    done = subprocess.run(
        ["sh", "-c", limited, str(out), program("git-wave"), "schema", "manifest"], capture_output=True, check=False
    )

    assert whole.startswith(out.read_text())
    assert LOST in done.stderr.decode()


LATIN = {"PYTHONIOENCODING": "latin-1"}
ASCII = {"PYTHONIOENCODING": "ascii"}
NO_UTF8 = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}


@pytest.fixture
def elsewhere(tmp_path: Path, template: Path) -> World:
    """A repository whose path has a letter that many encodings lack."""
    (tmp_path / "d\u00e9j\u00e0 \u2713").mkdir()
    return World(tmp_path / "d\u00e9j\u00e0 \u2713", template, dict(os.environ))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("environ", [ASCII, LATIN, NO_UTF8], ids=["ascii", "latin-1", "no UTF-8"])
@pytest.mark.parametrize("name", VERBS)
def test_what_a_terminal_cannot_show_is_spelled_out(elsewhere: World, name: str, environ: dict[str, str]) -> None:
    verb = VERBS[name]

    answer = run(elsewhere, verb, *(["--format", "text"] if verb.has_text else []), **environ)

    assert not any(word in answer.err for word in PYTHON), answer.err
    assert answer.code == 0, answer
    assert verb.is_done(elsewhere), answer
    if name != "hook WorktreeCreate":
        said = answer.out + answer.err
        assert said.isascii() or environ is LATIN, answer
        assert "\u2713" not in said, "latin-1 has it not"


def test_the_path_of_a_new_worktree_is_told_in_its_own_bytes(elsewhere: World) -> None:
    answer = run(elsewhere, VERBS["hook WorktreeCreate"], **ASCII)

    assert answer.out == f"{elsewhere.root}/.claude/worktrees/new\n"


def test_a_table_on_an_ascii_terminal_is_drawn_in_ascii(elsewhere: World) -> None:
    elsewhere.manifest(elsewhere.agent("one"))

    answer = run(elsewhere, Verb(("list", "--cwd", "{root}", "--format", "text")), **ASCII)

    assert "\\u25" not in answer.out, "a line of a table"
    assert "d\\xe9j\\xe0 \\u2713" in answer.out


def test_in_a_locale_without_utf8_files_keep_their_names_and_hooks_their_environment(elsewhere: World) -> None:
    agent = elsewhere.agent("one", {"\u00e9t\u00e9.txt": "text\n"})
    elsewhere.hook("pre-merge-commit", f'env >"{elsewhere.tmp}/env"')
    elsewhere.manifest(agent)

    answer = run(elsewhere, Verb(VERBS["cleanup-wave"].argv), **NO_UTF8)

    assert answer.code == 0, answer
    assert elsewhere.landed(agent)
    assert (elsewhere.root / "\u00e9t\u00e9.txt").is_file()
    assert "PYTHONUTF8=0" in (elsewhere.tmp / "env").read_text()
