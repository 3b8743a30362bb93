"""The loop: every entry through the eight stages, one after another, into one checkout.

One bad entry never stops the others. The wave ends early in two cases only: the checkout is left mid-merge,
or a signal asks us to stop. Then the entries not reached are `pending`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from git_wave.git.reads import Reads
from git_wave.git.rehearsal import Rehearsal
from git_wave.model.entry import Advice, Entry, InvalidEntry, Manifest
from git_wave.model.errors import GitError, GitLocked, Interrupted, Refusal
from git_wave.model.names import Oid, heads_ref
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.stages import STAGES
from git_wave.stages._case import Act, Case, Gate, Hands, Status, Step, Stop, Target, WaveTerms

logger = logging.getLogger("git_wave.wave")


@dataclass(frozen=True, slots=True)
class Ended:
    """How one entry ended. `case` is None for an entry that could not be used."""

    entry: Entry | InvalidEntry
    status: Status
    reason: Reason
    stage: str | None = None
    detail: str = ""
    warnings: tuple[Advice, ...] = ()
    case: Case | None = None
    advice: str = ""

    @property
    def landed(self) -> bool:
        return self.status in (Status.MERGED_REMOVED, Status.WOULD_LAND)


@dataclass(frozen=True, slots=True)
class WaveOutcome:
    """How a wave ended. `signum` is the signal that ended it, None when none did."""

    target: Target
    head_after: Oid | None
    entries: tuple[Ended, ...]
    pending: tuple[Entry | InvalidEntry, ...]
    warnings: tuple[Advice, ...] = ()
    signum: int | None = None
    dry_run: bool = False

    @property
    def ok(self) -> bool:
        return not self.pending and all(ended.landed for ended in self.entries)


class Observer:
    """Told what happens while it happens. This one says nothing."""

    def wave_began(self, total: int) -> None: ...
    def stage_began(self, number: int, entry: Entry, stage: str) -> None: ...
    def entry_ended(self, number: int, ended: Ended) -> None: ...


@dataclass(frozen=True, slots=True)
class Wave:
    """All that a run needs: what to land, where, on what terms, and with which hands.

    Without hands it is a dry run, and `reads` is a `Rehearsal`.
    """

    manifest: Manifest
    target: Target
    terms: WaveTerms
    reads: Reads
    hands: Hands | None
    observer: Observer = field(default_factory=Observer)

    def run(self) -> WaveOutcome:
        """Never raises for what an entry is like; Interrupted ends up in the outcome."""
        entries = self.manifest.entries
        self.observer.wave_began(len(entries))
        reads = self.reads
        ended: list[Ended] = []
        target, signum, halted = self.target, None, False
        for number, entry in enumerate(entries):
            one = _One(self, reads, number)
            result = one.end(entry, target)
            ended.append(result)
            self.observer.entry_ended(number, result)
            signum, halted = one.signum, one.halted
            if halted or signum is not None:
                break
            target = self._next_target(reads, target, result)
        pending = entries[len(ended) :]
        head = target.oid if self.hands is None else commit_or_none(reads, "HEAD")
        return WaveOutcome(self.target, head, tuple(ended), pending, self.manifest.warnings, signum, self.hands is None)

    def _next_target(self, reads: Reads, target: Target, ended: Ended) -> Target:
        """Where the next entry lands: on what the branch holds now, or on the merge that a dry run pretends."""
        merged = ended.case.merge_commit if ended.case else None
        if self.hands is None:
            return Target(target.ref, merged or target.oid)
        return Target(target.ref, commit_or_none(reads, target.ref) or merged or target.oid)


class _One:
    """One entry's way through the stages."""

    def __init__(self, wave: Wave, reads: Reads, number: int) -> None:
        self._wave, self._reads, self._number = wave, reads, number
        self.halted = False
        self.signum: int | None = None

    def end(self, entry: Entry | InvalidEntry, target: Target) -> Ended:
        if isinstance(entry, InvalidEntry):
            detail = "\n".join(map(str, entry.problems))
            return Ended(entry, Status.BLOCKED, Reason.INVALID_ENTRY, "manifest", detail)
        case = Case(entry, self._reads.layout.root / entry.worktree_path, target, self._wave.terms)
        warnings: list[Advice] = []
        for stage in STAGES:
            self._wave.observer.stage_began(self._number, entry, stage.name)
            step = self._ask(stage, case)
            case = step.case
            warnings += step.warnings
            if isinstance(step, Stop):
                self.halted = step.halt
                return Ended(
                    entry, step.status, step.reason, stage.name, step.detail, tuple(warnings), case, step.advice
                )
        status = Status.MERGED_REMOVED if self._wave.hands else Status.WOULD_LAND
        return Ended(entry, status, case.reason, None, "", tuple(warnings), case)

    def _ask(self, stage: Gate | Act, case: Case) -> Step:
        try:
            return self._answer(stage, case)
        except Interrupted as interrupted:
            self.signum = interrupted.signum
            return Stop(case, Reason.INTERRUPTED, f"signal {interrupted.signum} during {stage.name}")
        except GitLocked as error:
            return Stop(case, Reason.REPO_LOCKED, error.lock_file, halt=self._reads.is_mid_merge())
        except JournalError as error:
            return Stop(case, Reason.JOURNAL_FAILED, str(error), halt=self._reads.is_mid_merge())
        except Exception as error:
            logger.exception("stage %s failed on %s", stage.name, case.entry.branch)
            halt = self._wave.hands is not None and self._reads.is_mid_merge()
            return Stop(case, Reason.INTERNAL_ERROR, f"{type(error).__name__}: {error}", halt=halt)

    def _answer(self, stage: Gate | Act, case: Case) -> Step:
        if isinstance(stage, Gate):
            return stage.check(case, self._reads)
        if self._wave.hands is not None:
            return stage.perform(case, self._reads, self._wave.hands)
        assert isinstance(self._reads, Rehearsal)
        return stage.rehearse(case, self._reads)


def require_target(reads: Reads, expect_branch: str | None) -> Target:
    """The branch to land into, in a checkout that is free to be landed into. Raises Refusal."""
    try:
        look = reads.target_look()
        busy = [*reads.operations(), *(f"unmerged: {path}" for path in look.unmerged)]
    except (GitError, OSError) as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    if busy:
        raise Refusal(Reason.REPO_BUSY, "\n".join(busy))
    if look.branch is None:
        raise Refusal(Reason.DETACHED_HEAD, f"{reads.layout.root} is on no branch")
    if expect_branch is not None and look.branch != expect_branch.removeprefix("refs/heads/"):
        raise Refusal(Reason.UNEXPECTED_BRANCH, f"{reads.layout.root} is on {look.branch}, not on {expect_branch}")
    if look.oid is None:
        raise Refusal(Reason.UNBORN_HEAD, f"{look.branch} has no commit yet")
    return Target(heads_ref(look.branch), look.oid)


def resolve_bases(entries: Sequence[Entry], reads: Reads) -> dict[str, Oid | None]:
    """The commit that each declared base means, all looked up once, before the wave moves anything."""
    names = dict.fromkeys(name for entry in entries for name in entry.allowed_bases)
    try:
        return {name: reads.commit_by_id(name) for name in names}
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error


def commit_or_none(reads: Reads, name: str) -> Oid | None:
    try:
        return reads.objects.commit(name)
    except GitError:
        return None
