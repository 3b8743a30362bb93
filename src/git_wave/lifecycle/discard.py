"""Discard a worktree: take it and its branch away without landing, so that it can be brought back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.lifecycle.committing import READ_ERRORS, State
from git_wave.lifecycle.entries import has_entry, require_writable
from git_wave.lifecycle.gates import (
    looked_into,
    require_clean,
    require_no_work,
    require_nothing_beside,
    require_removable,
    require_single,
    require_unlocked,
    sorted_ignored,
)
from git_wave.lifecycle.records import Past, Record, kept_at
from git_wave.lifecycle.removing import Files, Removal, save_files, telling, wip_commit
from git_wave.lifecycle.subject import (
    Claim,
    Named,
    Subject,
    find_claim,
    find_subject,
    place_of,
    real_but_last,
    require_namespace,
)
from git_wave.lifecycle.workshop import Workshop
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, Refusal, WaveError
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.running import Run
from git_wave.state.kept import kept_place

LEFT_OVERS = "git has let go of the worktree; delete what is left of its files yourself, and run the same again"
DONE = (Reason.DISCARDED, Reason.ALREADY_DISCARDED, Reason.WOULD_DISCARD, Reason.DROPPED_EMPTY)


@dataclass(slots=True)
class Discarded:
    """What came of it, filled in on the way: what stands here is true however it ended."""

    reason: Reason = Reason.DISCARDED
    hint: str = ""
    path: Path | None = None
    subject: Subject | None = None
    record: Record | None = None
    saved: bool = False
    kept: list[str] = field(default_factory=list)
    dropped: int = 0
    warnings: list[Advice] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.reason in DONE

    def as_json(self) -> dict[str, Any]:
        """Backups are named only once they are there."""
        subject, record = self.subject, self.record
        saved = record if self.saved else None
        return {
            "id": saved and saved.run_id,
            "agent_id": record.agent_id if record else subject and subject.agent_id,
            "worktree_path": record.path if record else self.path and str(self.path),
            "branch": record.branch if record else subject and subject.branch,
            "tip": record.tip if record else subject and subject.tip,
            "backup": saved and saved.backup,
            "wip": {"ref": saved.wip_ref, "commit": saved.wip} if saved and saved.wip else None,
            "restore": saved and saved.restore,
            "kept": self.kept,
            "regenerable_dropped": self.dropped,
        }


def discard(named: Named, shop: Workshop, outcome: Discarded, *, force: bool, dry_run: bool) -> None:
    """Take a worktree, its branch and its entry away. Fills `outcome` in; raises WaveError."""
    pattern = shop.settings.branch_pattern
    claim = find_claim(named, shop.reads.layout.root, pattern)
    outcome.path = place_of(named, claim) if claim or named.manifest is None else None
    with telling(Reason.GIT_FAILED):
        past = past_of(named, claim, shop)
    if past is not None:
        finish(past, shop, outcome, dry_run=dry_run)
        return
    try:
        outcome.subject = subject = find_subject(named, claim, shop.reads, pattern)
    except Refusal as refusal:
        if refusal.reason is Reason.NOT_A_WORKTREE and any(is_cut_short(past, named, claim) for past in shop.pasts):
            raise WaveError(Reason.WORKTREE_REMOVE_FAILED, f"{LEFT_OVERS}: {outcome.path}") from refusal
        raise
    state = require_discardable(subject, shop, force=force)
    if dry_run:
        outcome.reason, outcome.kept = Reason.WOULD_DISCARD, places_to_be(subject, state, shop)
        return
    take_away(subject, state, shop, outcome)


def require_discardable(subject: Subject, shop: Workshop, *, force: bool) -> State | None:
    """Every question before anything is changed; what is uncommitted in a worktree that is there.

    Raises WaveError.
    """
    reads, worktree = shop.reads, subject.worktree
    require_namespace(subject.branch, shop.settings.branch_pattern)
    if subject.claim is not None:
        require_writable(subject.claim.manifest)
    with telling(Reason.GIT_FAILED):
        require_unlocked(subject, reads.registration(subject.path))
    require_single(subject, reads)
    if not force:
        require_no_work(subject, reads)
    if worktree is None:
        begun = [past.record.wip for past in shop.pasts if is_unfinished_for(past, subject)]
        require_nothing_beside(subject, reads, begun[-1] if begun else None)
        return None
    state = looked_into(worktree, subject, reads)
    if not force:
        require_clean(state)
    require_removable(worktree)
    return state


def places_to_be(subject: Subject, state: State | None, shop: Workshop) -> list[str]:
    """Where ignored files would be kept."""
    if subject.worktree is None or state is None:
        return []
    place = kept_place(shop.reads.layout.common_dir, shop.run.id, subject.branch)
    return [str(kept_at((str(place), path))) for path in sorted_ignored(subject.worktree, state).keep]


def take_away(subject: Subject, state: State | None, shop: Workshop, outcome: Discarded) -> None:
    """Save what is there, then remove it, as a run on record. Raises WaveError."""
    files, wip = None, None
    unfinished = [past for past in shop.pasts if is_unfinished_for(past, subject)]
    if subject.worktree is not None and state is not None:
        files = save_files(subject.worktree, state, shop.snapshots)
        wip = earlier_wip(unfinished, files, shop) or wip_commit(files, subject, shop.snapshots)
    elif unfinished:
        wip = unfinished[-1].record.wip
    earlier = tuple(dict.fromkeys(pair for past in unfinished for pair in past.still_kept()))
    record = Record(shop.run.id, str(subject.path), subject.branch, subject.tip, wip, subject.agent_id)
    if subject.claim:
        record = replace(record, manifest=str(subject.claim.manifest), recorded=subject.claim.raw)
    owner = subject.owner.as_json() if subject.owner else None
    run_removal(replace(record, owner=owner, earlier=earlier), subject, files, shop, outcome)


def run_removal(
    record: Record, subject: Subject | None, files: Files | None, shop: Workshop, outcome: Discarded
) -> None:
    """The run itself, from the journal's first line to its last. Raises WaveError."""
    run = shop.run
    manifest = record.manifest and {"manifest": record.manifest, "entries": 1}
    try:
        run.begin("discard", record.ref, record.tip, **(manifest or {}))
    except JournalError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, str(error)) from error
    run.journal.about(None, record.branch)
    removal = Removal(record, run, shop.snapshots, shop.settings, subject, files)
    outcome.record = record
    reason = Reason.INTERRUPTED
    try:
        removal.carry_out()
        reason = outcome.reason
    except WaveError as error:
        reason = error.reason
        raise
    finally:
        outcome.kept = [*(str(kept_at(pair)) for pair in record.earlier), *removal.kept]
        outcome.dropped = removal.dropped
        outcome.saved = is_saved(record, run.reads)
        end(run, reason, record.tip)


