"""`git wave hook`: events of Claude Code, as it tells them, and as nobody should."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from git_wave.cli import reaper
from git_wave.harness.payload import LARGEST, payload_from
from git_wave.model.errors import Refusal
from git_wave.model.interrupts import Interrupts
from git_wave.model.owner import Owner
from git_wave.state.owner import load_owner, write_owner
from support.calling import Answer, call, call_program
from support.ours import everything, journals, waves_dir
from support.repo import Repo, put
from support.world import Agent, World, files_below

SESSION = "00893aaf-19fa-41d2-8238-13269b9b3ca0"
COMMON = {"session_id": SESSION, "transcript_path": "/home/user/.claude/projects/x/00893aaf.jsonl", "cwd": "/gone/away"}
# As Claude Code sends them.
RECORDED: dict[str, dict[str, Any]] = {
    "WorktreeCreate": {**COMMON, "hook_event_name": "WorktreeCreate", "name": "agent-a1b2c3d4"},
    "WorktreeRemove": {**COMMON, "hook_event_name": "WorktreeRemove", "worktree_path": "/gone/away"},
    "SubagentStop": {
        **COMMON,
        "permission_mode": "default",
        "hook_event_name": "SubagentStop",
        "stop_hook_active": False,
        "agent_id": "a1b2c3d4e5f6",
        "agent_type": "Explore",
        "agent_transcript_path": "/home/user/.claude/projects/x/agents/agent-a1b2c3d4e5f6.jsonl",
        "last_assistant_message": "done — ✅\n",
    },
    "SessionEnd": {**COMMON, "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
    "SessionStart": {**COMMON, "hook_event_name": "SessionStart", "source": "startup", "model": "x"},
}


class Harness:
    """Calls hooks as Claude Code does, in this process."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.monkeypatch = world, monkeypatch
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(world.root))

    def says(self, event: str, **changes: Any) -> Answer:
        return self.sends(event, json.dumps({**RECORDED[event], **changes}).encode())

    def sends(self, event: str, data: bytes) -> Answer:
        with put(self.world.tmp / "stdin", data).open() as stream:
            self.monkeypatch.setattr(sys, "stdin", stream)
            return call("hook", event)


@pytest.fixture
def harness(world: World, monkeypatch: pytest.MonkeyPatch) -> Harness:
    return Harness(world, monkeypatch)


# -- payloads


@pytest.mark.parametrize("event", RECORDED)
def test_a_recorded_payload_is_understood(event: str) -> None:
    payload = payload_from(json.dumps(RECORDED[event]).encode(), event)

    assert (payload.event, payload.session_id) == (event, SESSION)


def broken(event: str, **changes: Any) -> bytes:
    return json.dumps({k: v for k, v in {**RECORDED[event], **changes}.items() if v != "absent"}).encode()


# fmt: off
HOSTILE = {
    "nothing": ("SessionStart", b""), "no JSON": ("SessionStart", b"{"), "null": ("SessionStart", b"null"),
    "an array": ("SessionStart", b"[]"), "text": ("SessionStart", b'"x"'), "two objects": ("SessionStart", b"{} {}"),
    "no UTF-8": ("SessionStart", b'{"session_id": "\xff"}'), "deep": ("SessionStart", b"[" * 100_000),
    "a key twice": ("SessionStart", b'{"session_id": "a", "session_id": "b", "hook_event_name": "SessionStart"}'),
    "too large": ("SessionStart", b'{"x": "' + b"x" * LARGEST + b'"}'),
    "no session": ("SessionStart", broken("SessionStart", session_id="absent")),
    "session null": ("SessionStart", broken("SessionStart", session_id=None)),
    "session a number": ("SessionStart", broken("SessionStart", session_id=7)),
    "session blank": ("SessionStart", broken("SessionStart", session_id=" ")),
    "session with a line feed": ("SessionStart", broken("SessionStart", session_id="a\nb")),
    "session half a character": ("SessionStart", broken("SessionStart", session_id="\udc80")),
    "session endless": ("SessionStart", broken("SessionStart", session_id="x" * 5000)),
    "another event": ("SessionStart", broken("SessionStart", hook_event_name="SessionEnd")),
    "no event": ("SessionStart", broken("SessionStart", hook_event_name="absent")),
    "cwd a list": ("SubagentStop", broken("SubagentStop", cwd=[])),
    "agent a number": ("SubagentStop", broken("SubagentStop", agent_id=1)),
    "no reason": ("SessionEnd", broken("SessionEnd", reason="absent")),
    "no name": ("WorktreeCreate", broken("WorktreeCreate", name="absent")),
    "name null": ("WorktreeCreate", broken("WorktreeCreate", name=None)),
    "name an object": ("WorktreeCreate", broken("WorktreeCreate", name={})),
    **{f"name {name[:20]!r}": ("WorktreeCreate", broken("WorktreeCreate", name=name)) for name in (
        "", " ", ".", "..", "../x", "a/../b", "/etc", "a/", "a//b", "-x", "a/-x", ".git", "a/.git/b", "a b", "a\nb",
        "a\0b", "a;b", "$(id)", "a.lock", "é", "x" * 201, "a..b", "\x1b[31m",
    )},
    "no path": ("WorktreeRemove", broken("WorktreeRemove", worktree_path="absent")),
    "path relative": ("WorktreeRemove", broken("WorktreeRemove", worktree_path="a/b")),
    "path with dots": ("WorktreeRemove", broken("WorktreeRemove", worktree_path="/a/../b")),
    "path with NUL": ("WorktreeRemove", broken("WorktreeRemove", worktree_path="/a\0b")),
}
# fmt: on


