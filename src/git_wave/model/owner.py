"""Who a worktree belongs to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

VERSION = 1
TEXT_OR_NONE = ("session", "parent", "manifest", "base", "baseline", "last_seen")


@dataclass(frozen=True, slots=True)
class Owner:
    """The record of one worktree's owner, as `create` and `record-agent` write it.

    `session` is where the agent runs and `parent` the session that sent it. `manifest` is an absolute path, `base`
    the commit that the branch forked from and `baseline` the one that holds the user's uncommitted work, if any.
    Times are ISO 8601, UTC.
    """

    agent_id: str
    branch: str
    recorded_at: str
    session: str | None = None
    parent: str | None = None
    manifest: str | None = None
    base: str | None = None
    baseline: str | None = None
    last_seen: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"v": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises ValueError for anything that is not such a record, whole and of this version."""
        if not isinstance(document, dict) or document.get("v") != VERSION:
            raise ValueError("it is no owner record of a version known here")
        needed: list[Any] = [document.get(name) for name in ("agent_id", "branch", "recorded_at")]
        others: dict[str, Any] = {name: document.get(name) for name in TEXT_OR_NONE}
        if not all(isinstance(value, str) and value for value in needed):
            raise ValueError("it lacks the agent, the branch or the time")
        if not all(value is None or isinstance(value, str) for value in others.values()):
            raise ValueError("it holds something else than text")
        return cls(*needed, **others)
