"""The result document, as published: add keys, never rename them.

One document comes out of every `cleanup-wave`: the whole envelope, or the short form when the manifest could
not be read at all.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from git_wave.model.reasons import Reason


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", use_enum_values=True)


class WarningResult(Shape):
    """Advice that never blocks."""

    code: Reason
    branch: str | None
    path: str | None
    detail: str | None


class RenameResult(BaseModel):
    """What was taken for a rename."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    old: str = Field(alias="from")
    new: str = Field(alias="to")


class PendingEntry(BaseModel):
    """An entry that was not reached."""

    model_config = ConfigDict(extra="allow")

    agent_id: str | None
    worktree_path: str | None
    branch: str | None
    expected_base: str | None
    allowed_bases: list[str]
    files_modified: list[str]
    declared_deletions: list[str]
    next_step: str = Field(description="what to do about it, empty when nothing")


class EntryResult(PendingEntry):
    """How one entry ended. `tip` is the pinned commit; `merge_commit` is null when nothing was merged."""

    status: Literal["merged_removed", "warning", "blocked", "would_land"]
    reason: Reason
    stage: str | None = Field(description="the stage that stopped the entry, null when none did")
    stderr: str = Field(description="git's words, or the offending paths one a line")
    warnings: list[WarningResult]
    tip: str | None
    merge_commit: str | None
    renames: list[RenameResult]
    rescued: list[str] = Field(description="uncommitted SUMMARYs that are safe in the main checkout")
    regenerable_dropped: int = Field(description="ignored files in build and cache directories that went")


class PlanResult(Shape):
    action: Literal["cleanup_wave", "skip"]
    discovery: Literal["manifest"]
    reason: Reason
    entries: int


class WaveResult(Shape):
    ok: bool
    action: Literal["cleanup_wave", "skip"]
    reason: Reason
    error: str = Field("", description="what refused or ended the wave, in words")
    entries: list[EntryResult]
    pending: list[PendingEntry]
    warnings: list[WarningResult]


class WaveFacts(Shape):
    """About the wave as a whole; heads are null when the repository was not reached."""

    id: str | None
    root: str | None
    target: str | None = Field(description="full ref of the branch landed into")
    head_before: str | None
    head_after: str | None
    dry_run: bool


class ResultDocument(Shape):
    """What `cleanup-wave` prints."""

    ok: bool
    reason: Reason
    plan: PlanResult
    result: WaveResult
    wave: WaveFacts


class UnreadDocument(Shape):
    """What it prints when the manifest could not be read."""

    ok: Literal[False]
    reason: Literal["manifest_read_failed", "invalid_manifest_json", "manifest_shape_invalid"]
    error: str


def result_schema() -> dict[str, Any]:
    """The published JSON Schema (2020-12) of a result."""
    adapter: TypeAdapter[ResultDocument | UnreadDocument] = TypeAdapter(ResultDocument | UnreadDocument)
    schema = adapter.json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "git-wave result", **schema}
