"""Restore what was discarded: branch, worktree, uncommitted work, kept files, owner's record and entry.

Every step finds out whether it has been made already, so that a restore that was cut short is finished by the same
command. Nothing that stands is written over.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.lifecycle.entries import put_back_entry
from git_wave.lifecycle.records import Past, Record, is_restore, kept_at
from git_wave.lifecycle.removing import telling
from git_wave.lifecycle.workshop import Workshop
from git_wave.model.entry import Advice
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.state.journal import History
from git_wave.state.kept_places import forget_emptied, in_the_way, put_back
from git_wave.state.owner import write_owner


@dataclass(slots=True)
class Restored:
    """What came of it, filled in on the way: what stands here is true however it ended."""

    reason: Reason = Reason.RESTORED
    hint: str = ""
    record: Record | None = None
    wip_applied: bool = False
    entry_recorded: bool = False
    warnings: list[Advice] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.reason in (Reason.RESTORED, Reason.ALREADY_RESTORED)

    def as_json(self) -> dict[str, Any]:
        record = self.record
        return {
            "id": record and record.run_id,
            "agent_id": record and record.agent_id,
            "worktree_path": record and record.path,
            "branch": record and record.branch,
            "tip": record and record.tip,
            "wip_applied": self.wip_applied,
            "entry_recorded": self.entry_recorded,
        }


@dataclass(frozen=True, slots=True)
class Begun:
    """How far restores of the same discard got that did not finish."""

    registered: bool
    filled: bool


def restore(name: str, shop: Workshop, outcome: Restored) -> None:
    """Bring back the discard that `name` means: a run's id, one of its refs, or the commit of uncommitted work.

    Fills `outcome` in; raises WaveError.
    """
    with telling(Reason.GIT_FAILED):
        past = chosen(name, shop)
        outcome.record = record = past.record
        if past.restored_by and stands(record, shop.reads):
            outcome.reason = Reason.ALREADY_RESTORED
            return
        begun = begun_before(record, shop.histories)
        require_room(record, begun, shop.reads)
    carry_out(past, begun, shop, outcome)


def chosen(name: str, shop: Workshop) -> Past:
    """Raises Refusal, or GitError."""
    for past in reversed(shop.pasts):
        if name in (past.record.run_id, past.record.backup, past.record.wip_ref):
            return require_commits(past, shop.reads)
    oid = shop.reads.objects.commit(name)
    for past in reversed(shop.pasts):
        if oid is not None and oid == past.record.wip:
            return require_commits(past, shop.reads)
    raise Refusal(Reason.UNKNOWN_BACKUP, f"no discard on record goes by {name}")


def require_commits(past: Past, reads: Reads) -> Past:
    for oid in past.record.refs.values():
        if reads.objects.commit(oid) is None:
            raise Refusal(Reason.UNKNOWN_BACKUP, f"commit {oid} of {past.record.branch} is gone")
    return past


def begun_before(record: Record, histories: Iterable[History]) -> Begun:
    tries = [h for h in histories if is_restore(h) and h.began and h.began["undoes"] == record.run_id]
    tries = [h for h in tries if not (h.ended and h.ended["ok"])]
    filled = any(done and done["event"] == "done" for h in tries for _, done in h.intents("fill_worktree"))
    return Begun(any(True for h in tries for _ in h.intents("add_worktree")), filled)


def stands(record: Record, reads: Reads) -> bool:
    """Whether the worktree is there and on its branch. Raises GitError."""
    try:
        return reads.worktree_head(reads.worktree_at(Path(record.path)))[1] == record.ref
    except (BrokenLink, OSError):
        return False


def require_room(record: Record, begun: Begun, reads: Reads) -> None:
    """Is there nothing where branch and worktree belong, but for what a restore cut short has put there?

    Raises Refusal, GitError or OSError.
    """
    path, now = Path(record.path), reads.objects.commit(record.ref)
    if now not in (None, record.tip) and not (begun.filled and stands(record, reads)):
        raise Refusal(Reason.BRANCH_EXISTS, f"{record.branch} stands at {now}, not at {record.tip}")
    if begun.registered and (stands(record, reads) or reads.presence(path) is Presence.GONE):
        return
    if reads.presence(path) is not Presence.GONE:
        raise Refusal(Reason.PATH_EXISTS, f"something stands at {path}")
    if reads.is_registered(path):
        raise Refusal(Reason.PATH_EXISTS, f"a worktree is still registered at {path}")
    if places := reads.heads_on(record.ref):
        raise Refusal(Reason.BRANCH_EXISTS, f"{record.branch} is checked out in " + ", ".join(places))


def carry_out(past: Past, begun: Begun, shop: Workshop, outcome: Restored) -> None:
    """The run itself, from the journal's first line to its last. Raises WaveError."""
    run, record = shop.run, past.record
    try:
        run.begin("restore", record.ref, record.tip, undoes=record.run_id)
    except JournalError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error
    run.journal.about(None, record.branch)
    reason = Reason.INTERRUPTED
    try:
        with telling(Reason.RESTORE_FAILED):
            if shop.reads.objects.commit(record.ref) is None:
                run.hands.git.create_branch(record.branch, record.tip)
            worktree = standing_worktree(record, begun, shop, outcome)
            outcome.wip_applied = record.wip is not None
            put_back_kept(past, worktree, shop, outcome)
            put_back_owner(record, worktree, shop)
            put_back_claim(record, shop, outcome)
        reason = Reason.RESTORED
    except WaveError as error:
        reason = error.reason
        raise
    finally:
        try:
            run.journal.write("ended", ok=reason is Reason.RESTORED, reason=reason, head=record.tip)
        except JournalError:
            pass


