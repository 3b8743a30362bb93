"""What a result document says in words, the same in a table and in Markdown."""

from __future__ import annotations

from typing import Any

from git_wave.report.plain import one_line, plain

WORDS = {
    "merged_removed": "landed",
    "would_land": "would land",
    "warning": "landed, but",
    "blocked": "blocked",
    "pending": "pending",
}
SHOWN_LINES = 4


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Every entry of a wave, those that it did not reach last and with the status `pending`."""
    return [*result["entries"], *({**entry, "status": "pending"} for entry in result["pending"])]


def name_of(row: dict[str, Any]) -> str:
    return one_line(row["branch"] or row["worktree_path"] or "?")


def detail_lines(row: dict[str, Any]) -> list[str]:
    """What git or a stage said, cut after a few lines; for an entry that landed, its merge."""
    lines = [line for line in plain(row.get("stderr", "")).split("\n") if line]
    if len(lines) > SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"... and {len(lines) - SHOWN_LINES} more lines"]
    if not lines and row.get("merge_commit"):
        lines = [f"merge {row['merge_commit'][:12]}"]
    return lines


def next_step(row: dict[str, Any]) -> str:
    return plain(row.get("next_step", ""))


def warning_words(warning: dict[str, Any]) -> str:
    """What a warning is about, its code left out."""
    parts = [warning["branch"], warning["path"], warning["detail"]]
    return one_line(": ".join(part for part in parts if part))


def counts(document: dict[str, Any]) -> str:
    """How many of how many landed, or would."""
    landed = sum(entry["status"] in ("merged_removed", "would_land") for entry in document["result"]["entries"])
    verb = "would land" if document["wave"]["dry_run"] else "landed"
    return f"{landed} of {document['plan']['entries']} {verb}"
