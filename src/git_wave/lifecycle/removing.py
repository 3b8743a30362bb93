"""Taking one worktree away with its branch and its entry, backups first.

Every step looks once more right before it acts, and finds out whether it has been made already. Nothing that was
uncommitted goes that no commit of ours holds, and no ignored file that a build does not make again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.presence import Presence
from git_wave.git.snapshots import Snapshots
from git_wave.lifecycle.committing import READ_ERRORS, State
from git_wave.lifecycle.entries import remove_entry
from git_wave.lifecycle.gates import (
    looked_into,
    require_nothing_beside,
    require_removable,
    require_unlocked,
    sorted_ignored,
)
from git_wave.lifecycle.records import Record
from git_wave.lifecycle.subject import Subject
from git_wave.model.errors import GitError, GitLocked, WaveError
from git_wave.model.names import Oid
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.model.recording import JournalError
from git_wave.running import Run
from git_wave.settings import Settings
from git_wave.state.kept import kept_place


@dataclass(frozen=True, slots=True)
class Files:
    """A worktree as it was when everything in it was saved.

    `tree` is what is on disk and `index` what is staged; None where all of it is committed.
    """

    worktree: Worktree
    state: State
    tree: Oid | None = None
    index: Oid | None = None


@dataclass(slots=True)
class Removal:
    """One worktree on its way out. `subject` is None when only what comes after the worktree is left to do.

    `kept` fills with the places of ignored files; `dropped` counts those that a build makes again.
    """

    record: Record
    run: Run
    snapshots: Snapshots
    settings: Settings
    subject: Subject | None
    files: Files | None
    kept: list[str] = field(default_factory=list)
    dropped: int = 0

    def carry_out(self) -> None:
        """Raises WaveError. What has been done by then stands, and the same command again goes on from there."""
        with telling(Reason.WORKTREE_REMOVE_FAILED), self.run.journal.step("discard", **self.record.facts()):
            self.run.hands.git.keep_commits(self.record.refs)
            if self.files is not None:
                self._take_worktree(self.files)
            elif self.subject is not None:
                self._take_registration(self.subject)
            take_branch(self)
            take_section(self)
            take_entry(self)

    def _take_worktree(self, files: Files) -> None:
        subject = self.subject
        if subject is None:
            raise AssertionError("files belong to a worktree")
        require_removable(files.worktree)
        self._set_ignored_aside(files)
        require_unchanged(files, subject, self)
        reason = require_unlocked(subject, None)
        if reason is not None:
            self.run.hands.git.unlock_worktree(files.worktree.path)
        try:
            self.run.hands.git.remove_worktree(files.worktree.path, subject.tip, force=needs_force(files))
        except GitError as error:
            if self.run.reads.presence(subject.path) is not Presence.GONE or self._is_registered(subject):
                self._relock(files.worktree, reason)
                raise refused(error, Reason.WORKTREE_REMOVE_FAILED) from error
        if self.run.reads.presence(subject.path) is not Presence.GONE:
            detail = f"git reported success, but {subject.path} is still there"
            raise WaveError(Reason.WORKTREE_REMOVE_FAILED, detail)

    def _set_ignored_aside(self, files: Files) -> None:
        place = kept_place(self.run.reads.layout.common_dir, self.record.run_id, self.record.branch)
        sorting = sorted_ignored(files.worktree, files.state)
        self.dropped = sorting.dropped
        for path in sorting.keep:
            self.kept.append(str(self.run.hands.keep(files.worktree.path, path, place)))

    def _is_registered(self, subject: Subject) -> bool:
        """ "Cannot tell" counts as yes."""
        try:
            return self.run.reads.is_registered(subject.path)
        except GitError:
            return True

    def _relock(self, worktree: Worktree, reason: str | None) -> None:
        """Put back a lock that was taken off for a removal that then failed."""
        try:
            if reason is not None and worktree.lock_reason() is None:
                self.run.hands.git.lock_worktree(worktree.path, reason)
        except (OSError, GitError):
            return

    def _take_registration(self, subject: Subject) -> None:
        """Drop the registration of a directory that is gone: this one and no other."""
        reads, git = self.run.reads, self.run.hands.git
        if reads.presence(subject.path) is not Presence.GONE:
            raise WaveError(Reason.WORKTREE_REMOVE_FAILED, f"{subject.path} was gone, and is there again")
        require_nothing_beside(subject, reads, self.record.wip)
        if require_unlocked(subject, reads.registration(subject.path)) is not None:
            git.unlock_worktree(subject.path)
        try:
            git.drop_registration(subject.path, subject.tip)
        except GitError as error:
            if self._is_registered(subject):
                raise refused(error, Reason.WORKTREE_REMOVE_FAILED) from error


@contextmanager
def telling(reason: Reason) -> Iterator[None]:
    """Turn what can go wrong into a WaveError; `reason` is for what has none of its own."""
    try:
        yield
    except JournalError as error:
        raise WaveError(Reason.JOURNAL_FAILED, str(error)) from error
    except (GitError, OSError, BrokenLink) as error:
        raise refused(error, reason) from error


def refused(error: Exception, reason: Reason) -> WaveError:
    """Git did not do it: because somebody holds a lock file, or for another reason."""
    if isinstance(error, GitLocked):
        return WaveError(Reason.REPO_LOCKED, error.lock_file)
    return WaveError(reason, str(error))


def save_files(worktree: Worktree, state: State, snapshots: Snapshots) -> Files:
    """Trees of what is on disk and of what is staged, where not all of it is committed. Raises WaveError."""
    if state.is_clean:
        return Files(worktree, state)
    try:
        tree = snapshots.files_tree(worktree, state.survey.hidden, state.untracked)
        return Files(worktree, state, tree, snapshots.index_tree(worktree))
    except READ_ERRORS as error:
        raise WaveError(Reason.COMMIT_FAILED, str(error)) from error


def wip_commit(files: Files, subject: Subject, snapshots: Snapshots) -> Oid | None:
    """A commit in the form of git's stash: of the files, on the tip and on a commit of the index. Raises WaveError."""
    if files.tree is None or files.index is None:
        return None
    try:
        index = snapshots.commit(files.index, [subject.tip], f"index on {subject.branch}", sign=False)
        message = f"git-wave: uncommitted on {subject.branch} when it was discarded"
        return snapshots.commit(files.tree, [subject.tip, index], message, sign=False)
    except READ_ERRORS as error:
        raise WaveError(Reason.COMMIT_FAILED, str(error)) from error


