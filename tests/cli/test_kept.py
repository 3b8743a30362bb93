"""`git wave kept`: what waves kept, listed, put back and deleted."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from git_wave.state.kept import carry_across
from support.calling import Answer, call
from support.repo import put
from support.world import Agent, World, files_below


def kept(world: World, *argv: str) -> Answer:
    return call("kept", *argv, "--root", str(world.root))


def listed(world: World) -> list[dict[str, Any]]:
    answer = kept(world, "list", "--json")
    assert answer.code == 0, answer
    found: list[dict[str, Any]] = answer.doc["kept"]
    return found


def land(world: World, *agents: Agent) -> str:
    """Land a wave; its id."""
    run = world.wave(*agents)
    assert run.code == 0
    wave: str = run.doc["wave"]["id"]
    return wave


def with_output(world: World, name: str, branch: str | None = None) -> Agent:
    put(world.root / ".git/info/exclude", "notes/\n")
    agent = world.agent(name, branch=branch)
    put(agent.path / "run.log", f"log of {name}")
    put(agent.path / "notes/deep/one.txt", "12345")
    return agent


def test_nothing_kept_is_an_empty_list(world: World) -> None:
    assert listed(world) == []
    assert (kept(world, "list", "--format", "text").out, call("kept", "list", "--root", str(world.tmp)).code) == ("", 1)


def test_what_is_kept_is_listed_by_wave_and_branch(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = with_output(world, "one"), with_output(world, "two", branch="agent-2/part/b")
    first = land(world, one)
    second = land(world, two)

    found = listed(world)
    assert [(item["id"], item["branch"], item["files"], item["bytes"]) for item in found] == [
        (f"{first}/{one.branch}", one.branch, 2, 15),
        (f"{second}/agent-2/part/b", "agent-2/part/b", 2, 15),
    ]
    assert [item["worktree_path"] for item in found] == [str(one.path), str(two.path)]
    assert Path(found[0]["path"], "run.log").read_text() == "log of one"
    text = kept(world, "list", "--format", "text").out.splitlines()
    assert text[0].split() == ["id", "files", "bytes", "since", "was", "in"]
    assert text[2].startswith(f"{second}/agent-2/part/b  ")
    monkeypatch.chdir(world.root)
    assert json.loads(call("kept").out)["kept"] == found


def test_what_was_kept_before_there_were_records_is_listed_by_its_first_directory(world: World) -> None:
    place = world.root / ".git/git-wave/kept/20260101T000000000000Z"
    put(place / "agent-x/run.log", "x")
    put(place / ".residue/agent-y/half.txt", "half")

    assert [(item["id"].split("/", 1)[1], item["residue"], item["branch"]) for item in listed(world)] == [
        (".residue/agent-y", True, "agent-y"),
        ("agent-x", False, "agent-x"),
    ]


def test_restore_puts_it_where_it_is_told_and_nothing_stays_kept(world: World) -> None:
    one, two = with_output(world, "one"), with_output(world, "two")
    wave = land(world, one, two)
    target = world.tmp / "back"
    answer = kept(world, "restore", f"{wave}/{one.branch}", "--to", str(target))

    assert answer.code == 0, answer
    assert files_below(target) == {"run.log": b"log of one", "notes/deep/one.txt": b"12345"}
    assert [item["branch"] for item in listed(world)] == [two.branch]
    assert answer.doc["restored"][0]["to"] == str(target)


def test_restore_goes_by_default_to_where_the_worktree_stands_again(world: World) -> None:
    one, two = with_output(world, "one"), with_output(world, "two")
    wave = land(world, one, two)
    gone = kept(world, "restore", wave)
    assert (gone.code, gone.doc["reason"]) == (1, "restore_blocked")
    for agent in (one, two):
        world.git("worktree", "add", "-q", str(agent.path), "HEAD")

    assert kept(world, "restore", wave).code == 0
    for agent in (one, two):
        assert (agent.path / "run.log").read_text() == f"log of {agent.path.name}"
    assert listed(world) == []
    assert not os.listdir(world.root / ".git/git-wave/kept")


@pytest.mark.parametrize("what", ["file", "other file in a kept directory", "link to a directory", "target is a file"])
def test_restore_writes_over_nothing_and_moves_nothing_when_something_is_in_the_way(world: World, what: str) -> None:
    agent = with_output(world, "one")
    wave = land(world, agent)
    target = world.tmp / "back"
    if what == "file":
        put(target / "run.log", "mine")
    elif what == "other file in a kept directory":
        put(target / "notes/deep/one.txt", "mine")
    elif what == "link to a directory":
        put(world.tmp / "mine/x", "mine")
        target.mkdir()
        (target / "notes").symlink_to(world.tmp / "mine")
    else:
        put(target, "mine")
    before, still = files_below(world.tmp / "back"), listed(world)
    answer = kept(world, "restore", wave, "--to", str(target))

    assert (answer.code, answer.doc["reason"]) == (1, "restore_blocked")
    assert files_below(world.tmp / "back") == before
    assert listed(world) == still
    assert not (world.tmp / "mine/deep").exists()


def test_restore_goes_beside_what_is_not_in_the_way(world: World) -> None:
    agent = with_output(world, "one")
    wave = land(world, agent)
    put(world.tmp / "back/notes/mine.txt", "mine")

    assert kept(world, "restore", wave, "--to", str(world.tmp / "back")).code == 0
    assert sorted(files_below(world.tmp / "back")) == ["notes/deep/one.txt", "notes/mine.txt", "run.log"]


def test_one_directory_for_the_files_of_several_is_refused(world: World) -> None:
    wave = land(world, with_output(world, "one"), with_output(world, "two"))
    answer = kept(world, "restore", wave, "--to", str(world.tmp / "back"))

    assert (answer.code, answer.doc["reason"]) == (1, "restore_blocked")
    assert "worktree-agent-one" in answer.doc["hint"]


def test_drop_needs_yes_and_the_exact_id(world: World) -> None:
    one, two = with_output(world, "one"), with_output(world, "two")
    wave = land(world, one, two)
    name = f"{wave}/{one.branch}"
    refused = kept(world, "drop", name)
    assert (refused.code, refused.doc["reason"]) == (1, "confirmation_needed")
    assert "2 files" in refused.doc["hint"]
    for other in (wave[:-3], f"{wave}/worktree-agent", f"../kept/{wave}", "", "."):
        assert kept(world, "drop", other, "--yes").doc["reason"] == "unknown_kept"
    assert len(listed(world)) == 2

    assert kept(world, "drop", name, "--yes").doc["dropped"][0]["id"] == name
    assert [item["branch"] for item in listed(world)] == [two.branch]
    assert kept(world, "drop", wave, "--yes").code == 0
    assert not os.listdir(world.root / ".git/git-wave/kept")


def test_drop_follows_no_link(world: World) -> None:
    agent = world.agent("a")
    put(world.tmp / "mine/file.txt", "mine")
    (agent.path / "link.log").symlink_to(world.tmp / "mine")
    wave = land(world, agent)

    assert kept(world, "drop", wave, "--yes").code == 0
    assert (world.tmp / "mine/file.txt").read_text() == "mine"


def test_gc_leaves_kept_files_alone_and_says_so(world: World) -> None:
    wave = land(world, with_output(world, "one"))
    answer = call("gc", "--older-than", "0", "--root", str(world.root))

    assert answer.doc["expired"] == [wave]
    assert answer.doc["files_left_alone"] == [f"{wave}/worktree-agent-one"]
    assert [item["worktree_path"] for item in listed(world)] == [str(world.worktree_dir / "one")]


def test_refusals_are_one_line_on_standard_error(world: World) -> None:
    answer = kept(world, "restore", "no\x1bsuch", "--format", "text")

    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "kept restore: unknown_kept — nothing is kept under no\\x1bsuch\n"


def test_restore_goes_on_where_one_was_killed_between_copying_a_file_and_letting_go_of_it(world: World) -> None:
    one = with_output(world, "one")
    land(world, one)
    (item,) = listed(world)
    back = world.tmp / "back"
    put(back / "notes/deep/one.txt", "12345")

    answer = kept(world, "restore", item["id"], "--to", str(back))

    assert answer.code == 0, answer
    assert files_below(back) == {"run.log": b"log of one", "notes/deep/one.txt": b"12345"}
    assert listed(world) == []


def test_a_file_is_carried_to_another_file_system_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = put(tmp_path / "from/file", "all of it"), tmp_path / "file"

    def torn(_source: Path, part: Path, **_: bool) -> None:
        part.write_text("all")
        raise OSError(5, "cut short")

    with monkeypatch.context() as patch:
        patch.setattr("git_wave.state.kept.shutil.copy2", torn)
        with pytest.raises(OSError, match="cut short"):
            carry_across(source, target)
    assert (target.exists(), source.read_text()) == (False, "all of it")

    carry_across(source, target)

    assert (target.read_text(), source.exists(), [path.name for path in tmp_path.iterdir() if path.is_file()]) == (
        "all of it",
        False,
        ["file"],
    )
