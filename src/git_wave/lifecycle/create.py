"""Make a branch and a linked worktree, and record them, so that the wave can land them at once.

The order is what makes it safe: all that can be refused is refused first; then a record of what is about to be made is
written; then the branch, the worktree, the user's uncommitted work if that is wanted, and last the manifest. Whatever
fails on the way takes back what this call has made. Whoever dies on the way leaves the record, and the next create
does the same for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from git_wave.git.reads import Reads
from git_wave.git.snapshots import Snapshots
from git_wave.git.writes import Writes
from git_wave.lifecycle.making import Maker, Opened, TakenMeanwhile, add, furnish, record, require_made
from git_wave.lifecycle.plan import (
    Plan,
    is_taken,
    require_free,
    require_recordable,
    require_room,
    resolved_base,
)
from git_wave.lifecycle.replay import Bounds, Captured, capture
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, GitLocked, WaveError
from git_wave.model.reasons import Reason
from git_wave.recovery import MARK
from git_wave.state.below import directory_below
from git_wave.state.creating import Intent, begun, one_at_a_time
from git_wave.state.manifest_file import load_document
from git_wave.unfinished import Settled, Tools, settle_creations, undo


@dataclass(frozen=True, slots=True)
class Created:
    """What a create has made. `entry` is as the manifest has it, `cwd` is where the agent should work."""

    entry: dict[str, Any]
    path: Path
    cwd: Path
    reason: Reason = Reason.OK
    locked: bool = False
    captured: Captured | None = None
    warnings: tuple[Advice, ...] = ()


class LeftBehind(WaveError):
    """A create failed, and what it had made could not be taken back; `path` is where it stands."""

    def __init__(self, error: WaveError, left: str, path: Path) -> None:
        super().__init__(error.reason, f"{error.detail}\nleft behind: {path}: {left}")
        self.path = path


def create(plan: Plan, opened: Opened) -> Created:
    """Raises WaveError, with everything as it was but for what dead creates had left; or Interrupted, likewise."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{os.getpid()}"
    door = opened.door.with_variables({MARK: run_id})
    with Reads(door, opened.layout) as reads:
        writes = Writes(door, opened.layout, lock_patience=opened.settings.lock_timeout)
        tools = Tools(reads, writes, Snapshots(door, opened.layout), opened.door.timeout)
        with as_wave_errors():
            settled = settle_creations(tools)
            if done := finished_before(settled, plan, opened):
                return done
            return make(plan, run_id, opened, tools, told(settled))


def make(plan: Plan, run_id: str, opened: Opened, tools: Tools, warnings: list[Advice]) -> Created:
    reads = tools.reads
    document = load_document(plan.order.manifest)
    for branch, path in vacancies(plan, reads, document, opened.settings.branch_pattern):
        base = resolved_base(plan, reads)
        captured = capture(base, reads, tools.snapshots, bounds_of(plan, opened)) if plan.order.replay else None
        tree = captured.files if captured else reads.objects.tree(base)
        facts = (run_id, str(plan.order.manifest), plan.agent_id, branch, str(path), base, tree)
        with begun(reads.layout.common_dir, Intent(*facts, parents=missing_above(path))) as creating:
            maker = Maker(plan, opened, tools, creating, captured, warnings)
            try:
                return made(maker)
            except TakenMeanwhile:
                creating.forget()
    raise WaveError(Reason.BRANCH_EXISTS, f"there is a branch {plan.branch} already; --unique takes the next free name")


def bounds_of(plan: Plan, opened: Opened) -> Bounds:
    return Bounds(plan.order.limits, tuple(opened.settings.sidecars), plan.order.manifest.resolve())


def vacancies(plan: Plan, reads: Reads, document: Any, pattern: str) -> Iterator[tuple[str, Path]]:
    """Branch names and paths that are free, in the order in which to try them. Raises WaveError."""
    for branch in plan.candidates():
        path = plan.path_for(branch)
        try:
            require_recordable(plan, branch, path, document, pattern)
            if is_taken(branch, reads):
                continue
            require_room(branch, reads)
            require_free(path, reads)
        except WaveError as error:
            recorded = error.reason is Reason.DUPLICATE_ENTRY
            if plan.order.unique and (recorded or is_occupied(branch, path, plan, reads)):
                continue
            raise
        yield branch, path