def standing_worktree(record: Record, begun: Begun, shop: Workshop, outcome: Restored) -> Worktree:
    """The worktree with its files, made unless it is there. Raises WaveError and what reading raises."""
    path, git = Path(record.path), shop.run.hands.git
    if begun.filled and stands(record, shop.reads):
        return shop.reads.worktree_at(path)
    if begun.registered:
        clear_half_made(record, shop, outcome)
    git.add_worktree(path, record.branch, files=False)
    worktree = shop.reads.worktree_at(path)
    index = shop.reads.objects.parents(record.wip)[1] if record.wip else record.tip
    git.fill_worktree(worktree, record.wip or record.tip, index)
    return worktree


def clear_half_made(record: Record, shop: Workshop, outcome: Restored) -> None:
    """Move aside what a restore that was cut short had written, and let git forget it: files may be half there."""
    path, reads, git = Path(record.path), shop.reads, shop.run.hands.git
    if reads.presence(path) is Presence.PRESENT:
        place = reads.layout.common_dir / "git-wave" / "kept" / shop.run.id / ".partial"
        aside = shop.run.hands.keep(path.parent, path.name, place)
        detail = "what a restore that was cut short had written"
        outcome.warnings.append(Advice(Reason.IGNORED_OUTPUT_KEPT, record.branch, str(aside), detail))
    registered = reads.is_registered(path)
    if registered and (locked := reads.registration(path)) and locked.locked is not None:
        git.unlock_worktree(path)
    if registered:
        git.drop_registration(path, record.tip)


def put_back_kept(past: Past, worktree: Worktree, shop: Workshop, outcome: Restored) -> None:
    """Kept files go back to their worktree; where something stands in the way, they stay where they are."""
    for place, path in past.still_kept():
        kept, target = kept_at((place, path)), worktree.path / path.rstrip("/")
        if standing := list(in_the_way(kept, target)):
            detail = f"something stands at {standing[0]}"
            outcome.warnings.append(Advice(Reason.IGNORED_OUTPUT_KEPT, past.record.branch, str(kept), detail))
        else:
            with shop.run.journal.step("put_back", path=path, place=place):
                put_back(kept, target)
            forget_emptied(shop.run.hands.home, Path(place))


def put_back_owner(record: Record, worktree: Worktree, shop: Workshop) -> None:
    if record.owner is None:
        return
    try:
        owner = Owner.from_json(record.owner)
    except ValueError:
        return
    with shop.run.journal.step("write_owner", path=record.path):
        write_owner(worktree.admin, owner)


def put_back_claim(record: Record, shop: Workshop, outcome: Restored) -> None:
    """The manifest's entry; a manifest that has gone since is not made again. Raises WaveError."""
    if record.manifest is None or record.recorded is None:
        return
    if not os.path.lexists(record.manifest):
        gone = Advice(Reason.MANIFEST_READ_FAILED, record.branch, record.manifest, "it is gone; nothing was recorded")
        outcome.warnings.append(gone)
        return
    with shop.run.journal.step("record_entry", path=record.manifest):
        put_back_entry(Path(record.manifest), record.recorded, shop.settings.branch_pattern)
    outcome.entry_recorded = True