def require_unchanged(files: Files, subject: Subject, removal: Removal) -> None:
    """Is the worktree as it was when it was saved, ignored files aside? Raises WaveError."""
    reads = removal.run.reads
    try:
        if reads.worktree_at(files.worktree.path) != files.worktree:
            raise WaveError(Reason.WORKTREE_REMOVE_FAILED, f"another worktree stands at {files.worktree.path} now")
    except (BrokenLink, OSError) as error:
        raise WaveError(Reason.WORKTREE_REMOVE_FAILED, str(error)) from error
    state = looked_into(files.worktree, subject, reads)
    if late := sorted_ignored(files.worktree, state).keep:
        raise WaveError(Reason.STILL_CHANGING, "written while others were kept:\n" + "\n".join(map(shown, late)))
    now = save_files(files.worktree, state, removal.snapshots)
    if (now.tree, now.index) != (files.tree, files.index):
        raise WaveError(Reason.STILL_CHANGING, "written since it was saved:\n" + "\n".join(state.lines()))


def needs_force(files: Files) -> bool:
    """Git's own refusal is the last safeguard; it is off only for what is saved, and for submodules, which were
    looked into.
    """
    modules = bool(files.state.survey.submodules) or (files.worktree.admin / "modules").exists()
    return files.tree is not None or modules


def take_branch(removal: Removal) -> None:
    """Delete the branch if it stands at the tip and nobody has it checked out. Raises WaveError."""
    record, run = removal.record, removal.run
    now = run.reads.objects.commit(record.ref)
    if now is None:
        return
    if now != record.tip:
        raise WaveError(Reason.BRANCH_MOVED, f"{record.branch} was at {record.tip} and is at {now} now")
    if elsewhere := run.reads.heads_on(record.ref):
        raise WaveError(Reason.BRANCH_DELETE_FAILED, "checked out in " + ", ".join(elsewhere))
    try:
        run.hands.git.delete_branch(record.branch, record.tip, record.run_id)
    except GitError as error:
        now = run.reads.objects.commit(record.ref)
        if now not in (None, record.tip):
            raise WaveError(Reason.BRANCH_MOVED, f"{record.branch} is at {now} now") from error
        if now is not None:
            raise refused(error, Reason.BRANCH_DELETE_FAILED) from error


def take_section(removal: Removal) -> None:
    """Drop the branch's own section of git's config, as deleting it with `git branch` would. Raises WaveError."""
    if removal.record.branch not in removal.settings.configured_branches:
        return
    try:
        removal.run.hands.git.remove_branch_config(removal.record.branch)
    except GitError as error:
        raise refused(error, Reason.BRANCH_DELETE_FAILED) from error


def take_entry(removal: Removal) -> None:
    """Take the entry out of the manifest. Raises WaveError."""
    record = removal.record
    if record.manifest is not None and record.recorded is not None:
        with removal.run.journal.step("remove_entry", path=record.manifest):
            remove_entry(Path(record.manifest), record.recorded, removal.settings.branch_pattern)