@pytest.mark.parametrize("name", HOSTILE)
def test_a_payload_that_is_not_as_it_should_be_is_refused_whole(name: str) -> None:
    event, data = HOSTILE[name]

    with pytest.raises(Refusal) as refused:
        payload_from(data, event)

    assert refused.value.reason == "payload_invalid"


def test_everything_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(Refusal) as refused:
        payload_from(b'{"cwd": 7, "name": null}', "WorktreeCreate")

    assert all(f"{key} " in refused.value.detail for key in ("cwd", "name", "session_id", "hook_event_name"))


@pytest.mark.parametrize("event", RECORDED)
def test_a_refused_payload_changes_nothing_and_is_exit_1(harness: Harness, event: str) -> None:
    harness.world.agent("a")
    before = everything(harness.world)

    answer = harness.sends(event, broken(event, session_id=7, worktree_path="x", name="..", reason=7))

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"hook {event}: payload_invalid — ")
    assert everything(harness.world) == before
    assert not (harness.world.root / ".git/git-wave").exists()


def test_an_unknown_event_is_exit_1_because_2_would_hold_an_agent_up(harness: Harness) -> None:
    assert harness.sends("PreToolUse\x1b[31m", b"{}").code == 1


def test_a_caller_that_leaves_our_input_open_is_answered_all_the_same(world: World) -> None:
    """Through a real pipe whose other end stays open; no line feed at the end."""
    reader, writer = os.pipe()
    try:
        os.write(writer, json.dumps(RECORDED["SubagentStop"]).encode())
        answer = call_program("git-wave", "hook", "SubagentStop", stdin=reader, env=in_project(world))
    finally:
        os.close(writer)
        os.close(reader)

    assert (answer.code, answer.out, answer.err) == (0, "", "")


def in_project(world: World, **more: str) -> dict[str, str]:
    return {**os.environ, "CLAUDE_PROJECT_DIR": str(world.root), **more}


def test_a_session_outside_any_checkout_is_none_of_our_business(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "nowhere"))

    for event in ("SubagentStop", "SessionEnd", "SessionStart"):
        answer = harness.says(event)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert harness.says("WorktreeCreate").code == 1


