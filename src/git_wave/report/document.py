"""A wave's outcome as the published result document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from git_wave.model.entry import Advice, Entry, InvalidEntry, Manifest
from git_wave.model.errors import WaveError
from git_wave.model.explanations import EXPLANATIONS, next_step
from git_wave.model.reasons import Reason
from git_wave.model.result import ResultDocument, UnreadDocument
from git_wave.wave import Ended, WaveOutcome

RERUN = "run again"
HALTED = "see to the entry that halted the wave, run again"


def unread_document(error: WaveError) -> dict[str, Any]:
    """What is said when the manifest could not be read at all."""
    return UnreadDocument.model_validate({"ok": False, "reason": str(error.reason), "error": error.detail}).model_dump()


def refused_document(error: WaveError, manifest: Manifest, root: Path | None, *, dry_run: bool) -> dict[str, Any]:
    """A wave that was refused: nothing was touched, and every entry is pending."""
    action = "skip" if error.reason is Reason.EMPTY_MANIFEST else "cleanup_wave"
    facts = {"id": None, "root": str(root) if root else None, "dry_run": dry_run}
    facts |= {"target": None, "head_before": None, "head_after": None}
    result = {
        "reason": error.reason,
        "error": error.detail,
        "entries": [],
        "pending": pending_list(manifest.entries, next_step(error.reason)),
        "warnings": warning_list(manifest.warnings),
    }
    planned = Reason.MANIFEST_ENTRIES_PRESENT if manifest.entries else Reason.EMPTY_MANIFEST
    return document(ok=False, action=action, planned=planned, result=result, facts=facts, total=len(manifest.entries))


def outcome_document(outcome: WaveOutcome, wave_id: str, root: Path) -> dict[str, Any]:
    """A wave that ran."""
    reason = Reason.OK if outcome.ok else Reason.CLEANUP_BLOCKED
    error = ""
    if outcome.signum is not None:
        reason, error = Reason.INTERRUPTED, f"stopped by signal {outcome.signum}"
    warnings = [*outcome.warnings, *(warning for ended in outcome.entries for warning in ended.warnings)]
    result = {
        "reason": reason,
        "error": error,
        "entries": [entry_result(ended, outcome.dry_run) for ended in outcome.entries],
        "pending": pending_list(outcome.pending, RERUN if outcome.signum is not None else HALTED),
        "warnings": warning_list(warnings),
    }
    facts = {
        "id": wave_id,
        "root": str(root),
        "target": outcome.target.ref,
        "head_before": outcome.target.oid,
        "head_after": outcome.head_after,
        "dry_run": outcome.dry_run,
    }
    total = len(outcome.entries) + len(outcome.pending)
    planned = Reason.MANIFEST_ENTRIES_PRESENT
    return document(ok=outcome.ok, action="cleanup_wave", planned=planned, result=result, facts=facts, total=total)


def document(
    *, ok: bool, action: str, planned: Reason, result: dict[str, Any], facts: dict[str, Any], total: int
) -> dict[str, Any]:
    plan = {"action": action, "discovery": "manifest", "reason": planned, "entries": total}
    whole = {
        "ok": ok,
        "reason": result["reason"],
        "plan": plan,
        "result": {"ok": ok, "action": action, **result},
        "wave": facts,
    }
    return ResultDocument.model_validate(whole).model_dump(by_alias=True)


def entry_result(ended: Ended, dry_run: bool) -> dict[str, Any]:
    case = ended.case
    return {
        **ended.entry.as_json(),
        "status": str(ended.status),
        "reason": ended.reason,
        "stage": ended.stage,
        "stderr": ended.detail,
        "warnings": warning_list(ended.warnings),
        "tip": case.tip if case else None,
        "merge_commit": case.merge_commit if case and not dry_run else None,
        "renames": [{"from": old, "to": new} for old, new in case.renames] if case else [],
        "rescued": sorted(case.rescued) if case else [],
        "regenerable_dropped": case.dropped if case else 0,
        "next_step": ended.advice or EXPLANATIONS[ended.reason].next_step,
    }


def pending_list(entries: Iterable[Entry | InvalidEntry], step: str) -> list[dict[str, Any]]:
    """Entries that the wave did not reach, each with what to do about that."""
    return [{**entry.as_json(), "next_step": step} for entry in entries]


def warning_list(warnings: Iterable[Advice]) -> list[dict[str, Any]]:
    return [warning.as_json() for warning in warnings]
