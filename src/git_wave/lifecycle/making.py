"""The steps of a create: branch, worktree, the user's uncommitted work, and the records. Each raises when it fails.

Nothing here takes anything back: that is for whoever calls the steps, who knows how far they came.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.indexes import Indexes
from git_wave.git.layout import Layout
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.parse import SUBMODULE
from git_wave.lifecycle.plan import (
    Order,
    Plan,
    is_taken,
    raw_entry,
)
from git_wave.lifecycle.replay import Captured, replay
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, GitLocked, GitTimeout, WaveError
from git_wave.model.names import Oid, heads_ref
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.recording import append_entry
from git_wave.settings import Settings
from git_wave.state.creating import Creating, Intent, one_at_a_time
from git_wave.state.owner import write_owner
from git_wave.unfinished import Tools, made_by

BASELINE = """git-wave: baseline of {branch}

What was uncommitted in the user's checkout when this worktree was made, so that
the agent sees what the user saw. It is the user's work and no agent's.
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """The repository to work in. `checkout_timeout` is how many seconds git may take to make the worktree."""

    door: Door
    layout: Layout
    settings: Settings
    checkout_timeout: float


class TakenMeanwhile(Exception):
    """Somebody has made the branch, or one below it, since it was looked for."""


@dataclass(slots=True)
class Maker:
    """One create under way: its plan, what it works with, and the record it keeps."""

    plan: Plan
    opened: Opened
    tools: Tools
    creating: Creating
    captured: Captured | None
    warnings: list[Advice] = field(default_factory=list)

    @property
    def intent(self) -> Intent:
        return self.creating.intent

    @property
    def path(self) -> Path:
        return Path(self.intent.path)


def add(maker: Maker) -> None:
    """The branch, then the worktree: one create at a time. Raises WaveError."""
    order, intent, writes = maker.plan.order, maker.intent, maker.tools.writes
    timeout = maker.opened.checkout_timeout
    with one_at_a_time(maker.tools.reads.layout.common_dir, timeout):
        try:
            writes.create_branch(intent.branch, Oid(intent.base), made_by(intent))
        except GitLocked:
            raise
        except GitError as error:
            reads = maker.tools.reads
            if is_taken(intent.branch, reads) or reads.has_branches_below(intent.branch):
                raise TakenMeanwhile from error
            raise WaveError(Reason.WORKTREE_ADD_FAILED, f"{intent.branch} could not be made: {error}") from error
        try:
            writes.create_worktree(maker.path, intent.branch, lock_reason(order, intent), timeout)
        except GitTimeout as error:
            raise WaveError(Reason.WORKTREE_ADD_TIMED_OUT, str(error)) from error
        except GitLocked:
            raise
        except GitError as error:
            raise WaveError(Reason.WORKTREE_ADD_FAILED, str(error)) from error


def lock_reason(order: Order, intent: Intent) -> str:
    """The lock's reason: for whom, and by which create, for that is how the worktree is known while it is made.

    An agent's id that would read as a process's is left out.
    """
    if not order.lock:
        return made_by(intent)
    agent = "" if re.search(r"\bpid\b", intent.agent_id, re.IGNORECASE) else f" {intent.agent_id}"
    owner = "" if order.owner_pid is None else f" (pid {order.owner_pid})"
    return f"git-wave: agent{agent}{owner}; {made_by(intent)}"


def require_made(maker: Maker) -> Worktree:
    """The new worktree, proven: git's word that it made one is not enough. Raises WaveError."""
    reads, intent = maker.tools.reads, maker.intent
    try:
        worktree = reads.worktree_at(maker.path)
        where = reads.worktree_head(worktree)
    except (BrokenLink, OSError, GitError) as error:
        raise WaveError(Reason.WORKTREE_ADD_FAILED, f"{maker.path}: {error}") from error
    if where != (intent.base, heads_ref(intent.branch)):
        raise WaveError(Reason.WORKTREE_ADD_FAILED, f"{maker.path} came to be on {where[1]} at {where[0]}")
    return worktree


def furnish(maker: Maker, worktree: Worktree) -> dict[str, Any]:
    """Make the user's uncommitted work in the worktree, if there is any; the entry to record. Raises WaveError."""
    entry = raw_entry(maker.plan, maker.intent.branch, maker.path, Oid(maker.intent.base))
    captured = maker.captured
    if captured is None:
        return entry
    indexes = Indexes(maker.opened.door)
    replay(captured, maker.tools.reads.layout.root, worktree, indexes)
    if captured.skipped:
        what = f"the manifest, sidecars and linked worktrees, left out: {captured.skipped}"
        maker.warnings.append(Advice(Reason.REPLAY_SKIPPED, maker.intent.branch, None, what))
    if not maker.plan.order.baseline:
        indexes.read_tree(worktree, captured.staged)
        # A submodule that is not checked out has its commit in the index or nowhere.
        indexes.take_files(worktree, [change for change in captured.changes if change.mode == SUBMODULE])
        return entry
    baseline = commit_baseline(maker, captured)
    if baseline is None:
        return entry
    deletions = dict.fromkeys([*entry["declared_deletions"], *captured.deleted])
    return {**entry, "declared_deletions": list(deletions), "baseline": baseline}


def commit_baseline(maker: Maker, captured: Captured) -> Oid | None:
    """Commit the replayed state; None where it is on disk what HEAD has, and only staged otherwise."""
    intent = maker.intent
    if captured.files == captured.base:
        return None
    message = BASELINE.format(branch=intent.branch)
    try:
        baseline = maker.tools.snapshots.commit(captured.files, [Oid(intent.base)], message)
        maker.creating.note(baseline=baseline)
        maker.tools.writes.advance_branch(intent.branch, baseline, Oid(intent.base))
    except GitError as error:
        raise WaveError(Reason.COMMIT_FAILED, f"the baseline could not be committed: {error}") from error
    what = f"{baseline} holds the user's uncommitted work: landing this branch brings it in as a commit"
    maker.warnings.append(Advice(Reason.BASELINE_HOLDS_EDITS, intent.branch, None, what))
    return baseline


def record(maker: Maker, worktree: Worktree, entry: dict[str, Any]) -> None:
    """The owner's record beside the worktree, then the guarded write. Raises WaveError or OSError."""
    order, settings = maker.plan.order, maker.opened.settings
    now = datetime.now(UTC).isoformat(timespec="seconds")
    facts = (order.session, order.parent, str(order.manifest), maker.intent.base, entry.get("baseline"))
    write_owner(worktree.admin, Owner(maker.plan.agent_id, maker.intent.branch, now, *facts))
    append_entry(order.manifest, entry, lambda _document: settings.branch_pattern)