def is_occupied(branch: str, path: Path, plan: Plan, reads: Reads) -> bool:
    """Whether it is this very name that is not free, so that another one may be."""
    if is_taken(branch, reads) or reads.has_branches_below(branch):
        return True
    return plan.order.path is None and (os.path.lexists(path) or reads.is_registered(path))


def made(maker: Maker) -> Created:
    """Make it all, or take back what was made. Raises WaveError, TakenMeanwhile or Interrupted."""
    try:
        with as_wave_errors():
            add(maker)
            worktree = require_made(maker)
            entry = furnish(maker, worktree)
            cwd = cwd_in(maker.plan, maker.path, maker.tools.reads)
            record(maker, worktree, entry)
    except BaseException as error:
        left = take_back(maker)
        if left and isinstance(error, WaveError):
            raise LeftBehind(error, left, maker.path) from error
        raise
    # Before it is forgotten: who dies in between leaves a lock that the next create takes off.
    locked = maker.plan.order.lock or not unlocked(maker)
    maker.creating.forget()
    return Created(entry, maker.path, cwd, Reason.OK, locked, maker.captured, tuple(maker.warnings))


def unlocked(maker: Maker) -> bool:
    """Take off the lock under which the worktree was made. One that stays is a harness's lock to the wave."""
    try:
        maker.tools.writes.unlock_worktree(maker.path)
    except GitError:
        return False
    return True


@contextmanager
def as_wave_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise WaveError(Reason.REPO_LOCKED, str(error)) from error
    except GitLocked as error:
        raise WaveError(Reason.REPO_LOCKED, error.lock_file) from error
    except GitError as error:
        raise WaveError(Reason.GIT_FAILED, str(error)) from error
    except OSError as error:
        raise WaveError(Reason.STATE_UNWRITABLE, str(error)) from error


def missing_above(path: Path) -> tuple[str, ...]:
    """Directories that have to be made for `path`, innermost first."""
    missing = []
    for parent in path.parents:
        if os.path.lexists(parent):
            break
        missing.append(str(parent))
    return tuple(missing)


def take_back(maker: Maker) -> str:
    """Whatever this call has made goes. Else why not; then the record stays for the next create."""
    try:
        with one_at_a_time(maker.tools.reads.layout.common_dir, maker.opened.checkout_timeout):
            left = undo(maker.intent, maker.tools, trusted=True)
            if not left:
                maker.creating.forget()
    except OSError as error:
        return str(error)
    return left


def cwd_in(plan: Plan, path: Path, reads: Reads) -> Path:
    """The same place inside the worktree that the root has inside its checkout, made if it is not there.

    Never through a link that the base has on the way: it may lead out. Raises WaveError.
    """
    below = plan.root.relative_to(reads.layout.root)
    try:
        with directory_below(path, str(below / "_"), create=True):
            return path / below
    except OSError as error:
        why = f"{below} cannot be a directory of the worktree: {error}"
        raise WaveError(Reason.WORKTREE_ADD_FAILED, why) from error


def finished_before(settled: Sequence[Settled], plan: Plan, opened: Opened) -> Created | None:
    """The same create, cut short after the manifest was written: done but for saying so."""
    wanted = (str(plan.order.manifest), plan.agent_id)
    for one in settled:
        if one.completed and (one.intent.manifest, one.intent.agent_id) == wanted:
            document = load_document(plan.order.manifest)
            entries = document if isinstance(document, list) else document["worktrees"]
            entry = next(e for e in entries if isinstance(e, dict) and e.get("branch") == one.intent.branch)
            path = Path(one.intent.path)
            below = plan.root.relative_to(opened.layout.root)
            return Created(entry, path, path / below, Reason.ALREADY_CREATED, one.locked)
    return None


def told(settled: Sequence[Settled]) -> list[Advice]:
    codes = {False: Reason.UNFINISHED_CREATE_UNDONE, True: Reason.UNFINISHED_CREATE_KEPT}
    return [
        Advice(codes[bool(one.left)], one.intent.branch, one.intent.path, one.left or None)
        for one in settled
        if not one.completed
    ]
