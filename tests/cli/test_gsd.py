"""gsd-core's way of calling: the same flags, keys, reasons, exit codes and beginnings of lines."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.calling import Answer, call, program
from support.reclaim import dead_pid, lock
from support.repo import put
from support.world import World

FORMS = {
    "query, dotted": lambda verb: ["query", f"worktree.{verb}"],
    "query, spaced": lambda verb: ["query", "worktree", verb],
    "spaced": lambda verb: ["worktree", verb],
}


@pytest.fixture(autouse=True)
def _in_the_checkout(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.root)


def gsd(verb: str, *flags: str | Path, form: str = "query, dotted") -> Answer:
    return call(*FORMS[form](verb), *map(str, flags))


def record(world: World, manifest: Path, **changes: str) -> list[str]:
    agent = {"--manifest": str(manifest), "--agent-id": "a1", "--path": str(world.tmp / "wt/a"), "--base": world.head()}
    return [word for pair in {**agent, "--branch": "worktree-agent-a1", **changes}.items() for word in pair if pair[1]]


@pytest.mark.parametrize("form", FORMS)
def test_a_wave_goes_from_create_to_cleanup_in_every_form(world: World, form: str) -> None:
    manifest = world.manifest()
    flags = record(world, manifest, **{"--path": ".claude/worktrees/agent-a1", "--root": "."})
    flags += ["--files", "a.txt b.txt", "--deletions", "LICENSE"]

    created = gsd("create", *flags, form=form)
    path = world.root / ".claude/worktrees/agent-a1"
    world.commit(path, write={"a.txt": "a"})
    cleaned = gsd("cleanup-wave", "--manifest", manifest, form=form)

    assert (created.code, created.doc["ok"], created.doc["reason"]) == (0, True, "created")
    assert {"entry", "cwd", "manifest_path"} <= set(created.doc)
    assert created.doc["cwd"] == created.doc["entry"]["worktree_path"] == str(path)
    assert created.doc["entry"]["files_modified"] == ["a.txt", "b.txt"]
    assert created.doc["entry"]["declared_deletions"] == ["LICENSE"]
    assert (cleaned.code, cleaned.doc["ok"]) == (0, True)
    assert cleaned.doc["plan"] == {
        "action": "cleanup_wave", "discovery": "manifest", "reason": "manifest_entries_present", "entries": 1,
    }  # fmt: skip
    assert cleaned.doc["result"]["entries"][0]["status"] == "merged_removed"
    assert {"ok", "action", "reason", "entries", "pending", "warnings"} <= set(cleaned.doc["result"])
    assert (world.root / "a.txt").exists()


def test_recording_says_what_gsds_says(world: World) -> None:
    manifest = world.manifest()
    first = gsd("record-agent", *record(world, manifest))
    again = gsd("record-agent", *record(world, manifest))

    assert (first.code, first.doc["reason"], first.doc["manifest_path"]) == (0, "ok", str(manifest))
    assert first.doc["entry"].items() >= {
        "agent_id": "a1", "worktree_path": str(world.tmp / "wt/a"), "branch": "worktree-agent-a1",
        "expected_base": world.head(),
    }.items()  # fmt: skip
    assert (again.code, again.doc["ok"], again.doc["reason"]) == (1, False, "duplicate_entry")
    assert again.err.startswith("[gsd] worktree.record-agent: duplicate_entry — ")
    assert set(again.doc) >= {"ok", "reason", "hint"}


# fmt: off
HERE = {"--root": ".", "--path": "x"}
REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "record: no branch": ("record-agent", {"--branch": ""}, "missing_field"),
    "record: another namespace": ("record-agent", {"--branch": "feature/x"}, "invalid_entry"),
    "record: no manifest there": ("record-agent", {"--manifest": "../none.json"}, "manifest_read_failed"),
    "record: no JSON": ("record-agent", {"--manifest": "../broken.json"}, "invalid_manifest_json"),
    "record: another shape": ("record-agent", {"--manifest": "../shape.json"}, "manifest_shape_invalid"),
    "create: no path": ("create", {**HERE, "--path": ""}, "missing_field"),
    "create: no base": ("create", {**HERE, "--base": ""}, "missing_field"),
    "create: no root": ("create", {}, "root_required"),
    "create: outside": ("create", {"--root": "."}, "path_outside_root"),
    "create: the root itself": ("create", {**HERE, "--path": "."}, "path_outside_root"),
    "create: dots": ("create", {**HERE, "--path": "a/../b"}, "unsafe_path_traversal"),
    "create: a dash": ("create", {**HERE, "--base": "--upload-pack=x"}, "unsafe_leading_dash"),
    "create: another namespace": ("create", {**HERE, "--branch": "feature/x"}, "invalid_entry"),
    "create: no such base": ("create", {**HERE, "--base": "0" * 40}, "base_unresolved"),
    "create: branch is there": ("create", {**HERE, "--branch": "agent-there"}, "worktree_add_failed"),
    "create: path is there": ("create", {**HERE, "--path": "docs"}, "worktree_add_failed"),
    "create: no manifest there": ("create", {**HERE, "--manifest": "../none.json"}, "manifest_read_failed"),
    "create: another shape": ("create", {**HERE, "--manifest": "../shape.json"}, "manifest_shape_invalid"),
}
# fmt: on


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_gsds_reason_and_its_line_and_changes_nothing(world: World, name: str) -> None:
    verb, changes, reason = REFUSED[name]
    put(world.tmp / "broken.json", "{")
    put(world.tmp / "shape.json", '{"worktrees": {}}')
    world.git("branch", "agent-there")
    manifest = world.manifest()
    before, written = world.snapshot(), manifest.read_bytes()

    answer = gsd(verb, *record(world, manifest, **changes))

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, reason), answer
    assert answer.doc["hint"]
    assert answer.err.startswith(f"[gsd] worktree.{verb}: {reason} — ")
    assert world.snapshot() == before
    assert manifest.read_bytes() == written


def test_what_is_said_otherwise_here_is_said_beside(world: World) -> None:
    answer = gsd("create", *record(world, world.manifest(), **{"--root": ".", "--path": "docs"}))

    assert (answer.doc["reason"], answer.doc["wave_reason"]) == ("worktree_add_failed", "path_exists")


@pytest.mark.parametrize("verb", ["cleanup-wave", "record-agent", "create"])
@pytest.mark.parametrize("flags", [[], ["--manifest", ""]])
def test_without_a_manifest_it_is_usage_and_exit_2(verb: str, flags: list[str]) -> None:
    answer = gsd(verb, *flags)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"Usage: worktree {verb} ")


def test_a_wave_that_is_blocked_or_unread_is_exit_1_with_gsds_keys(world: World) -> None:
    blocked = gsd("cleanup-wave", "--manifest", world.manifest(world.agent("a", {}, ["LICENSE"])))
    unread = gsd("cleanup-wave", "--manifest", "none.json")

    assert (blocked.code, blocked.doc["result"]["reason"]) == (1, "cleanup_blocked")
    assert (unread.code, unread.doc["reason"], set(unread.doc)) == (
        1,
        "manifest_read_failed",
        {"ok", "reason", "error"},
    )


def test_orphans_are_reaped_or_skipped_in_gsds_words(world: World) -> None:
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    orphan, alive, unlocked = world.agent("orphan", {}), world.agent("alive", {}), world.agent("unlocked", {})
    lock(world, orphan, f"{dead_pid()}")
    lock(world, alive, f"{os.getpid()}")

    answer = gsd("reap-orphans")

    assert (answer.code, answer.doc["ok"], answer.doc["reaped"]) == (0, True, 1)
    assert sorted(answer.doc["entries"], key=lambda entry: entry["path"]) == [
        {"path": str(alive.path), "status": "skipped", "reason": "pid_alive"},
        {"path": str(orphan.path), "status": "reaped", "reason": "pid_dead_and_merged"},
    ]
    assert (orphan.path.exists(), alive.path.exists(), unlocked.path.exists()) == (False, True, True)


@pytest.mark.parametrize("words", [["query"], ["query", "state.load"], ["worktree"], ["worktree", "prune"]])
def test_another_verb_is_wrong_usage(words: list[str]) -> None:
    answer = call(*words)

    assert answer.code == 2
    assert "worktree.cleanup-wave" in answer.err


def test_a_workflow_that_calls_gsd_run_switches_over_by_its_definition(world: World) -> None:
    """The lines of a gsd workflow, with nothing changed but what `gsd_run` is."""
    agent = world.agent("a")
    script = put(
        world.tmp / "workflow.sh",
        'set -eu\ngsd_run() { "$GIT_WAVE" "$@"; }\n'
        'gsd_run query worktree.record-agent --manifest "$WAVE_WORKTREE_MANIFEST" --agent-id a --path "$1" '
        '--branch "$2" --base "$3" --files "a.txt" >/dev/null || exit 1\n'
        'gsd_run query worktree.cleanup-wave --manifest "$WAVE_WORKTREE_MANIFEST" || exit 1\n',
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)

    done = subprocess.run(
        ["sh", str(script), str(agent.path), agent.branch, agent.base],
        env={**os.environ, "GIT_WAVE": program("git-wave"), "WAVE_WORKTREE_MANIFEST": str(world.manifest())},
        capture_output=True,
        text=True,
        check=False,
    )

    document: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, document["ok"]) == (0, True), done.stderr
    assert world.landed(agent)
