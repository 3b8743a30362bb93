"""An inventory as a JSON document. Keys may be added, never renamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from git_wave.gates import Answer
from git_wave.model.reasons import Reason
from git_wave.reclaim.inventory import Inventory
from git_wave.reclaim.places import State
from git_wave.reclaim.rows import Row

SHOWN = 10
"""Findings of one gate that are listed; of those beyond only the number is told."""
STATES = list(State)
NOTHING = "\U0010ffff"

SORTING: dict[str, Callable[[Row], Any]] = {
    "path": lambda row: str(row.place.path or NOTHING),
    "branch": lambda row: row.branch or NOTHING,
    "state": lambda row: STATES.index(row.place.state),
    "age": lambda row: row.made_at.timestamp() if row.made_at else float("inf"),
    "size": lambda row: -row.size.size if row.size else 1,
}
"""By what rows can be sorted: the oldest and the largest first, and last what is not known."""


def sorted_rows(inventory: Inventory, key: str) -> list[Row]:
    """The main worktree first, then by the key, then by path."""

    def place(row: Row) -> tuple[Any, ...]:
        return row.place.state is not State.MAIN, SORTING[key](row), SORTING["path"](row)

    return sorted(inventory.rows, key=place)


def inventory_document(inventory: Inventory, key: str) -> dict[str, Any]:
    return {
        "ok": True,
        "reason": Reason.OK,
        "root": str(inventory.root),
        "managed_root": str(inventory.managed_root),
        "default_branch": inventory.default and inventory.default.removeprefix("refs/heads/"),
        "at": inventory.now.isoformat(timespec="seconds"),
        "complete": inventory.complete,
        "counts": counts(inventory),
        "worktrees": [row_document(row, inventory) for row in sorted_rows(inventory, key)],
        "not_known": dict(inventory.not_known),
    }


def counts(inventory: Inventory) -> dict[str, int]:
    """How many there are of each state, and in all."""
    found = Counter(row.place.state for row in inventory.rows)
    return {"all": len(inventory.rows), **{str(state): found[state] for state in STATES}}


def row_document(row: Row, inventory: Inventory) -> dict[str, Any]:
    place, registered = row.place, row.place.registration
    return {
        "path": str(place.path) if place.path else None,
        "branch": row.branch,
        "head": row.head,
        "state": str(place.state),
        "why": place.why or None,
        "locked": registered.locked if registered else None,
        "prunable": registered.prunable if registered else None,
        "admin": str(place.admin) if place.admin else None,
        "owner": owner_document(row),
        "made_at": row.made_at.isoformat(timespec="seconds") if row.made_at else None,
        "age_seconds": int((inventory.now - row.made_at).total_seconds()) if row.made_at else None,
        "size_bytes": row.size.size if row.size else None,
        "size_is_least": bool(row.size and row.size.why),
        "compared_with": row.compared_with,
        "ahead": row.distance.ahead if row.distance else None,
        "behind": row.distance.behind if row.distance else None,
        "landed": row.landed,
        "may_go": row.may_go,
        "blockers": [blocker(gate, answer) for gate, answer in row.against.items()],
        "warnings": [warning.as_json() for warning in row.warnings],
        "not_known": dict(row.not_known),
    }


def owner_document(row: Row) -> dict[str, Any]:
    """`known` is `recorded`, `unknown` where no record is, `unreadable` where one is that cannot be understood."""
    owner = row.owner
    known = "recorded" if owner else "unreadable" if "owner" in row.not_known else "unknown"
    return {
        "known": known,
        "agent": owner and owner.agent_id,
        "session": owner and owner.session,
        "parent": owner and owner.parent,
        "manifest": owner and owner.manifest,
        "recorded_at": owner and owner.recorded_at,
        "last_seen": owner and owner.last_seen,
    }


def blocker(gate: str, answer: Answer) -> dict[str, Any]:
    more = len(answer.why) - SHOWN
    why = [*answer.why[:SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return {"gate": gate, "answer": str(answer.kind), "reason": answer.reason, "why": why}
