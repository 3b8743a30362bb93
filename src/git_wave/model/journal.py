"""What a journal holds: one JSON object a line, as published.

A wave writes what it is about to do before each change and how that went after it, each line on the disk
before the next step. `intent` and `done` or `failed` belong together by `intent` = the intent's `seq`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Line(BaseModel):
    """What every line has: the format's version, a number from 1, and the time (UTC, ISO 8601)."""

    model_config = ConfigDict(extra="forbid")

    v: Literal[1]
    seq: int
    at: str


class Began(Line):
    """The first line. An undo names the wave or undo that it takes back, a restore the discard.

    `target` and `head` of a remove or reap are where the main worktree's HEAD was; neither moves it.
    """

    event: Literal["began"]
    kind: Literal[
        "wave",
        "undo",
        "discard",
        "restore",
        "remove",
        "reap",
    ]
    id: str
    root: str
    target: str
    head: str
    pid: int
    host: str
    manifest: str | None = None
    entries: int = 0
    undoes: str | None = None
    session: str | None = Field(None, description="the session whose agents' worktrees are reaped")


class Intent(Line):
    """About to change something."""

    model_config = ConfigDict(extra="allow")

    event: Literal["intent"]
    action: str
    entry: int | None
    branch: str | None


class Done(Line):
    """It was done; further keys tell what came of it."""

    model_config = ConfigDict(extra="allow")

    event: Literal["done"]
    intent: int


class Failed(Line):
    """It was not done, or nobody can tell: `why` says which."""

    event: Literal["failed"]
    intent: int
    why: str
    code: int | None = Field(None, description="git's exit code, negative for the signal that ended it")


class EntryEnded(Line):
    """How one entry ended, with what is needed to recognise or undo it."""

    event: Literal["entry"]
    entry: int
    agent_id: str | None
    worktree_path: str | None
    branch: str | None
    expected_base: str | None
    status: str
    reason: str
    tip: str | None
    merge_commit: str | None
    had_worktree: bool = Field(description="whether the worktree's directory stood when it was cleared away")


class Ended(Line):
    """The last line."""

    event: Literal["ended"]
    ok: bool
    reason: str
    head: str | None


Event = Annotated[Began | Intent | Done | Failed | EntryEnded | Ended, Field(discriminator="event")]


def journal_schema() -> dict[str, Any]:
    """The published JSON Schema (2020-12) of one line of a journal."""
    adapter: TypeAdapter[Any] = TypeAdapter(Event)
    schema = adapter.json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "git-wave journal line",
        **schema,
    }