@pytest.mark.parametrize("named", ["", "relative", "/nowhere/at/all"])
def test_a_project_directory_that_is_none_is_refused(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", named)

    assert "not_a_checkout" in harness.says("SessionStart").err


# -- SubagentStop


def owned(world: World, agent: Agent, manifest: Path | None = None, **facts: Any) -> Path:
    """The worktree's administrative directory, with an owner on record."""
    admin = Path(world.git("rev-parse", "--absolute-git-dir", cwd=agent.path))
    record = {"agent_id": "agent-a1b2c3d4", "branch": agent.branch, "recorded_at": "2026-01-01T00:00:00+00:00"}
    write_owner(admin, Owner(**{**record, "manifest": str(manifest) if manifest else None, **facts}))
    return admin


def last_seen(admin: Path) -> str | None:
    owner = load_owner(admin)
    assert owner is not None
    return owner.last_seen


def test_an_agent_that_stops_is_seen_and_nothing_else_happens(harness: Harness) -> None:
    world = harness.world
    agent, other = world.agent("a", commit=False), world.agent("b")
    manifest = world.manifest(agent, other)
    admin, others = owned(world, agent, manifest), owned(world, other, manifest, agent_id="agent-99999999")
    before = everything(world)

    answer = harness.says("SubagentStop", cwd=str(agent.path / "docs"))

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert everything(world) == before
    seen = last_seen(admin)
    assert seen is not None
    assert abs((datetime.now(UTC) - datetime.fromisoformat(seen)).total_seconds()) < 3600
    assert last_seen(others) is None
    first, second = json.loads(manifest.read_text())["worktrees"]
    assert (first["last_seen"], "last_seen" in second) == (seen, False)
    assert world.wave(manifest).entry(other)["status"] == "merged_removed"


@pytest.mark.parametrize(
    ("facts", "seen"),
    [
        ({}, True),
        ({"agent_id": "a1b2c3d4e5f6"}, True),
        ({"parent": SESSION}, True),
        ({"parent": "another-session"}, False),
        ({"agent_id": "agent-a1b"}, False),
        ({"agent_id": "agent-"}, False),
        ({"agent_id": "agent-a1b2c3d5"}, False),
    ],
)
def test_where_the_directory_is_gone_the_agents_id_tells_the_worktree(
    harness: Harness, facts: dict[str, str], seen: bool
) -> None:
    admin = owned(harness.world, harness.world.agent("a"), **facts)

    assert harness.says("SubagentStop").code == 0

    assert (last_seen(admin) is not None) == seen


def test_an_agent_that_names_two_worktrees_is_seen_in_neither(harness: Harness) -> None:
    admins = [owned(harness.world, harness.world.agent(name)) for name in "ab"]

    assert harness.says("SubagentStop").code == 0

    assert [last_seen(admin) for admin in admins] == [None, None]


def test_an_agent_without_a_worktree_or_an_id_is_passed_over(harness: Harness) -> None:
    harness.world.agent("a")

    for changes in ({}, {"agent_id": None}, {"cwd": None, "agent_id": None}, {"cwd": str(harness.world.root)}):
        assert harness.says("SubagentStop", **changes).code == 0


def test_a_garbled_owner_or_manifest_stops_nobody(harness: Harness) -> None:
    world = harness.world
    agent = world.agent("a")
    manifest = put(world.tmp / "m.json", "{")
    admin = owned(world, agent, manifest)
    put(Path(world.git("rev-parse", "--absolute-git-dir", cwd=world.agent("b").path)) / "git-wave-owner.json", "{")

    assert harness.says("SubagentStop", cwd=str(agent.path)).code == 0

    assert last_seen(admin) is not None
    assert manifest.read_text() == "{"


# -- SessionStart


def test_a_session_that_starts_is_told_in_one_line_what_is_left(harness: Harness) -> None:
    world = harness.world
    assert harness.says("SessionStart").out == ""
    mine, theirs, gone = world.agent("mine"), world.agent("theirs"), world.agent("gone")
    owned(world, mine, parent=SESSION)
    owned(world, theirs, parent="another")
    world.wave(world.agent("landed"))
    (journal,) = journals(world)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    gone.path.rename(world.tmp / "elsewhere")

    answer = harness.says("SessionStart")

    assert answer.out == (
        "git-wave: 1 agents' worktrees are there, 1 worktrees are registered and gone, 1 runs were cut short; "
        "`git wave doctor` tells more\n"
    )
    assert list(waves_dir(world).iterdir()) == [journal]


# -- WorktreeCreate


def test_a_worktree_is_made_and_its_path_is_the_one_line(harness: Harness) -> None:
    world = harness.world
    world.hook("post-checkout", "echo chatter; echo chatter >&2")
    before = world.git("status", "--porcelain")

    answer = harness.says("WorktreeCreate")

    path = world.root / ".claude/worktrees/agent-a1b2c3d4"
    assert (answer.code, answer.out) == (0, f"{path}\n")
    assert world.worktrees()[str(path)]["branch"] == "refs/heads/worktree-agent-a1b2c3d4"
    assert world.git("rev-parse", "HEAD", cwd=path) == world.head()
    owner = load_owner(Path(world.git("rev-parse", "--absolute-git-dir", cwd=path)))
    assert owner is not None
    assert (owner.session, owner.parent, owner.agent_id) == (SESSION, SESSION, "agent-a1b2c3d4")
    assert before in world.git("status", "--porcelain")


def test_the_same_name_again_is_the_same_worktree_with_what_is_in_it(harness: Harness) -> None:
    path = Path(harness.says("WorktreeCreate").out.strip())
    put(path / "draft.txt", "mine")

    again = harness.says("WorktreeCreate")

    assert (again.code, Path(again.out.strip())) == (0, path)
    assert (path / "draft.txt").read_text() == "mine"
    assert len(harness.world.worktrees()) == 2


def test_what_a_session_made_can_be_landed_from_its_manifest(harness: Harness) -> None:
    world = harness.world
    paths = [Path(harness.says("WorktreeCreate", name=name).out.strip()) for name in ("agent-one", "feature-x", "null")]
    for path in paths:
        world.commit(path, write={f"{path.name}.txt": path.name})

    run = world.wave(world.root / f".git/git-wave/sessions/{SESSION}.json")

    assert run.code == 0, run.doc
    assert [entry["branch"] for entry in run.entries] == [
        "worktree-agent-one", "worktree-agent-feature-x", "worktree-agent-null",
    ]  # fmt: skip
    assert not any(path.exists() for path in paths)


def test_a_name_whose_branch_is_still_there_gets_a_branch_of_its_own(harness: Harness) -> None:
    world = harness.world
    world.git("branch", "worktree-agent-a1b2c3d4")

    first, second = harness.says("WorktreeCreate"), harness.says("WorktreeCreate")

    assert (first.code, second.code, first.out) == (0, 0, second.out)
    assert world.worktrees()[first.out.strip()]["branch"] == "refs/heads/worktree-agent-a1b2c3d4-2"


def test_the_path_leads_through_no_link(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    world = harness.world
    (world.tmp / "alias").symlink_to(world.root)
    put(world.root / "elsewhere/x", "")
    (world.root / ".claude").mkdir()
    (world.root / ".claude/worktrees").symlink_to(world.root / "elsewhere")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(world.tmp / "alias"))

    answer = harness.says("WorktreeCreate")

    assert answer.out == f"{world.root / 'elsewhere/agent-a1b2c3d4'}\n"


def test_a_store_that_leads_out_of_the_checkout_is_refused(harness: Harness) -> None:
    world = harness.world
    (world.root / ".claude").mkdir()
    (world.root / ".claude/worktrees").symlink_to(world.tmp)

    answer = harness.says("WorktreeCreate")

    assert (answer.code, answer.out) == (1, "")
    assert "path_outside_root" in answer.err
    assert len(world.worktrees()) == 1


def test_what_stands_at_the_path_is_left(harness: Harness) -> None:
    mine = put(harness.world.root / ".claude/worktrees/agent-a1b2c3d4/mine.txt", "mine")

    answer = harness.says("WorktreeCreate")

    assert (answer.code, answer.out) == (1, "")
    assert "path_exists" in answer.err
    assert mine.read_text() == "mine"


def test_a_worktree_that_went_to_another_branch_is_not_handed_out(harness: Harness) -> None:
    path = harness.says("WorktreeCreate").out.strip()
    harness.world.git("switch", "-q", "-c", "mine", cwd=Path(path))

    assert "path_exists" in harness.says("WorktreeCreate").err


def test_ignored_files_that_are_named_come_along_and_nothing_else(harness: Harness) -> None:
    world = harness.world
    world.commit(write={".worktreeinclude": "*.env\n/config/\nREADME.md\nuntracked.txt\nlink.log\n"})
    put(world.root / "secret.env", "key").chmod(0o600)
    put(world.root / "config/a.log", "a")
    put(world.root / "other.log", "x")
    put(world.root / "untracked.txt", "x")
    (world.root / "link.log").symlink_to("/etc/passwd")
    put(world.root / ".claude/worktrees/old/secret.env", "x")

    path = Path(harness.says("WorktreeCreate").out.strip())

    assert (path / "secret.env").read_text() == "key"
    assert (path / "secret.env").stat().st_mode & 0o777 == 0o600
    assert (path / "config/a.log").read_text() == "a"
    assert (path / "link.log").readlink() == Path("/etc/passwd")
    assert not (path / "other.log").exists()
    assert not (path / "untracked.txt").exists()
    assert world.git("status", "--porcelain", cwd=path) == ""


def test_a_file_that_cannot_be_copied_fails_the_hook_and_the_next_call_goes_on(harness: Harness) -> None:
    world = harness.world
    world.commit(write={".worktreeinclude": "*.log\n", "conf": "a file"})
    (world.root / "conf").unlink()
    mine = put(world.root / "conf/a.log", "a directory in the checkout, a file in the worktree")
    put(world.root / "z.log", "z")

    failed = harness.says("WorktreeCreate")
    mine.unlink()
    again = harness.says("WorktreeCreate")

    assert (failed.code, failed.out) == (1, "")
    assert "include_failed" in failed.err
    assert (Path(again.out.strip()) / "z.log").read_text() == "z"


def test_a_session_in_a_worktree_gets_others_beside_it_from_where_it_stands(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = harness.world
    session = world.agent("session")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(session.path))

    path = Path(harness.says("WorktreeCreate").out.strip())

    assert path == world.root / ".claude/worktrees/agent-a1b2c3d4"
    assert world.git("rev-parse", "HEAD", cwd=path) == session.tip
    manifest = json.loads((world.root / f".git/git-wave/sessions/{SESSION}.json").read_text())
    assert manifest["orchestrator_root"] == str(session.path)


# -- WorktreeRemove


def made(harness: Harness, name: str = "agent-a1b2c3d4") -> Path:
    return Path(harness.says("WorktreeCreate", name=name).out.strip())


def test_a_worktree_that_is_gone_is_fine(harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = str(harness.world.tmp / "gone")
    assert harness.says("WorktreeRemove", worktree_path=gone).code == 0
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "nowhere"))
    assert harness.says("WorktreeRemove", worktree_path=gone).code == 0


