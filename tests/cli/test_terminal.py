"""On a terminal: a live view, then a table; in few colours, without any where NO_COLOR says so."""

import os
import pty
import re
import select
import subprocess

from support.calling import program
from support.repo import put
from support.world import World

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ANY_ESCAPE = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>78()][A-Z0-9]?)")


def on_a_terminal(*argv: str, stdout_too: bool = True, **environ: str) -> tuple[int, str]:
    """Exit code and everything that a command wrote to a terminal of 80 columns."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        argv,
        stdin=slave,
        stdout=slave if stdout_too else subprocess.DEVNULL,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40", **environ},
    )
    os.close(slave)
    seen = bytearray()
    while select.select([master], [], [], 60)[0]:
        try:
            seen += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    return process.wait(timeout=60), seen.decode(errors="replace").replace("\r\n", "\n")


def wave(world: World) -> list[str]:
    good, bad, dirty = world.agent("good"), world.agent("bad", {}, ["LICENSE"]), world.agent("dirty")
    put(dirty.path / "left.txt", "left")
    return [program("cleanup-wave"), "--manifest", str(world.manifest(good, bad, dirty))]


def plain(text: str) -> str:
    return ANY_ESCAPE.sub("", text)


def test_a_terminal_gets_a_table_and_no_document(world: World) -> None:
    code, seen = on_a_terminal(*wave(world), COLUMNS="120")

    assert code == 1
    text = plain(seen)
    for word in ("agent-good", "agent-bad", "agent-dirty", "branch_contains_deletions", "worktree_dirty"):
        assert word in text
    assert '"result"' not in text


def test_the_table_says_what_to_do_next(world: World) -> None:
    dirty = world.agent("dirty")
    put(dirty.path / "left.txt", "left")

    _, seen = on_a_terminal(program("cleanup-wave"), "--manifest", str(world.manifest(dirty)))

    assert "left.txt" in plain(seen)
    assert re.search(r"commit|stash|next", plain(seen), flags=re.IGNORECASE)


def test_the_live_view_names_entry_and_stage(world: World) -> None:
    world.hook("pre-merge-commit", "exec sleep 0.6")

    _, seen = on_a_terminal(*wave(world))

    assert re.search(r"good.*\bmerge\b|\bmerge\b.*good", plain(seen)), plain(seen)


def test_sixteen_colours_are_enough(world: World) -> None:
    _, seen = on_a_terminal(*wave(world), TERM="xterm-256color", COLORTERM="truecolor")

    codes = [code for sequence in COLOUR.findall(seen) for code in sequence[2:-1].split(";")]
    assert codes
    assert not {"38", "48"} & set(codes)


def test_without_colour_the_outcome_is_still_told(world: World) -> None:
    code, seen = on_a_terminal(*wave(world), NO_COLOR="1")

    colours = {code for sequence in COLOUR.findall(seen) for code in sequence[2:-1].split(";")}
    assert code == 1
    assert not {code for code in colours if code.isdigit() and 30 <= int(code) <= 107}
    assert "branch_contains_deletions" in plain(seen)


def test_an_empty_no_color_is_none(world: World) -> None:
    _, seen = on_a_terminal(*wave(world), NO_COLOR="")

    assert COLOUR.search(seen)


def test_the_table_fits_into_80_columns(world: World) -> None:
    world.agent("other")
    _, seen = on_a_terminal(*wave(world))

    lines = [line.rpartition("\r")[2] for line in plain(seen).split("\n")]
    assert max(map(len, lines)) <= 80, lines


def test_a_terminal_that_asks_for_json_gets_the_document(world: World) -> None:
    code, seen = on_a_terminal(*wave(world), "--format", "json", "-q")

    assert code == 1
    assert '"result"' in seen
    assert not ANY_ESCAPE.search(seen)


def test_control_characters_never_reach_a_terminal(world: World) -> None:
    dirty = world.agent("dirty")
    put(dirty.path / "left\x1b]0;title\x07\x1b[5m.txt", "left")
    entry = {
        "worktree_path": "/r/\x1b[5m",
        "branch": "agent-\x1b[5m",
        "expected_base": "1",
        "agent_id": "\x1b[5m",
    }

    _, seen = on_a_terminal(program("cleanup-wave"), "--manifest", str(world.manifest(dirty, entry)))

    assert "\x1b[5m" not in seen
    assert "\x1b]0;" not in seen
    assert "\x07" not in seen


def test_a_terminal_on_stderr_alone_gets_the_view_and_stdout_the_document(world: World) -> None:
    argv = wave(world)
    out = world.tmp / "out.json"

    code, seen = on_a_terminal("sh", "-c", f'exec "$@" >{out}', "sh", *argv)

    assert code == 1
    assert out.read_text().startswith("{")
    assert '"result"' not in seen
