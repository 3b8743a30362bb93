"""Reading a manifest: lenient about shape, strict about loss. Asked through the dry run of a wave."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.repo import put
from support.world import Run, World


def dry(world: World, manifest: Path) -> Run:
    return world.wave(manifest, args=["--dry-run"])


def plain(world: World, name: str = "a", **over: Any) -> dict[str, Any]:
    """An entry of a worktree that does not exist; None leaves a key out."""
    path = str(world.worktree_dir / name)
    base = {"worktree_path": path, "branch": f"agent-{name}", "expected_base": world.head(), **over}
    return {key: value for key, value in base.items() if value is not None}


def test_a_bare_array_is_read_in_the_repository_of_the_current_directory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    monkeypatch.chdir(world.root / "src")
    manifest = put(world.tmp / "bare.json", json.dumps([world.entry(agent)]))

    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert world.landed(agent)


def test_path_is_read_as_worktree_path(world: World) -> None:
    agent = world.agent("a")
    entry = world.entry(agent)
    entry["path"] = entry.pop("worktree_path")

    run = world.wave(entry)

    assert run.outcome() == ("merged_removed", "ok")
    assert run.entry()["worktree_path"] == str(agent.path)


def test_a_relative_path_is_taken_from_the_repository_root(world: World) -> None:
    agent = world.agent("a", path=world.root / ".trees" / "a")

    run = world.wave(world.entry(agent, worktree_path=".trees/a"))

    assert run.outcome() == ("merged_removed", "ok")
    assert world.landed(agent)


def test_an_agent_id_may_be_null_or_absent(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    absent = world.entry(two)
    del absent["agent_id"]

    run = world.wave(world.entry(one, agent_id=None), absent)

    assert run.code == 0, run.doc
    assert [entry["agent_id"] for entry in run.entries] == [None, None]


@pytest.mark.parametrize("files", [None, "a.py", 7, {}, {"a": 1}, True])
def test_a_scope_that_is_no_list_is_ignored(world: World, files: object) -> None:
    agent = world.agent("a")

    run = world.wave(world.entry(agent, files_modified=files, declared_deletions=files, allowed_bases=files))

    assert run.outcome() == ("merged_removed", "ok")
    assert run.warnings() == []


def test_empty_and_odd_members_of_a_list_are_ignored(world: World) -> None:
    agent = world.agent("a", {"x.py": "x"}, ["LICENSE"])
    files = ["", None, 7, ["x"], "x.py"]

    run = world.wave(world.entry(agent, files_modified=files, declared_deletions=["", None, "LICENSE"]))

    assert run.outcome() == ("merged_removed", "ok")
    assert run.warnings() == []


def test_a_declared_deletion_in_a_string_opens_nothing(world: World) -> None:
    agent = world.agent("a", {}, ["LICENSE"])

    run = world.wave(world.entry(agent, declared_deletions="LICENSE"))

    assert run.outcome() == ("blocked", "branch_contains_deletions")
    assert world.untouched(agent)


def test_allowed_bases_in_the_result_hold_the_expected_base_too(world: World) -> None:
    agent = world.agent("a")
    other = "3" * 40

    run = dry(world, world.manifest(world.entry(agent, allowed_bases=[other])))

    assert sorted(run.entry()["allowed_bases"]) == sorted([agent.base, other])


@pytest.mark.parametrize("odd", [None, 7, "agent-a", [], ["x"], True, {}])
def test_what_is_no_entry_is_a_blocked_entry_and_the_others_go_on(world: World, odd: object) -> None:
    agent = world.agent("a")

    run = world.wave(odd, world.entry(agent))

    assert run.code == 1
    assert run.outcome(0) == ("blocked", "invalid_entry")
    assert run.entry(0)["stderr"].strip()
    assert run.outcome(1) == ("merged_removed", "ok")
    assert world.landed(agent)


@pytest.mark.parametrize("key", ["worktree_path", "branch", "expected_base"])
@pytest.mark.parametrize("value", [None, "", "  ", 7, ["x"], {}])
def test_an_entry_without_a_usable_value_is_blocked_and_names_the_field(world: World, key: str, value: object) -> None:
    entry = plain(world) | {key: value}

    run = dry(world, world.manifest(entry))

    assert run.code == 1
    assert run.outcome() == ("blocked", "invalid_entry")
    assert key in run.entry()["stderr"]


def test_every_error_of_an_entry_is_told_at_once(world: World) -> None:
    run = dry(world, world.manifest({"branch": "main", "agent_id": 7}))

    detail = run.entry()["stderr"]
    assert all(name in detail for name in ("worktree_path", "branch", "expected_base"))
    assert run.outcome() == ("blocked", "invalid_entry")


@pytest.mark.parametrize("branch", ["main", "feature/x", "agent-a..b", "agent-a.lock", "agent-x\n", "agent-\x1b"])
def test_a_branch_of_no_good_name_is_an_invalid_entry(world: World, branch: str) -> None:
    run = dry(world, world.manifest(plain(world, branch=branch)))

    assert run.outcome() == ("blocked", "invalid_entry")
    assert "branch" in run.entry()["stderr"]


def test_the_configured_pattern_says_what_a_branch_is(world: World) -> None:
    world.git("config", "wave.branchPattern", "^bot/")
    bot, agent = world.agent("bot", branch="bot/one"), world.agent("a")

    run = world.wave(bot, agent)

    assert run.outcome(bot) == ("merged_removed", "ok")
    assert run.outcome(agent) == ("blocked", "invalid_entry")
    assert world.landed(bot)
    assert world.untouched(agent)


# -- repeats


def test_an_exact_repeat_is_merged_into_one_with_a_warning(world: World) -> None:
    agent = world.agent("a")

    run = world.wave(agent, agent)

    assert run.code == 0, run.doc
    assert len(run.entries) == 1
    assert [warning["code"] for warning in run.doc["result"]["warnings"]] == ["duplicate_entry"]
    assert run.doc["result"]["warnings"][0]["branch"] == agent.branch
    assert world.landed(agent)


def test_a_repeat_in_another_spelling_is_a_repeat(world: World) -> None:
    agent = world.agent("a")

    run = world.wave(agent, world.entry(agent, worktree_path=f"{agent.path}/."))

    assert run.code == 0, run.doc
    assert len(run.entries) == 1


def test_a_repeat_that_disagrees_about_the_base_is_told(world: World) -> None:
    agent = world.agent("a")

    run = world.wave(world.entry(agent, expected_base="1" * 40), agent)

    assert len(run.entries) == 1
    assert "duplicate_entry" in [warning["code"] for warning in run.doc["result"]["warnings"]]


def test_a_repeat_of_an_invalid_entry_is_told_twice(world: World) -> None:
    bad = plain(world, expected_base=None)

    run = dry(world, world.manifest(bad, bad))

    assert [entry["reason"] for entry in run.entries] == ["invalid_entry"] * 2


# -- manifests that are none


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "invalid_manifest_json"),
        ("{", "invalid_manifest_json"),
        ("[" * 100_000, "invalid_manifest_json"),
        ("null", "manifest_shape_invalid"),
        ("7", "manifest_shape_invalid"),
        ('{"worktrees": {}}', "manifest_shape_invalid"),
        ('{"worktrees": "x"}', "manifest_shape_invalid"),
    ],
)
def test_a_manifest_that_is_none_refuses_the_wave(world: World, text: str, reason: str) -> None:
    before = world.snapshot()

    run = world.wave(put(world.tmp / "m.json", text))

    assert run.code == 1
    assert (run.doc["ok"], run.doc["reason"]) == (False, reason)
    assert world.snapshot() == before


def test_a_manifest_that_is_not_there_says_so(world: World) -> None:
    run = world.wave(world.tmp / "none.json")

    assert run.code == 1
    assert (run.doc["ok"], run.doc["reason"]) == (False, "manifest_read_failed")
    assert "none.json" in run.doc["error"]


@pytest.mark.parametrize("bare", [True, False])
def test_no_entry_at_all_is_an_empty_manifest(world: World, bare: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.root)
    manifest = put(world.tmp / "m.json", "[]") if bare else world.manifest()

    run = world.wave(manifest)

    assert run.code == 1
    assert (run.doc["ok"], run.doc["reason"]) == (False, "empty_manifest")
    assert run.doc["plan"]["action"] == "skip"


def test_a_key_said_twice_never_makes_an_entry_disappear(world: World) -> None:
    agent = world.agent("a")
    entries = json.dumps([world.entry(agent)])
    root = json.dumps(str(world.root))
    text = f'{{"orchestrator_root": {root}, "worktrees": {entries}, "worktrees": []}}'

    run = world.wave(put(world.tmp / "m.json", text))

    assert run.code == 1
    assert run.doc["reason"] != "empty_manifest"
