"""Finalize a worktree: commit what its agent left, and say whether there is any work on its branch."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.links import Worktree
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.git.writes import Writes, backup_prefix
from git_wave.lifecycle.committing import Commission, Tools, commit_everything
from git_wave.lifecycle.discard import Discarded, discard
from git_wave.lifecycle.records import Record
from git_wave.lifecycle.subject import Named, Subject, find_claim, find_subject, home_layout, place_of, work_of
from git_wave.lifecycle.workshop import workshop
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, Refusal, WaveError
from git_wave.model.names import Oid, Ref
from git_wave.model.reasons import Reason
from git_wave.settings import Settings
from git_wave.state.journal import new_wave_id


@dataclass(slots=True)
class Finalized:
    """What came of it, filled in on the way: what stands here is true however it ended."""

    reason: Reason = Reason.OK
    hint: str = ""
    path: Path | None = None
    subject: Subject | None = None
    tip: Oid | None = None
    commit: Oid | None = None
    produced_work: bool | None = None
    staged: str | None = None
    dropped: bool = False
    restore: str | None = None
    record: Record | None = None
    kept: list[str] = field(default_factory=list)
    regenerable: int = 0
    warnings: list[Advice] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.reason in (Reason.OK, Reason.NO_WORK, Reason.DROPPED_EMPTY)

    def as_json(self) -> dict[str, Any]:
        subject, record = self.subject, self.record
        return {
            "agent_id": subject.agent_id if subject else record and record.agent_id,
            "worktree_path": str(self.path) if self.path else record and record.path,
            "branch": subject.branch if subject else record and record.branch,
            "base": subject and subject.base,
            "baseline": subject and subject.baseline,
            "tip": self.tip or (record and record.tip),
            "commit": self.commit,
            "auto_committed": self.commit is not None,
            "produced_work": self.produced_work,
            "staged": self.staged,
            "dropped": self.dropped,
            "restore": self.restore,
            "kept": self.kept,
            "regenerable_dropped": self.regenerable,
        }


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done: `message` of the commit, and whether a branch without work goes, waiting for the lock."""

    named: Named
    message: str | None = None
    drop_empty: bool = False
    wait: float = 0


def finalize(door: Door, layout: Layout, settings: Settings, order: Order, outcome: Finalized) -> None:
    """Commit what the worktree holds. Fills `outcome` in; raises WaveError."""
    with Reads(door, layout) as reads:
        claim = find_claim(order.named, layout.root, settings.branch_pattern)
        outcome.path = path = place_of(order.named, claim) if claim or order.named.manifest is None else None
        home = home_layout(layout, reads, path)
        if order.drop_empty and (path is None or is_gone(path, reads)):
            drop(door, home, settings, order, outcome)
            return
        subject = find_subject(order.named, claim, reads, settings.branch_pattern, strict=order.drop_empty)
        outcome.subject, outcome.tip = subject, subject.tip
        if subject.worktree is not None:
            commit_subject(subject, subject.worktree, order.message, (door, layout, settings), outcome)
        judge(subject, reads, outcome)
    if order.drop_empty and outcome.produced_work is None:
        raise WaveError(Reason.BASE_UNKNOWN, f"neither manifest nor owner record tells where {subject.branch} forked")
    if order.drop_empty and not outcome.produced_work:
        drop(door, home, settings, order, outcome)


def is_gone(path: Path, reads: Reads) -> bool:
    """Neither there nor registered: only an earlier command's record can tell of it."""
    try:
        return reads.presence(path) is Presence.GONE and not reads.is_registered(path)
    except GitError as error:
        raise Refusal(Reason.NOT_A_WORKTREE, str(error)) from error


def drop(door: Door, home: Layout, settings: Settings, order: Order, outcome: Finalized) -> None:
    """Discard a branch that holds no work; whether it does is asked once more. Raises WaveError."""
    discarded = Discarded(Reason.DROPPED_EMPTY)
    try:
        with workshop(door, home, settings, order.wait) as shop:
            discard(order.named, shop, discarded, force=False, dry_run=False)
    finally:
        outcome.kept, outcome.regenerable, outcome.record = discarded.kept, discarded.dropped, discarded.record
        outcome.restore = discarded.as_json()["restore"]
    outcome.reason, outcome.dropped, outcome.produced_work = Reason.DROPPED_EMPTY, True, False


def commit_subject(
    subject: Subject,
    worktree: Worktree,
    message: str | None,
    place: tuple[Door, Layout, Settings],
    outcome: Finalized,
) -> None:
    """Commit with the worktree's own config, so that it is signed and named as the agent's commits would be."""
    door, layout, settings = place
    own = Layout(worktree.path, worktree.admin, layout.common_dir)
    writes = Writes(door, own, lock_patience=settings.lock_timeout)
    run_id = new_wave_id(layout.common_dir, datetime.now(UTC))
    keep_at = Ref(f"{backup_prefix(run_id)}staged/{subject.branch}")
    said = message or f"chore: commit what {subject.agent_id or subject.branch} left"
    job = Commission(subject.branch, said, keep_at)
    try:
        with Reads(door, own) as reads:
            commit_everything(worktree, job, Tools(reads, Snapshots(door, own), writes))
    finally:
        outcome.tip, outcome.commit, outcome.staged = job.tip or subject.tip, job.commit, job.staged


def judge(subject: Subject, reads: Reads, outcome: Finalized) -> None:
    """Is there work on the branch? What cannot be told stays unknown."""
    try:
        work = work_of(subject, outcome.tip or subject.tip, reads)
    except GitError:
        return
    outcome.produced_work = None if work is None else bool(work)
    if work == []:
        outcome.reason = Reason.NO_WORK
