"""`git wave hooks`: into Claude Code's settings and out of them again, with nothing else disturbed."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from git_wave.harness import hooks as entries
from git_wave.harness import settings_file
from git_wave.harness.hooks import EVENTS
from git_wave.harness.jsontext import parse, taken_out
from support.calling import Answer, call
from support.repo import put
from support.world import World

OTHER = {"type": "command", "command": "echo hi"}
# fmt: off
LAYOUTS = {
    "minified": '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo hi"}]}]}}',
    "one line": '{"model": "opus", "permissions": {"allow": ["Bash(ls)"]}}\n',
    "two spaces": json.dumps({"model": "opus", "hooks": {"Stop": [{"hooks": [OTHER]}]}, "z": 1}, indent=2) + "\n",
    "four spaces": json.dumps({"b": 1, "a": {"c": [1, 2]}, "hooks": {"SessionEnd": [{"hooks": [OTHER]}]}}, indent=4),
    "tabs, CRLF": '{\r\n\t"hooks": {\r\n\t\t"SessionStart": []\r\n\t},\r\n\t"x": "é\\u00e9"\r\n}\r\n',
    "empty object": "{}",
    "empty on lines": "{\n}\n",
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "empty event": '{\n  "hooks": { "SessionEnd": [ ] }\n}\n',
    "odd spaces": '  { "a" :1 ,\n\n "hooks":{ "Stop" : [ ] } , "n": 1e400000 , "m": 1.10 }  \n\n',
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "our event taken": json.dumps({"hooks": {"SubagentStop": [{"matcher": "x", "hooks": [OTHER]}]}}, indent=2),
    "no newline at the end": '{\n   "a": [\n      1\n   ]\n}',
}
BROKEN = {
    "comment": '{\n  // mine\n  "a": 1\n}', "block comment": '{"a": /* x */ 1}', "trailing comma": '{"a": 1,}',
    "key twice": '{"a": 1, "a": 2}', "key twice inside": '{"x": [{"a": 1, "a": 2}]}', "NaN": '{"a": NaN}',
    "empty file": "", "array": "[]", "text": '"x"', "hooks is a list": '{"hooks": []}',
    "event is an object": '{"hooks": {"SessionEnd": {}}}', "group is text": '{"hooks": {"SessionEnd": ["x"]}}',
    "group without hooks": '{"hooks": {"SessionEnd": [{}]}}', "two documents": "{} {}", "cut": '{"a": ',
    "deep": "[" * 100_000,
}
# fmt: on


def hooks(world: World, verb: str, *more: str) -> Answer:
    return call("hooks", verb, "--root", str(world.root), *more)


def project(world: World, text: str | None = None) -> Path:
    path = world.root / ".claude/settings.json"
    return path if text is None else put(path, text.encode())


def ours_in(document: Any) -> dict[str, Any]:
    return {event: [hook for group in document["hooks"][event] for hook in group["hooks"]] for event in EVENTS}


def without_ours(document: Any) -> Any:
    """The document less every hook that calls us, and less what is empty then; nothing of ours is used for this."""
    left = {}
    for event, groups in document.get("hooks", {}).items():
        kept = [{**g, "hooks": [h for h in g["hooks"] if "git wave hook" not in h["command"]]} for g in groups]
        left[event] = [g for g in kept if g["hooks"]]
    rest = {event: groups for event, groups in left.items() if groups}
    return {**{k: v for k, v in document.items() if k != "hooks"}, **({"hooks": rest} if rest else {})}


def test_the_entries_have_the_shape_that_claude_code_reads(world: World) -> None:
    answer = hooks(world, "install")

    assert (answer.code, answer.doc["changed"]) == (0, True)
    assert answer.doc["settings_path"] == str(project(world))
    assert json.loads(project(world).read_text()) == {
        "hooks": {
            event: [{"hooks": [{"type": "command", "command": f"git wave hook {event}", "timeout": seconds}]}]
            for event, seconds in EVENTS.items()
        }
    }


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_kept_and_comes_back_byte_for_byte(world: World, name: str) -> None:
    path = project(world, LAYOUTS[name])
    path.chmod(0o640)
    before = path.read_bytes()
    old, new = without_ours(json.loads(before.decode("utf-8-sig"))), entries.EVENTS

    assert hooks(world, "install").doc["changed"] is True
    after = path.read_bytes()
    document = json.loads(after.decode("utf-8-sig"))
    assert without_ours(document) == old
    assert [key for key in document if key != "hooks"] == [key for key in old if key != "hooks"]
    assert {event: [h["timeout"] for h in ours if h != OTHER] for event, ours in ours_in(document).items()} == {
        event: [seconds] for event, seconds in new.items()
    }
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert hooks(world, "install").doc["changed"] is False
    assert path.read_bytes() == after
    assert hooks(world, "uninstall").doc["changed"] is True
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o640
    assert hooks(world, "uninstall").doc["changed"] is False


def test_new_lines_are_indented_like_those_around_them(world: World) -> None:
    path = project(world, LAYOUTS["four spaces"])
    hooks(world, "install")

    assert path.read_text() == json.dumps(json.loads(path.read_text()), indent=4)


def test_a_file_and_a_directory_that_were_made_go_again(world: World) -> None:
    hooks(world, "install")
    hooks(world, "uninstall")

    assert not project(world).parent.exists()


def test_a_directory_that_was_there_stays_and_so_does_one_that_somebody_uses(world: World) -> None:
    put(project(world).parent / "agents/a.md", "")
    hooks(world, "install")
    hooks(world, "uninstall")
    assert not project(world).exists()
    assert project(world).parent.is_dir()


def test_what_somebody_added_since_stays(world: World) -> None:
    path = project(world, LAYOUTS["two spaces"])
    hooks(world, "install")
    document = json.loads(path.read_text())
    document["added"] = True
    document["hooks"]["SessionEnd"][0]["hooks"].append(OTHER)
    path.write_text(json.dumps(document, indent=2))

    assert hooks(world, "uninstall").doc["changed"] is True

    assert json.loads(path.read_text()) == {**without_ours(document), "hooks": {
        "Stop": [{"hooks": [OTHER]}], "SessionEnd": [{"hooks": [OTHER]}],
    }}  # fmt: skip


def test_a_made_file_that_somebody_wrote_into_stays(world: World) -> None:
    hooks(world, "install")
    document = json.loads(project(world).read_text())
    project(world).write_text(json.dumps({**document, "model": "opus"}))

    hooks(world, "uninstall")

    assert json.loads(project(world).read_text()) == {"model": "opus"}


def test_an_entry_of_another_version_is_replaced(world: World) -> None:
    old = {"type": "command", "command": "/opt/bin/git-wave hook SessionEnd", "timeout": 1}
    path = project(world, json.dumps({"hooks": {"SessionEnd": [{"hooks": [old, OTHER]}]}}, indent=2))
    assert hooks(world, "status", "--scope", "project").doc["scopes"][0]["events"]["SessionEnd"] == "outdated"

    hooks(world, "install")

    assert ours_in(json.loads(path.read_text()))["SessionEnd"] == [OTHER, entries.our_hook("SessionEnd")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_is_no_strict_json_of_the_known_shape_is_refused_and_left(world: World, name: str, verb: str) -> None:
    path = project(world, BROKEN[name])

    answer = hooks(world, verb)

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, "settings_invalid")
    assert answer.err.startswith(f"hooks {verb}: settings_invalid — ")
    assert path.read_bytes() == BROKEN[name].encode()
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"]


def test_another_programs_worktree_hook_is_not_joined(world: World) -> None:
    path = project(world, json.dumps({"hooks": {"WorktreeCreate": [{"hooks": [OTHER]}]}}))
    before = path.read_bytes()

    answer = hooks(world, "install")

    assert (answer.code, answer.doc["reason"]) == (1, "other_hook")
    assert "echo hi" in answer.doc["hint"]
    assert path.read_bytes() == before


def test_a_link_is_followed_and_stays_a_link(world: World) -> None:
    target = put(world.tmp / "dotfiles/claude.json", LAYOUTS["two spaces"])
    before = target.read_bytes()
    project(world).parent.mkdir()
    project(world).symlink_to(target)

    assert hooks(world, "install").code == 0
    assert project(world).is_symlink()
    assert b"git wave hook" in target.read_bytes()
    assert hooks(world, "uninstall").code == 0
    assert project(world).is_symlink()
    assert target.read_bytes() == before


@pytest.mark.parametrize("kind", ["nowhere", "loop", "directory", "fifo", "claude is a file"])
def test_what_is_no_regular_file_is_refused_and_left(world: World, kind: str) -> None:
    path = project(world)
    path.parent.mkdir()
    match kind:
        case "nowhere":
            path.symlink_to(world.tmp / "absent.json")
        case "loop":
            path.symlink_to(path)
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case _:
            path.parent.rmdir()
            put(path.parent, "x")

    answer = hooks(world, "install")

    assert (answer.code, answer.doc["reason"]) == (1, "settings_unreadable")
    assert not (world.tmp / "absent.json").exists()


def test_a_read_only_file_is_left(world: World) -> None:
    path = project(world, "{}")
    path.chmod(0o444)

    answer = hooks(world, "install")

    assert (answer.code, answer.doc["reason"], path.read_text()) == (1, "settings_unwritable", "{}")


def test_a_file_that_somebody_writes_meanwhile_is_left_to_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project(world, "{}")
    sound = settings_file.require_sound
    monkeypatch.setattr(settings_file, "require_sound", lambda *a: (sound(*a), path.write_text('{"theirs": 1}')))

    answer = hooks(world, "install")

    assert (answer.code, answer.doc["reason"], path.read_text()) == (1, "settings_changed", '{"theirs": 1}')


def test_many_at_once_leave_one_set_of_entries(world: World) -> None:
    project(world, LAYOUTS["two spaces"])
    path = settings_file.settings_path(settings_file.Scope.PROJECT, world.root, os.environ)
    receipts = settings_file.state_dir(os.environ)
    changed: list[bool] = []
    threads = [
        threading.Thread(target=lambda: changed.append(settings_file.SettingsFile(path, receipts).install()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(changed) == [False] * 7 + [True]
    assert all(len(ours) == 1 for ours in ours_in(json.loads(path.read_text())).values())


def test_each_scope_has_its_own_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for scope in ("local", "user"):
        assert hooks(world, "install", "--scope", scope).code == 0
    assert (world.root / ".claude/settings.local.json").exists()
    assert (Path(os.environ["HOME"]) / ".claude/settings.json").exists()

    status = hooks(world, "status").doc

    assert {one["scope"]: set(one["events"].values()) for one in status["scopes"]} == {
        "project": {"absent"}, "local": {"installed"}, "user": {"installed"},
    }  # fmt: skip
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(world.tmp / "config"))
    (world.tmp / "config").mkdir()
    hooks(world, "install", "--scope", "user")
    assert (world.tmp / "config/settings.json").exists()


def test_outside_a_checkout_there_is_the_users_scope_alone(tmp_path: Path) -> None:
    assert call("hooks", "install").doc["reason"] == "not_a_checkout"
    assert call("hooks", "install", "--scope", "user").code == 0
    assert [one["scope"] for one in call("hooks", "status").doc["scopes"]] == ["user"]


def test_status_says_so_when_a_file_cannot_be_understood(world: World) -> None:
    project(world, "{,}")

    answer = hooks(world, "status")

    assert (answer.code, answer.doc["reason"]) == (1, "settings_invalid")
    assert "settings_invalid" in hooks(world, "status", "--format", "text").out


def test_a_path_of_the_program_is_quoted(world: World) -> None:
    hooks(world, "install", "--program", "/opt/my tools/git-wave")

    commands = [hook["command"] for hooks in ours_in(json.loads(project(world).read_text())).values() for hook in hooks]
    assert commands == [f"'/opt/my tools/git-wave' hook {event}" for event in EVENTS]
    assert hooks(world, "uninstall").doc["changed"] is True
    assert not project(world).exists()


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(st.just(OTHER), max_size=2)}, optional={"matcher": st.text(max_size=4)}
)
HOOKS = st.dictionaries(st.sampled_from([*list(EVENTS)[2:], "Stop", "x"]), st.lists(GROUP, max_size=2), max_size=4)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), JSON_VALUE, max_size=4),
    st.none() | HOOKS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_document_comes_back(rest: dict[str, Any], hooks: Any, indent: Any, ascii_only: bool) -> None:
    document = rest if hooks is None else {**rest, "hooks": hooks}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)

    edited = entries.installed(text)

    assert taken_out(edited.text, edited.inserted) == text
    assert all(len([h for h in ours if h != OTHER]) == 1 for ours in ours_in(parse(edited.text).value).values())
    after = json.loads(entries.uninstalled(edited.text))
    assert {k: v for k, v in after.items() if k != "hooks"} == rest
