"""gsd-core's names for our verbs, and its words for our outcomes. Pure.

gsd workflows call `gsd_run query worktree.cleanup-wave …` or `gsd_run worktree cleanup-wave …`. Flags, JSON keys, exit
codes and reasons are those of our verbs; what differs is said here, and told in docs/GSD.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VERBS = ("cleanup-wave", "record-agent", "create", "reap-orphans")
"""gsd's worktree verbs that we answer. Each is called as ours is."""
REASONS: Mapping[str, Mapping[str, str]] = {
    "create": {
        "ok": "created",
        "already_created": "created",
        "branch_exists": "worktree_add_failed",
        "path_exists": "worktree_add_failed",
        "worktree_add_timed_out": "git_timeout",
    },
}
NEEDED = {"--agent-id": "agent_id", "--path": "path", "--branch": "branch", "--base": "base"}
"""The flags that gsd's `create` needs, by the names of our parameters; ours has defaults for most."""


def verb_in(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """`worktree.create …` or `worktree create …`: the verb and what follows it; None for anything else."""
    if not words:
        return None
    first, *rest = words
    family, dot, verb = first.partition(".")
    if not dot and rest:
        verb, *rest = rest
    return (verb, list(rest)) if family == "worktree" and verb in VERBS else None


def prefix(verb: str) -> str:
    """What gsd's lines on standard error begin with."""
    return f"[gsd] worktree.{verb}: "


def objection(verb: str, given: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why gsd's verb would refuse flags that ours takes: its reason and a hint; None when it would not."""
    if verb != "create":
        return None
    values = {flag: str(given.get(name) or "").strip() for flag, name in NEEDED.items()}
    if missing := [flag for flag, value in values.items() if not value]:
        return "missing_field", f"missing or blank: {', '.join(missing)}"
    if dashed := [flag for flag, value in values.items() if value.startswith("-") and flag != "--agent-id"]:
        return "unsafe_leading_dash", f"begins with a dash: {', '.join(dashed)}"
    if ".." in values["--path"].replace("\\", "/").split("/"):
        return "unsafe_path_traversal", f"--path holds a `..`: {values['--path']}"
    return None


def translated(verb: str, document: dict[str, Any]) -> dict[str, Any]:
    """A document of ours with gsd's reason in it; ours stays beside it as `wave_reason` where the two differ."""
    if verb == "reap-orphans":
        return reaped(document)
    ours = document.get("reason")
    theirs = REASONS.get(verb, {}).get(str(ours), ours)
    if theirs == ours:
        return document
    return {**document, "reason": theirs, "wave_reason": ours}


def reaped(document: dict[str, Any]) -> dict[str, Any]:
    """What gsd's `reap-orphans` says of the same: each worktree reaped or skipped. A refusal is ours alone."""
    if document.get("reason") not in ("ok", "reap_incomplete"):
        return document
    entries = [
        {
            "path": one["worktree_path"],
            "status": "reaped" if one["outcome"] == "removed" else "skipped",
            "reason": one["reason"],
        }
        for one in document["worktrees"]
    ]
    count = sum(entry["status"] == "reaped" for entry in entries)
    return {**document, "ok": True, "reaped": count, "entries": entries}


def exit_code(verb: str, code: int, document: Mapping[str, Any]) -> int:
    """gsd's `reap-orphans` is well when it has looked at all, whatever it skipped."""
    return 0 if verb == "reap-orphans" and document["ok"] else code


def translated_line(verb: str, line: str) -> str:
    """A line of ours on standard error, as gsd's verb would begin it."""
    if not line.startswith(f"{verb}: "):
        return line
    reason, dash, hint = line.removeprefix(f"{verb}: ").partition(" — ")
    theirs = REASONS.get(verb, {}).get(reason, reason) if dash else reason
    return f"{prefix(verb)}{theirs}{dash}{hint}"
