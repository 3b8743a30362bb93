"""`git wave log` and `git wave show`: what waves did, told from their journals."""

import json
from typing import Any

from support.calling import Answer, call
from support.killing import KILLED, calm, kill_when, wave_program
from support.ours import everything, journals, waves_dir
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, World


def log(world: World, *more: str) -> Answer:
    return call("log", "--root", str(world.root), *more)


def listed(world: World) -> list[dict[str, Any]]:
    answer = log(world, "--json")
    assert answer.code == 0, answer
    runs: list[dict[str, Any]] = json.loads(answer.out)
    return runs


def show(world: World, wave: str, *more: str) -> Answer:
    return call("show", "--root", str(world.root), *more, "--", wave)


def wave_id(world: World, *agents: Agent) -> str:
    found: str = world.wave(*agents).doc["wave"]["id"]
    return found


def test_no_wave_is_an_empty_list(world: World) -> None:
    assert (listed(world), log(world).out) == ([], "")


def test_waves_and_undos_are_listed_newest_first(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    head = world.head()
    first = wave_id(world, one)
    between = world.head()
    second = wave_id(world, two)
    after = world.head()
    undo = call("undo", "--root", str(world.root)).doc["undo"]

    runs = listed(world)

    assert [(run["id"], run["kind"]) for run in runs] == [(undo, "undo"), (second, "wave"), (first, "wave")]
    assert [(run["head_before"], run["head_after"]) for run in runs] == [
        (after, between),
        (between, after),
        (head, between),
    ]
    assert (runs[0]["undoes"], runs[1]["undone_by"], runs[2]["undone_by"]) == (second, undo, None)
    assert [(run["ok"], run["reason"]) for run in runs[1:]] == [(True, "ok"), (True, "ok")]


def test_a_blocked_wave_says_how_many_landed(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    put(two.path / "scratch.txt", "x")
    wave_id(world, one, two)

    (run,) = listed(world)

    assert (run["entries"], run["landed"], run["ok"], run["reason"]) == (2, 1, False, "cleanup_blocked")


def test_a_killed_wave_is_told_as_interrupted(world: World, shim: Shim) -> None:
    one = world.agent("one")
    kill_when(shim, '[ "$sub" = merge ]', "after")
    assert wave_program(world.manifest(one)).code == KILLED
    calm(shim)

    (run,) = listed(world)

    assert (run["ok"], run["reason"], run["head_before"]) == (False, "interrupted", one.base)
    assert one.branch in show(world, run["id"]).out


def test_the_text_has_one_line_a_run_with_its_id(world: World) -> None:
    waves = [wave_id(world, world.agent("one")), wave_id(world, world.agent("two"))]

    lines = log(world).out.splitlines()

    assert len(lines) == 2
    assert all(wave in line for wave, line in zip(reversed(waves), lines, strict=True))


def test_show_tells_each_entry(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    put(two.path / "scratch.txt", "x")
    wave = wave_id(world, one, two)

    answer = show(world, wave)

    assert answer.code == 0
    for words in (wave, one.branch, two.branch, "merged_removed", "worktree_dirty"):
        assert words in answer.out


def test_show_as_json_holds_the_journal(world: World) -> None:
    wave = wave_id(world, world.agent("one"))

    answer = show(world, wave, "--json")

    told = json.loads(answer.out)
    assert (answer.code, told["id"]) == (0, wave)
    assert told["events"] == [json.loads(line) for line in journals(world)[0].read_text().splitlines()]


def test_an_id_that_is_no_wave_is_refused(world: World) -> None:
    wave_id(world, world.agent("one"))

    for name in ("20200101T000000000000Z", "../../config", "/etc/passwd", "-x", ""):
        answer = show(world, name)
        assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, "unknown_wave"), name


def test_reading_changes_nothing(world: World) -> None:
    wave = wave_id(world, world.agent("one", {"src/app.py": prose("better")}))
    before, known = everything(world), {path: path.read_bytes() for path in journals(world)}

    for answer in (log(world), log(world, "--json"), show(world, wave), show(world, wave, "--json")):
        assert answer.code == 0

    assert everything(world) == before
    assert {path: path.read_bytes() for path in journals(world)} == known


def test_a_damaged_journal_hides_no_other(world: World) -> None:
    check_beside(world, b"", b"\xff\0\n", b"{", b'{"v": 1}\n', b"[]\n")


def test_a_journal_with_a_line_of_too_few_keys_hides_no_other(world: World) -> None:
    check_beside(world, b'{"v": 1, "seq": 1, "event": "began"}\n')


def check_beside(world: World, *damaged: bytes) -> None:
    wave = wave_id(world, world.agent("one"))
    for junk in damaged:
        (waves_dir(world) / "20200101T000000000000Z.jsonl").write_bytes(junk)

        assert wave in log(world).out, junk
        assert wave in {run["id"] for run in listed(world)}
        assert show(world, wave).code == 0


def test_control_characters_of_a_branch_never_reach_the_terminal(world: World) -> None:
    agent = world.agent("one")
    entry = world.entry(agent, worktree_path=f"{agent.path}\x1b[2J")
    wave = world.wave(entry).doc["wave"]["id"]

    out = log(world).out + show(world, wave).out

    assert "\x1b" not in out


def test_outside_a_repository_is_a_clear_refusal(world: World) -> None:
    answer = call("log", "--root", str(world.tmp / "home"))

    assert (answer.code, answer.doc["reason"]) == (1, "not_a_checkout")
