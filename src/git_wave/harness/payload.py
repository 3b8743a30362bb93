"""What Claude Code tells a hook on its standard input, checked before anything is done with it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from git_wave.model import strict_json
from git_wave.model.errors import Refusal
from git_wave.model.names import CONTROL, branch_name_error, is_encodable
from git_wave.model.reasons import Reason

LARGEST = 16 << 20
"""Bytes. An agent's last message comes along, so this is more than the fields that are used need."""
LONGEST = 4096
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
LONGEST_NAME = 200
NAMES = ("name", "worktree_name")
"""`name` is what is sent; some of the documents call it the other."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The fields that are used. Those that the event does not have are None.

    `cwd` is where the session or agent was, and may be gone; `name` is a worktree's, `worktree_path` absolute.
    """

    event: str
    session_id: str
    cwd: str | None = None
    agent_id: str | None = None
    reason: str | None = None
    name: str | None = None
    worktree_path: str | None = None


def payload_from(data: bytes, event: str) -> Payload:
    """Raises Refusal with `payload_invalid`, naming everything that is wrong."""
    document = document_in(data)
    problems: list[str] = []

    def text(*keys: str, required: bool = False) -> str | None:
        key = next((key for key in keys if key in document), keys[0])
        value = document.get(key)
        if value is None and not required:
            return None
        if why := text_error(value):
            problems.append(f"{key} {why}")
            return None
        return str(value)

    named = text("hook_event_name", required=True)
    if named is not None and named != event:
        problems.append(f"hook_event_name is {named!r}, and this is the hook for {event}")
    session = text("session_id", required=True)
    if session is not None and CONTROL.search(session):
        problems.append("session_id holds a control character")
    payload = Payload(
        event,
        session or "",
        text("cwd"),
        text("agent_id") if event == "SubagentStop" else None,
        text("reason", required=True) if event == "SessionEnd" else None,
        text(*NAMES, required=True) if event == "WorktreeCreate" else None,
        text("worktree_path", required=True) if event == "WorktreeRemove" else None,
    )
    if payload.name is not None and (why := name_error(payload.name)):
        problems.append(f"name {payload.name!r} {why}")
    if payload.worktree_path is not None and (why := path_error(payload.worktree_path)):
        problems.append(f"worktree_path {why}")
    if problems:
        raise Refusal(Reason.PAYLOAD_INVALID, "; ".join(problems))
    return payload


def document_in(data: bytes) -> dict[str, Any]:
    if len(data) > LARGEST:
        raise Refusal(Reason.PAYLOAD_INVALID, f"it is larger than {LARGEST} bytes")
    try:
        document = strict_json.loads(data.decode())
    except ValueError as error:
        raise Refusal(Reason.PAYLOAD_INVALID, f"it is no strict JSON: {error}") from error
    if not isinstance(document, dict):
        raise Refusal(Reason.PAYLOAD_INVALID, "it is no JSON object")
    return document


def text_error(value: Any) -> str | None:
    """Why a value is not text that can be used, or None."""
    if value is None:
        return "is missing"
    if not isinstance(value, str):
        return "must be text"
    if not value.strip() or len(value) > LONGEST:
        return f"must not be blank, nor longer than {LONGEST} characters"
    if "\0" in value or not is_encodable(value):
        return "holds a character that no path or name can hold"
    return None


def name_error(name: str) -> str | None:
    """Why a worktree cannot have this name, or None. It becomes part of a path and of a branch's name."""
    if len(name) > LONGEST_NAME or NAME.fullmatch(name) is None or branch_name_error(f"x/{name}"):
        return f"must be letters, digits and `._-`, in parts set apart by `/`, {LONGEST_NAME} characters at most"
    return None


def path_error(path: str) -> str | None:
    if not path.startswith("/") or ".." in path.split("/"):
        return "must be an absolute path without `..`"
    return None