@pytest.mark.parametrize("project", ["the checkout", "the worktree itself"])
def test_a_worktree_is_removed_and_its_branch_stays_wherever_the_session_stands(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, project: str
) -> None:
    world = harness.world
    path = made(harness)
    tip = world.commit(path, write={"a.txt": "a"})
    if project == "the worktree itself":
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(path))
        monkeypatch.chdir(path)

    answer = harness.says("WorktreeRemove", worktree_path=str(path), cwd=str(path))

    assert (answer.code, answer.out) == (0, ""), answer.err
    assert not path.exists()
    assert world.branches()["worktree-agent-a1b2c3d4"] == tip
    assert list(world.worktrees()) == [str(world.root)]


def test_work_that_would_be_lost_keeps_the_worktree(harness: Harness) -> None:
    path = made(harness)
    put(path / "draft.txt", "mine")

    answer = harness.says("WorktreeRemove", worktree_path=str(path))

    assert (answer.code, answer.out) == (1, "")
    assert "worktree_dirty" in answer.err
    assert (path / "draft.txt").read_text() == "mine"


def test_a_copy_of_an_ignored_file_is_no_work_and_an_edited_one_is(harness: Harness) -> None:
    world = harness.world
    world.commit(write={".worktreeinclude": "*.env\n"})
    put(world.root / "secret.env", "key")
    same, edited = made(harness, "agent-same"), made(harness, "agent-edited")
    put(edited / "secret.env", "another key")

    assert harness.says("WorktreeRemove", worktree_path=str(same)).code == 0
    assert harness.says("WorktreeRemove", worktree_path=str(edited)).code == 1

    assert not same.exists()
    assert (edited / "secret.env").read_text() == "another key"


