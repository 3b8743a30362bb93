"""Requests to reap a session's worktrees, on disk before anything is started, so that none is forgotten."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from git_wave.state.atomic import replace_file
from git_wave.state.named_files import read_regular

VERSION = 1


@dataclass(frozen=True, slots=True)
class Request:
    """The session that has ended, why, and when that was heard of (ISO 8601, UTC)."""

    session: str
    reason: str
    at: str


def directory(common_dir: Path) -> Path:
    return common_dir / "git-wave" / "requests"


def request_path(common_dir: Path, session: str) -> Path:
    """One file for each session, whatever its id holds."""
    return directory(common_dir) / f"{hashlib.sha256(session.encode()).hexdigest()[:32]}.json"


def write_request(common_dir: Path, session: str, reason: str, now: datetime) -> None:
    """Raises OSError."""
    directory(common_dir).mkdir(parents=True, exist_ok=True)
    request = Request(session, reason, now.isoformat(timespec="seconds"))
    replace_file(request_path(common_dir, session), json.dumps({"v": VERSION, **asdict(request)}).encode() + b"\n")


def list_requests(common_dir: Path) -> list[Request]:
    """Every request that waits, oldest first; one that cannot be understood is passed over. Raises OSError."""
    try:
        names = sorted(os.listdir(directory(common_dir)))
    except FileNotFoundError:
        return []
    found = [load_request(directory(common_dir) / name) for name in names if name.endswith(".json")]
    return sorted(filter(None, found), key=lambda request: request.at)


def load_request(path: Path) -> Request | None:
    try:
        written = json.loads(read_regular(path))
        facts = [written[name] for name in ("session", "reason", "at")] if written.get("v") == VERSION else []
    except (FileNotFoundError, ValueError, KeyError, AttributeError, RecursionError):
        return None
    return Request(*facts) if facts and all(isinstance(fact, str) for fact in facts) else None


def forget_request(common_dir: Path, session: str) -> None:
    """Raises OSError."""
    request_path(common_dir, session).unlink(missing_ok=True)
