"""Remove one worktree that somebody names. Its branch stays, and nothing is forced.

All that can be refused is refused first. What is uncommitted is committed on the branch if that is asked for; then all
gates are asked again, right before git is told to remove the worktree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from git_wave.gates import Kind, Subject, Verb, judge
from git_wave.git.parse import Registration
from git_wave.git.presence import Presence
from git_wave.git.writes import backup_prefix
from git_wave.lifecycle.committing import Commission, Tools, commit_everything
from git_wave.model.entry import Advice
from git_wave.model.errors import WaveError
from git_wave.model.names import Oid, Ref
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.reclaim.fate import Fate, Outcome
from git_wave.reclaim.removing import clear_registration, count_entries, look_gone, take_away
from git_wave.reclaim.targets import find_target
from git_wave.reclaim.yard import Yard, telling_git
from git_wave.state.journal import list_histories

MESSAGE = """wip: uncommitted on {branch} when its worktree was removed

Everything that stood in the worktree and was not ignored.
"""


@dataclass(slots=True)
class Removal:
    """What came of it, filled in on the way. `preserved` is the commit of what was uncommitted, also when the removal
    then failed; `staged` the ref that keeps what was staged in another version than on disk.
    """

    target: str
    reason: Reason = Reason.OK
    hint: str = ""
    run_id: str | None = None
    fate: Fate | None = None
    preserved: Oid | None = None
    staged: Ref | None = None
    warnings: list[Advice] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.fate is not None and self.fate.is_done and self.fate.reason is self.reason

    def as_json(self) -> dict[str, Any]:
        told = self.fate.as_json() if self.fate else {}
        names = ("worktree_path", "branch", "tip", "agent_id", "outcome", "why", "entries_before", "entries_after")
        return {
            "id": self.run_id,
            "target": self.target,
            **{name: told.get(name) for name in names},
            "why": told.get("why", []),
            "preserved": self.preserved,
            "staged": self.staged,
            "blockers": told.get("blockers", []),
        }

    def settle(self) -> None:
        """Take over what the fate says."""
        if self.fate is not None:
            self.reason, self.hint = self.fate.reason, "\n".join(self.fate.why)


def remove(removal: Removal, yard: Yard, *, preserve: bool, dry_run: bool) -> None:
    """Fills `removal` in; raises WaveError or Interrupted, and what stands in it by then is true."""
    with telling_git():
        histories = list_histories(yard.reads.layout.common_dir)
    target = find_target(removal.target, yard.place.cwd, yard.inspection(), histories)
    removal.fate = fate = Fate(target.path, target.branch)
    fate.warnings = removal.warnings
    registration = target.registration
    if registration is None:
        fate.outcome, fate.reason = Outcome.ALREADY_GONE, Reason.ALREADY_GONE
    elif yard.reads.presence(target.path) is Presence.GONE:
        take_registration(registration, yard, removal, dry_run=dry_run)
    else:
        take_worktree(target.path, yard, removal, preserve=preserve, dry_run=dry_run)
    removal.settle()


def take_registration(registration: Registration, yard: Yard, removal: Removal, *, dry_run: bool) -> None:
    """The directory is gone: drop its registration, where that loses nothing."""
    fate = fate_of(removal)
    look_gone(registration, yard.reads, fate)
    if dry_run or fate.outcome is Outcome.KEPT:
        return
    with on_record(yard, removal):
        clear_registration(registration, yard.run, fate)


def take_worktree(path: Path, yard: Yard, removal: Removal, *, preserve: bool, dry_run: bool) -> None:
    fate = fate_of(removal)
    subject = yard.fresh(path).subject(path)
    fate.learn(subject)
    verdict = judge(subject, Verb.REMOVE, preserve=preserve)
    if not fate.judged(verdict):
        return
    if dry_run:
        fate.outcome, fate.reason = Outcome.WOULD_REMOVE, Reason.WOULD_REMOVE
        return
    dirty = verdict.answers["dirt"].kind is Kind.BLOCKS
    with on_record(yard, removal):
        act(subject, yard, removal, dirty=dirty)


def act(subject: Subject, yard: Yard, removal: Removal, *, dirty: bool) -> None:
    """Commit what is uncommitted, ask everything again, remove. Raises WaveError or JournalError."""
    fate = fate_of(removal)
    if dirty:
        try:
            preserve_work(subject, yard, removal)
        except WaveError as error:
            fate.keep(error.reason, *error.detail.splitlines(), unsure=True)
            return
    fate.entries = (count_entries(subject.path), None)
    again = yard.fresh(subject.path).subject(subject.path)
    fate.learn(again)
    if fate.judged(judge(again, Verb.REMOVE)):
        take_away(again, yard.run, fate)


def preserve_work(subject: Subject, yard: Yard, removal: Removal) -> None:
    """One commit on the branch, without hooks. Raises WaveError; then index and files are as they were."""
    branch = fate_of(removal).branch or ""
    keep_at = Ref(f"{backup_prefix(yard.run.id)}staged/{branch}")
    job = Commission(branch, MESSAGE.format(branch=branch), keep_at)
    try:
        commit_everything(subject.worktree, job, Tools(yard.reads, yard.snapshots, yard.run.hands.git))
    finally:
        removal.preserved, removal.staged = job.commit, job.staged


@contextmanager
def on_record(yard: Yard, removal: Removal) -> Iterator[None]:
    """The journal of this removal, from its first line to its last. Raises Refusal."""
    fate = fate_of(removal)
    yard.begin("remove")
    removal.run_id = yard.run.id
    with yard.ending() as end:
        try:
            with yard.decision(fate):
                yield
        except JournalError as error:
            fate.keep(Reason.JOURNAL_FAILED, str(error), unsure=True)
        end.reason, end.ok = fate.reason, fate.is_done


def fate_of(removal: Removal) -> Fate:
    if removal.fate is None:
        raise AssertionError("a removal has a fate as soon as its worktree is known")
    return removal.fate