def test_what_is_not_ours_to_remove_is_refused(harness: Harness) -> None:
    agent = harness.world.agent("a")

    for path in (agent.path, harness.world.root):
        answer = harness.says("WorktreeRemove", worktree_path=str(path))
        assert (answer.code, answer.out) == (1, "")
    assert harness.world.untouched(agent)


def test_a_directory_that_is_no_worktree_is_nothing_to_remove(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = harness.world
    before = files_below(world.tmp)

    for path in (world.tmp, Path("/"), world.root / "docs", put(world.tmp / "left/a.txt", "a\n").parent):
        answer = harness.says("WorktreeRemove", worktree_path=str(path))
        assert (answer.code, answer.out) == (0, ""), answer.err
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(world.tmp / "left"))
    assert harness.says("WorktreeRemove", worktree_path=str(world.tmp / "left")).code == 0

    after = files_below(world.tmp)
    assert {name for name in after if after[name] != before.get(name) and "/.git/" not in name} - {"stdin"} == {
        "left/a.txt"
    }


def test_a_worktree_of_another_repository_is_refused(harness: Harness) -> None:
    other = Repo(harness.world.tmp / "other", harness.world.env)
    other.root.mkdir()
    other.git("init", "-q", "--template=")
    other.commit(write={"a.txt": "a\n"})
    other.git("worktree", "add", "-q", harness.world.tmp / "theirs")

    assert harness.says("WorktreeRemove", worktree_path=str(harness.world.tmp / "theirs")).code == 1
    assert (harness.world.tmp / "theirs/a.txt").exists()


