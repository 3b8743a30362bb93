"""`git wave doctor`: what it says of a checkout and of what runs left there; and that it changes nothing."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from git_wave.settings import SETTINGS
from support.calling import SCHEMAS, call, program
from support.ours import everything, journals, our_refs
from support.repo import put
from support.shim import Shim
from support.world import World, files_below

SOURCE = SCHEMAS.parent / "src/git_wave"


def doctor(root: Path, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    """What it says, by the name of the check."""
    answer = call("doctor", "--json", "--root", str(root))
    assert answer.code == code, answer
    assert answer.doc["ok"] == (code == 0)
    assert answer.doc["reason"] == ("ok" if code == 0 else "problems_found")
    found: dict[str, list[dict[str, Any]]] = {}
    for check in answer.doc["checks"]:
        assert check["status"] == "ok" or check["advice"].endswith((".", "?"))
        found.setdefault(check["check"], []).append(check)
    return found


def told(world: World, name: str, code: int = 0) -> tuple[str, str]:
    """Status and words of one check that has one thing to say."""
    (check,) = doctor(world.root, code)[name]
    return check["status"], check["detail"]


def test_all_is_well_in_a_fresh_checkout_and_after_a_wave(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(program('git-wave')).parent}:{os.environ['PATH']}")
    first = doctor(world.root)
    world.wave(world.agent("a"))
    second = doctor(world.root)

    assert {check["status"] for found in (first, second) for checks in found.values() for check in checks} == {"ok"}
    assert second["backups"][0]["detail"] == "2 refs of 1 runs, the oldest 0 days old"
    assert second["journals"][0]["detail"] == "1 runs on record, all ended"


def test_it_changes_nothing_anywhere(world: World) -> None:
    agent = world.agent("a")
    world.wave(agent, world.agent("bad", {}, ["LICENSE"]))
    before, files = everything(world), files_below(world.root / ".git")

    assert call("doctor", "--root", str(world.root)).code == 0

    assert everything(world) == before
    assert files_below(world.root / ".git") == files


def test_every_setting_is_known_to_it() -> None:
    """A key that the reader takes and this list lacks would be called unknown."""
    read = set(re.findall(r'"(wave\.[a-zA-Z]+)"', (SOURCE / "settings.py").read_text()))

    assert {name.lower() for name in SETTINGS} == {name.lower() for name in read}


def test_unknown_settings_are_named_and_unusable_ones_are_problems(world: World) -> None:
    world.git("config", "wave.mergeTimout", "5")
    assert told(world, "settings") == ("warning", "wave.mergetimout is no setting of git-wave")
    assert "wave.mergeTimeout" in doctor(world.root)["settings"][0]["advice"]

    world.git("config", "wave.gitTimeout", "soon")
    found = doctor(world.root, 1)["settings"]
    assert [check["status"] for check in found] == ["warning", "problem"]
    assert "'soon' is no number of seconds" in found[1]["detail"]


def test_a_missing_identity_is_a_problem(world: World) -> None:
    world.git("config", "user.name", "")
    world.git("config", "user.email", "")

    assert told(world, "identity", 1)[0] == "problem"


def test_an_operation_in_progress_and_a_lock_file_are_warnings(world: World) -> None:
    put(world.root / ".git/MERGE_HEAD", world.head() + "\n")
    put(world.root / ".git/index.lock", "")

    found = doctor(world.root)

    assert [check["status"] for check in (*found["checkout"], *found["git locks"])] == ["warning", "warning"]
    assert "index.lock" in found["git locks"][0]["detail"]


def test_worktrees_whose_directories_are_gone_are_named(world: World) -> None:
    agent = world.agent("a")
    agent.path.rename(world.tmp / "elsewhere")

    status, detail = told(world, "worktrees")

    assert status == "warning"
    assert str(agent.path) in detail


def test_a_journal_without_an_end_and_one_that_cannot_be_read_are_warnings(world: World) -> None:
    world.wave(world.agent("a"))
    (journal,) = journals(world)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    put(journal.with_name("20260101T000000000000Z.jsonl"), "{\n")

    open_run, unread = doctor(world.root)["journals"]

    assert (open_run["status"], unread["status"]) == ("warning", "warning")
    assert journal.stem in open_run["detail"]
    assert "20260101T000000000000Z" in unread["detail"]


def test_what_cannot_be_looked_at_is_a_problem(world: World) -> None:
    put(world.root / ".git/git-wave/waves/20260101T000000000000Z.jsonl/x", "a directory")
    put(world.root / ".git/git-wave/creating", "a file")

    found = doctor(world.root, 1)

    assert [check["status"] for check in (*found["journals"], *found["creates"])] == ["problem", "problem"]


def test_leftovers_are_told_with_what_to_do(world: World) -> None:
    home = world.root / ".git/git-wave"
    put(home / "creating/one.json", "{}")
    put(home / "tmp/rescue-1", "")
    put(home / "requests/1.json", json.dumps({"v": 1, "session": "s", "reason": "other", "at": "then"}))
    put(home / "kept/20260101T000000000000Z/agent-a/model.bin", "x" * 2048)
    put(home / "holder.json", json.dumps({"pid": 2**22 - 1, "host": os.uname().nodename, "since": "then"}))

    found = doctor(world.root)

    assert {name: found[name][0]["status"] for name in ("creates", "sessions", "scratch", "lock", "kept output")} == {
        "creates": "warning", "sessions": "warning", "scratch": "warning", "lock": "warning", "kept output": "ok",
    }  # fmt: skip
    assert "of 1 runs, 2 KiB" in found["kept output"][0]["detail"]


def test_old_backups_are_a_warning(world: World) -> None:
    world.wave(world.agent("a"))
    old = f"{datetime.now(UTC) - timedelta(days=100):%Y%m%dT%H%M%S%f}Z"
    world.git("update-ref", f"refs/git-wave/{old}/head", next(iter(our_refs(world).values())))

    status, detail = told(world, "backups")

    assert status == "warning"
    assert "the oldest 100 days old" in detail


def test_hooks_are_told_by_scope(world: World) -> None:
    assert told(world, "hooks")[1].startswith("Claude Code does not call git-wave")
    call("hooks", "install", "--root", str(world.root))
    assert told(world, "hooks") == ("ok", f"project: installed in {world.root / '.claude/settings.json'}")
    settings = world.root / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("git wave hook SessionEnd", "true"))
    assert told(world, "hooks")[0] == "warning"
    settings.write_text("{,}")
    assert told(world, "hooks", 1)[0] == "problem"


def test_outside_a_checkout_the_rest_is_still_checked(world: World, tmp_path: Path) -> None:
    found = doctor(tmp_path)

    assert found["git"][0]["status"] == "ok"
    assert found["checkout"][0]["status"] == "warning"
    assert "journals" not in found


def test_a_repository_in_which_git_will_not_work_is_a_problem_in_gits_words(world: World) -> None:
    world.git("config", "core.repositoryFormatVersion", "1")
    world.git("config", "extensions.ofThisAndThat", "true")

    status, detail = told(world, "checkout", code=1)

    assert status == "problem"
    assert "ofthisandthat" in detail


def test_a_repository_of_somebody_else_is_a_problem_in_gits_words(world: World, shim: Shim) -> None:
    said = "fatal: detected dubious ownership in repository\n"
    shim.fail("rev-parse", code=128, stderr=said)

    status, detail = told(world, "checkout", code=1)

    assert (status, said.strip() in detail) == ("problem", True)


def test_a_directory_inside_a_repository_that_git_refuses_is_a_problem_too(world: World) -> None:
    world.git("config", "core.repositoryFormatVersion", "99")

    checks = doctor(world.root / "src", code=1)

    assert checks["checkout"][0]["status"] == "problem"


def test_a_directory_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    assert doctor(tmp_path / "absent", code=1)["checkout"][0]["status"] == "problem"


@pytest.mark.parametrize("version", ["git version 2.37.9", "git version 2.38.1", "no number"])
def test_an_old_git_is_told(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "bin/git", f"#!/bin/sh\necho '{version}'\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    (check,) = doctor(tmp_path, 0 if "2.38" in version else 1)["git"]

    assert check["status"] == ("warning" if "2.38" in version else "problem")


def test_a_missing_git_and_commands_off_the_path_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = doctor(tmp_path, 1)

    assert (found["git"][0]["status"], found["commands"][0]["status"]) == ("problem", "warning")


def test_text_has_a_line_for_each_check_and_is_safe_for_a_terminal(world: World) -> None:
    world.git("config", "wave.gitTimeout", "\x1b[31mred")

    answer = call("doctor", "--root", str(world.root))

    assert answer.code == 1
    assert "\x1b" not in answer.out
    assert "problem  settings: wave.gitTimeout" in answer.out
    assert re.search(r"^ +-> Correct it", answer.out, re.MULTILINE)
    assert answer.out.endswith("1 problem\n")
