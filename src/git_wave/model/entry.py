"""What a manifest holds, once read: frozen values without a pydantic type in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from git_wave.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class Problem:
    """One error in a manifest: `pointer` is a JSON pointer (RFC 6901) to the place, `message` a sentence."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.message}"


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice that never blocks. `path` is what it is about and `detail` says more; either may be None."""

    code: Reason
    branch: str | None
    path: str | None = None
    detail: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "branch": self.branch, "path": self.path, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Entry:
    """A usable entry. `worktree_path` is as written; `allowed_bases` always begins with `expected_base`.

    `baseline` is the commit that holds what was uncommitted in the user's checkout when the worktree was made.
    """

    index: int
    agent_id: str | None
    worktree_path: str
    branch: str
    expected_base: str
    allowed_bases: tuple[str, ...]
    files_modified: tuple[str, ...]
    declared_deletions: tuple[str, ...]
    baseline: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def key(self, root: str | None) -> tuple[str, str]:
        """What makes two entries the same: the path without idle slashes and taken from `root`, and the branch."""
        path = self.worktree_path
        return (lexical(path if path.startswith("/") or root is None else f"{root}/{path}"), self.branch)

    def as_json(self) -> dict[str, Any]:
        """The entry's own fields, unknown ones included, as results repeat them."""
        return {
            **self.extra,
            "agent_id": self.agent_id,
            "worktree_path": self.worktree_path,
            "branch": self.branch,
            "expected_base": self.expected_base,
            "allowed_bases": list(self.allowed_bases),
            "files_modified": list(self.files_modified),
            "declared_deletions": list(self.declared_deletions),
            **({"baseline": self.baseline} if self.baseline else {}),
        }


@dataclass(frozen=True, slots=True)
class InvalidEntry:
    """An entry that cannot be used: `raw` is what the file holds there, `problems` every error found."""

    index: int
    raw: Any
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields as they stand where they have the right type, null or empty where they have not."""
        raw = self.raw if isinstance(self.raw, dict) else {}

        def text(*names: str) -> str | None:
            return next((raw[name] for name in names if isinstance(raw.get(name), str)), None)

        def texts(name: str) -> list[str]:
            value = raw.get(name)
            return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

        return {
            "agent_id": text("agent_id"),
            "worktree_path": text("worktree_path", "path"),
            "branch": text("branch"),
            "expected_base": text("expected_base"),
            "allowed_bases": texts("allowed_bases"),
            "files_modified": texts("files_modified"),
            "declared_deletions": texts("declared_deletions"),
        }


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as read: nothing that stood in it is dropped.

    `entries` are in file order, usable and invalid ones together; exact repeats are left out and told in
    `warnings`, and in `notes` with their place. `orchestrator_root` is absolute, or None when the file names none.
    """

    orchestrator_root: str | None
    entries: tuple[Entry | InvalidEntry, ...]
    warnings: tuple[Advice, ...] = ()
    notes: tuple[Problem, ...] = ()

    @property
    def usable(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Entry))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(p for e in self.entries if isinstance(e, InvalidEntry) for p in e.problems)


def lexical(path: str) -> str:
    """`path` without doubled or trailing slashes and `.` parts. `..` stays: it may cross a symbolic link."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)
