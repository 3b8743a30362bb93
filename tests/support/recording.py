"""Calls of record-agent with one good entry, of which a test replaces what it is about."""

import json
from pathlib import Path
from typing import Any

from support.calling import Answer, call

BASE = "1" * 40
FLAGS = {"agent": "--agent-id", "path": "--path", "branch": "--branch", "base": "--base"}
GOOD = {"agent": "a1", "path": "/r/wt-a1", "branch": "agent-a1", "base": BASE}
ENTRY = {"agent_id": "a1", "worktree_path": "/r/wt-a1", "branch": "agent-a1", "expected_base": BASE}


def flags(**values: str | None) -> list[str]:
    """`--flag=value` for the good entry with these values; None leaves the flag out."""
    chosen = {**GOOD, **values}
    return [f"{FLAGS[name]}={value}" for name, value in chosen.items() if value is not None]


def record(manifest: Path, *more: str, **values: str | None) -> Answer:
    return call("--manifest", str(manifest), *flags(**values), *more, prog="record-agent")


def entries_of(manifest: Path) -> list[dict[str, Any]]:
    value = json.loads(manifest.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = value if isinstance(value, list) else value["worktrees"]
    return found


def assert_refused(answer: Answer, reason: str) -> str:
    """A refusal as its contract says, on both streams; gives the hint."""
    assert answer.code == 1, answer
    assert answer.doc["ok"] is False
    assert answer.doc["reason"] == reason
    hint: str = answer.doc["hint"]
    assert hint.strip()
    assert f"record-agent: {reason} — {hint}" in answer.err
    return hint