# -- SessionEnd, and the reaper


def requests(world: World) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in (world.root / ".git/git-wave/requests").glob("*.json")]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Reapers that would have been started."""
    found: list[list[str]] = []
    monkeypatch.setattr(reaper, "start_detached", lambda argv, *_: found.append(argv))
    return found


def served(world: World) -> list[dict[str, Any]]:
    """What the reaper does, without the wait for somebody to leave."""
    return [sweep.as_json() for sweep in reaper.serve(world.root, Interrupts(), patience=0)]


def test_an_ended_session_is_on_record_and_the_hook_says_nothing(harness: Harness, started: list[list[str]]) -> None:
    answer = harness.says("SessionEnd")

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    (request,) = requests(harness.world)
    assert (request["session"], request["reason"]) == (SESSION, "prompt_input_exit")
    assert [argv[1:] for argv in started] == [["-P", "-m", "git_wave.cli.reaper", str(harness.world.root)]]


@pytest.mark.parametrize("reason", ["resume", "something_new"])
def test_a_session_that_may_come_back_is_not_taken_for_ended(
    harness: Harness, started: list[list[str]], reason: str
) -> None:
    assert harness.says("SessionEnd", reason=reason).code == 0

    assert (requests(harness.world), started) == ([], [])


def test_a_session_that_is_back_takes_its_request_back_and_has_the_others_served(
    harness: Harness, started: list[list[str]]
) -> None:
    for session in (SESSION, "another"):
        harness.says("SessionEnd", session_id=session)
    started.clear()

    told = harness.says("SessionStart", source="resume").out

    assert [request["session"] for request in requests(harness.world)] == ["another"]
    assert len(started) == 1
    assert "1 ended sessions wait to be reaped" in told


def test_the_reaper_takes_what_nothing_would_be_lost_with_and_forgets_the_request(
    harness: Harness, started: list[list[str]]
) -> None:
    world = harness.world
    clean, dirty, other = (made(harness, f"agent-{name}") for name in ("clean", "dirty", "other"))
    put(dirty / "draft.txt", "mine")
    owned_by(world, other, parent="another")
    harness.says("SessionEnd")

    (told,) = served(world)

    assert {one["worktree_path"]: one["outcome"] for one in told["worktrees"]} == {
        str(clean): "removed", str(dirty): "kept",
    }  # fmt: skip
    assert (clean.exists(), dirty.exists(), other.exists()) == (False, True, True)
    assert requests(world) == []
    assert "worktree-agent-clean" in world.branches()


def owned_by(world: World, path: Path, **facts: Any) -> None:
    admin = Path(world.git("rev-parse", "--absolute-git-dir", cwd=path))
    owner = load_owner(admin)
    assert owner is not None
    write_owner(admin, replace(owner, session=None, **facts))


def test_where_somebody_is_still_at_work_the_request_waits(harness: Harness, started: list[list[str]]) -> None:
    world = harness.world
    path = made(harness)
    harness.says("SessionEnd")
    with subprocess.Popen(["cat"], cwd=path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL):
        (told,) = served(world)
        assert told["worktrees"][0]["reason"] == "worktree_in_use"
        assert len(requests(world)) == 1

    served(world)

    assert not path.exists()
    assert requests(world) == []


def test_the_reaper_outlives_the_hook_that_starts_it(harness: Harness) -> None:
    """Its log is a pipe here, whose end is the reaper's own."""
    world = harness.world
    path = made(harness)
    log = world.root / ".git/git-wave/requests/reaper.log"
    log.parent.mkdir(parents=True)
    os.mkfifo(log)
    put(world.root / "json.py", "raise SystemExit('what stands in the project was run')")
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)

    with put(world.tmp / "stdin", json.dumps(RECORDED["SessionEnd"])).open() as stdin:
        answer = call_program("git-wave", "hook", "SessionEnd", stdin=stdin, env=in_project(world))
    with os.fdopen(reader) as stream:
        (line,) = stream.read().splitlines()

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert json.loads(line)["removed"] == 1
    assert not path.exists()


def test_the_end_of_a_session_does_not_wait_for_what_it_does_not_need() -> None:
    """Claude Code gives it 1.5 seconds; the models alone would take a good part of them to load."""
    code = (
        "import sys, git_wave.cli.hook, git_wave.cli.reaper; print({'pydantic', 'rich', 'psutil'} & set(sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