def is_saved(record: Record, reads: Reads) -> bool:
    try:
        return all(reads.objects.commit(ref) == oid for ref, oid in record.refs.items())
    except GitError:
        return False


def end(run: Run, reason: Reason, tip: Oid) -> None:
    """What happened has happened, whether or not it can be noted."""
    try:
        run.journal.write("ended", ok=reason in DONE, reason=reason, head=tip)
    except JournalError:
        return


# -- what an earlier discard of the same worktree left


def is_unfinished_for(past: Past, subject: Subject) -> bool:
    record = past.record
    same = (record.path, record.branch, record.tip) == (str(subject.path), subject.branch, subject.tip)
    return same and not past.finished and past.restored_by is None


def earlier_wip(unfinished: Iterable[Past], files: Files, shop: Workshop) -> Oid | None:
    """The commit of a discard that was killed while git deleted the files, if all that is left is in it."""
    begun = [past.record for past in unfinished if past.removal_begun and past.record.wip]
    if not begun or (wip := begun[-1].wip) is None:
        return None
    try:
        now = files.tree or begun[-1].tip
        changed = {difference.status for difference in shop.reads.differences(wip, now)}
    except READ_ERRORS:
        return None
    return wip if changed <= {"D"} else None


def past_of(named: Named, claim: Claim | None, shop: Workshop) -> Past | None:
    """The newest discard of what was named, of which nothing stands any more; None when there is none.

    Raises GitError.
    """
    found = next((past for past in reversed(shop.pasts) if is_meant(past.record, named, claim)), None)
    if found is None or found.restored_by is not None:
        return None
    path = Path(found.record.path)
    stands = shop.reads.presence(path) is not Presence.GONE or shop.reads.is_registered(path)
    return None if stands else found


def is_meant(record: Record, named: Named, claim: Claim | None) -> bool:
    if claim is not None:
        return (record.path, record.branch) == (str(claim.place), claim.entry.branch)
    if named.path is not None and record.path != str(real_but_last(named.path)):
        return False
    if named.manifest is not None and record.manifest != str(named.manifest):
        return False
    return named.agent_id in (None, record.agent_id)


def is_cut_short(past: Past, named: Named, claim: Claim | None) -> bool:
    """Whether git has begun to remove what was named, and did not get to the end."""
    return is_meant(past.record, named, claim) and past.removal_begun and not past.finished and not past.restored_by


def finish(past: Past, shop: Workshop, outcome: Discarded, *, dry_run: bool) -> None:
    """Do what is left of a discard whose worktree is gone: branch, config section, entry. Raises WaveError."""
    record = past.record
    outcome.record, outcome.saved = record, is_saved(record, shop.reads)
    outcome.kept = [str(kept_at(pair)) for pair in past.still_kept()]
    with telling(Reason.GIT_FAILED):
        left = is_left(past, shop)
    if not left:
        outcome.reason = Reason.ALREADY_DISCARDED
    elif dry_run:
        outcome.reason = Reason.WOULD_DISCARD
    else:
        again = replace(record, run_id=shop.run.id, earlier=past.still_kept())
        run_removal(again, None, None, shop, outcome)


def is_left(past: Past, shop: Workshop) -> bool:
    """Whether anything of a discard is still to do. A branch made since is not ours to delete."""
    record = past.record
    branch = shop.reads.objects.commit(record.ref)
    if past.finished and branch is not None:
        return False
    if branch is not None or (not past.finished and record.branch in shop.settings.configured_branches):
        return True
    if record.manifest is None or record.recorded is None:
        return False
    return has_entry(Path(record.manifest), record.recorded, shop.settings.branch_pattern)
