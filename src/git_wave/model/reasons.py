"""Every reason and warning code there is, with what it means and what to do about it.

This is the one registry: stages name their findings by `Reason`, and `git wave explain`, the table's
last column and docs/REASONS.md are made from the same entries. A code is published: it may be added,
never renamed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Where a code appears."""

    LANDED = "landed"
    BLOCKED = "blocked"
    WARNING = "warning"
    REFUSED = "wave refused"
    RECORD = "record refused"
    UNDO = "undo"


class Reason(StrEnum):
    """A code as it stands in JSON."""

    OK = "ok"
    ALREADY_LANDED = "already_landed"

    INVALID_ENTRY = "invalid_entry"
    BRANCH_MISMATCH = "branch_mismatch"
    MAIN_WORKTREE = "main_worktree"
    BASE_MISMATCH = "base_mismatch"
    BASE_CHECK_FAILED = "base_check_failed"
    BRANCH_CONTAINS_DELETIONS = "branch_contains_deletions"
    DELETION_CHECK_FAILED = "deletion_check_failed"
    SUMMARY_RESCUE_FAILED = "summary_rescue_failed"
    WORKTREE_DIRTY = "worktree_dirty"
    DIRT_CHECK_FAILED = "dirt_check_failed"
    MERGE_FAILED = "merge_failed"
    MERGE_TIMED_OUT = "merge_timed_out"
    WOULD_OVERWRITE = "would_overwrite"
    TARGET_MOVED = "target_moved"
    WORKTREE_REMOVE_FAILED = "worktree_remove_failed"
    WORKTREE_LOCKED = "worktree_locked"
    BRANCH_MOVED = "branch_moved"
    BRANCH_DELETE_FAILED = "branch_delete_failed"
    INTERRUPTED = "interrupted"

    ACCEPTED_ABSENT_WORKTREE = "accepted_absent_worktree"
    SCOPE_OUT_OF_DECLARED = "scope_out_of_declared"
    SCOPE_CHECK_UNAVAILABLE = "scope_check_unavailable"
    DUPLICATE_ENTRY = "duplicate_entry"
    SUMMARY_RESCUED = "summary_rescued"
    IGNORED_OUTPUT_KEPT = "ignored_output_kept"

    CLEANUP_BLOCKED = "cleanup_blocked"
    MANIFEST_ENTRIES_PRESENT = "manifest_entries_present"
    EMPTY_MANIFEST = "empty_manifest"
    MANIFEST_READ_FAILED = "manifest_read_failed"
    INVALID_MANIFEST_JSON = "invalid_manifest_json"
    MANIFEST_SHAPE_INVALID = "manifest_shape_invalid"
    MANIFEST_WRITE_FAILED = "manifest_write_failed"
    MANIFEST_NOT_EMPTY = "manifest_not_empty"
    ROOT_MISMATCH = "root_mismatch"
    NOT_A_CHECKOUT = "not_a_checkout"
    UNEXPECTED_BRANCH = "unexpected_branch"
    REPO_BUSY = "repo_busy"
    DETACHED_HEAD = "detached_head"
    UNBORN_HEAD = "unborn_head"
    GIT_MISSING = "git_missing"
    GIT_TOO_OLD = "git_too_old"
    CONFIG_INVALID = "config_invalid"
    GIT_FAILED = "git_failed"
    INTERNAL_ERROR = "internal_error"
    REPO_LOCKED = "repo_locked"
    WAVE_LOCKED = "wave_locked"
    STATE_UNWRITABLE = "state_unwritable"
    JOURNAL_FAILED = "journal_failed"

    UNDONE = "undone"
    UNDO_BLOCKED = "undo_blocked"
    NOTHING_TO_UNDO = "nothing_to_undo"
    UNKNOWN_WAVE = "unknown_wave"

    MISSING_FIELD = "missing_field"
    CHECK_FAILED = "check_failed"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry of the registry: `meaning` and `advice` are plain sentences; `next_step` fits a table cell."""

    kinds: tuple[Kind, ...]
    stage: str
    meaning: str
    advice: str
    next_step: str = ""


LANDED, BLOCKED, WARNING = (Kind.LANDED,), (Kind.BLOCKED,), (Kind.WARNING,)
REFUSED, RECORD = (Kind.REFUSED,), (Kind.RECORD,)
RERUN = "Then run the same command again: what has landed stays landed."

EXPLANATIONS: dict[Reason, Explanation] = {
    Reason.OK: Explanation(LANDED, "", "The branch is merged, and its worktree and branch are gone.", "Nothing to do."),
    Reason.ALREADY_LANDED: Explanation(
        LANDED,
        "merge",
        "Everything that the branch holds is in the target already: it landed before, somebody merged, squashed or "
        "rebased it by hand, or it has no commit of its own. Nothing was merged; worktree and branch are gone.",
        "Nothing to do. If the agent was expected to commit something, look at why it did not.",
    ),
    Reason.INVALID_ENTRY: Explanation(
        (Kind.BLOCKED, Kind.RECORD),
        "manifest",
        "The entry cannot be used as it stands: a required field is missing, has the wrong type, or the branch is "
        "not a valid name inside the allowed namespace. Every error found is listed.",
        "Correct the entry in the manifest (`git wave validate` shows each place). " + RERUN,
        "correct the entry, run again",
    ),
    Reason.BRANCH_MISMATCH: Explanation(
        BLOCKED,
        "identity",
        "Git does not have the manifest's branch checked out in a worktree registered at this path, or the path "
        "could not be read. A clone, a symbolic link or a broken link file at the path counts as a mismatch, and a "
        "missing directory is accepted only when git still registers it for this branch.",
        "Compare the entry with `git worktree list`, then correct the manifest or the checkout. " + RERUN,
        "compare with `git worktree list`",
    ),
    Reason.MAIN_WORKTREE: Explanation(
        BLOCKED,
        "identity",
        "The entry names the main worktree, or the very checkout that the wave lands into. It is never removed.",
        "Take the entry out of the manifest, or correct its path. " + RERUN,
        "correct the path",
    ),
    Reason.BASE_MISMATCH: Explanation(
        BLOCKED,
        "base",
        "The branch did not fork from the commit that the manifest declares: the merge base is another commit, or "
        "there is none.",
        "If the fork point is right after all, add it to the entry's `allowed_bases`; otherwise rebase the branch. "
        + RERUN,
        "rebase, or add to allowed_bases",
    ),
    Reason.BASE_CHECK_FAILED: Explanation(
        BLOCKED,
        "base",
        "Git could not say where the branch forked, so nothing was decided.",
        "Read git's words in `stderr`; `git fsck` tells whether objects are missing. " + RERUN,
        "see stderr, run again",
    ),
    Reason.BRANCH_CONTAINS_DELETIONS: Explanation(
        BLOCKED,
        "deletions",
        "The branch deletes files that nobody declared. Only the undeclared paths are listed. A rename counts as a "
        "deletion of its old path when a scope was declared and the old path is outside it.",
        "If the deletion is right, add each path to `declared_deletions`, exactly as listed; otherwise restore the "
        "files on the branch. " + RERUN,
        "declare or restore the files",
    ),
    Reason.DELETION_CHECK_FAILED: Explanation(
        BLOCKED,
        "deletions",
        "Git could not list what the branch changes, so a deletion could not be ruled out.",
        "Read git's words in `stderr`. " + RERUN,
        "see stderr, run again",
    ),
    Reason.SUMMARY_RESCUE_FAILED: Explanation(
        BLOCKED,
        "rescue",
        "An uncommitted SUMMARY could not be brought to safety in the main checkout: another file stands there, a "
        "symbolic link is in the way, or it could not be read or written. Both files are as they were.",
        "Compare the two files, keep what you need, and move one of them away. " + RERUN,
        "settle the two files, run again",
    ),
    Reason.WORKTREE_DIRTY: Explanation(
        BLOCKED,
        "dirt",
        "Something in the worktree is not committed: changed, staged, deleted or untracked files, edits hidden by "
        "assume-unchanged or skip-worktree, work that only a nested repository or submodule holds, or an operation "
        "such as a rebase in progress.",
        "Commit the work on its branch, or throw it away yourself. " + RERUN,
        "commit or discard, run again",
    ),
    Reason.DIRT_CHECK_FAILED: Explanation(
        BLOCKED,
        "dirt",
        "Git could not say whether anything in the worktree is uncommitted.",
        "Read git's words in `stderr`. " + RERUN,
        "see stderr, run again",
    ),
    Reason.MERGE_FAILED: Explanation(
        BLOCKED,
        "merge",
        "The branch does not merge: a conflict, a hook that refused, local edits in the way, or no identity to "
        "commit with. The checkout is as it was before.",
        "Bring the branch up to date in its worktree (merge the target into it and resolve), or remove what is in "
        "the way. " + RERUN,
        "resolve on the branch, run again",
    ),
    Reason.MERGE_TIMED_OUT: Explanation(
        BLOCKED,
        "merge",
        "The merge and its hooks took longer than the time allowed. They and their children were ended and the "
        "checkout was put back.",
        "Find out what hangs, or allow more with `--merge-timeout` (git config `wave.mergeTimeout`). " + RERUN,
        "raise --merge-timeout",
    ),
    Reason.WOULD_OVERWRITE: Explanation(
        BLOCKED,
        "merge",
        "The merge would write where an untracked or ignored file of yours stands. Git overwrites ignored files "
        "without a word, so the merge was not started.",
        "Move the listed files away, or commit them. " + RERUN,
        "move the listed files away",
    ),
    Reason.TARGET_MOVED: Explanation(
        BLOCKED,
        "merge",
        "While the entry was being checked, somebody switched the checkout to another branch or moved its HEAD.",
        "Go back to the branch that the wave lands into. " + RERUN,
        "switch back, run again",
    ),
    Reason.WORKTREE_REMOVE_FAILED: Explanation(
        BLOCKED,
        "teardown",
        "The branch is merged, but its worktree was not removed: something was written there after the check, it "
        "came back after it was gone, its ignored files could not be kept, or git refused. The branch is kept too.",
        "Look at what `stderr` lists, save it, and run the same command again.",
        "save what is listed, run again",
    ),
    Reason.WORKTREE_LOCKED: Explanation(
        BLOCKED,
        "teardown",
        "The branch is merged, but its worktree carries a lock that is not the harness's own, or that names a "
        "process still alive. Worktree and branch are kept.",
        "Ask whoever locked it; `git worktree unlock <path>` when it may go. " + RERUN,
        "unlock when it may go",
    ),
    Reason.BRANCH_MOVED: Explanation(
        BLOCKED,
        "teardown",
        "The branch or its worktree no longer stands at the commit that was judged: somebody committed while the "
        "wave ran. `merge_commit` tells whether the earlier commits are merged; the late ones are on their branch, "
        "untouched.",
        "Run the same command again: the late commits land too.",
        "run again",
    ),
    Reason.BRANCH_DELETE_FAILED: Explanation(
        WARNING,
        "teardown",
        "The branch is merged and its worktree is gone, but the branch itself could not be deleted.",
        "Delete it with `git branch -D <branch>` once you know why git refused.",
        "delete the branch by hand",
    ),
    Reason.INTERRUPTED: Explanation(
        (Kind.BLOCKED, Kind.REFUSED),
        "",
        "The wave was stopped by a signal. The current git command and its children were ended and a half-made "
        "merge was put back.",
        "Run the same command again: what has landed stays landed.",
        "run again",
    ),
    Reason.ACCEPTED_ABSENT_WORKTREE: Explanation(
        WARNING,
        "identity",
        "The worktree's directory was already gone, and git still registers it for this branch, so its commits were "
        "landed. `detail` is git's own word on it, null where it gives none.",
        "Nothing, when the harness removes its worktrees. Otherwise find out who did: uncommitted files went too.",
    ),
    Reason.SCOPE_OUT_OF_DECLARED: Explanation(
        WARNING,
        "scope",
        "The branch changes a path outside the declared `files_modified`. Advice only.",
        "Review the change; declare the path next time.",
    ),
    Reason.SCOPE_CHECK_UNAVAILABLE: Explanation(
        WARNING,
        "scope",
        "Git could not list the changed paths, so the declared scope was not compared. Advice only.",
        "Review the merge by hand.",
    ),
    Reason.DUPLICATE_ENTRY: Explanation(
        (Kind.WARNING, Kind.RECORD),
        "manifest",
        "The same worktree and branch are in the manifest already. A wave merges exact repeats into one entry.",
        "Often one agent was spawned twice: make sure that two agents do not share one worktree.",
    ),
    Reason.SUMMARY_RESCUED: Explanation(
        WARNING,
        "rescue",
        "An uncommitted SUMMARY was copied from the worktree to the same path in the main checkout.",
        "Review and commit it there.",
    ),
    Reason.IGNORED_OUTPUT_KEPT: Explanation(
        WARNING,
        "teardown",
        "The worktree held ignored files that no build makes again. They were moved to the place named in `path`.",
        "Take what you need from there, and delete the rest.",
    ),
    Reason.CLEANUP_BLOCKED: Explanation(
        REFUSED,
        "",
        "At least one entry did not land or was not cleared away; each entry says why.",
        "See to the blocked entries. " + RERUN,
    ),
    Reason.MANIFEST_ENTRIES_PRESENT: Explanation(
        LANDED, "manifest", "The manifest holds entries, so a wave was planned.", "Nothing to do."
    ),
    Reason.EMPTY_MANIFEST: Explanation(
        REFUSED,
        "manifest",
        "The manifest holds no entry at all, so there is nothing to land. An empty wave is no success: an agent's "
        "work may be missing from it.",
        "Make sure that `record-agent` ran for every agent. " + RERUN,
    ),
    Reason.MANIFEST_READ_FAILED: Explanation(
        (Kind.REFUSED, Kind.RECORD),
        "manifest",
        "The manifest file could not be read.",
        "Check the path; `git wave init --manifest <path>` makes a new one.",
    ),
    Reason.INVALID_MANIFEST_JSON: Explanation(
        (Kind.REFUSED, Kind.RECORD),
        "manifest",
        "The manifest is not JSON in UTF-8.",
        "`git wave validate` shows the line and column.",
    ),
    Reason.MANIFEST_SHAPE_INVALID: Explanation(
        (Kind.REFUSED, Kind.RECORD),
        "manifest",
        "The manifest is neither an array of entries nor an object with an array `worktrees`.",
        "Compare it with `git wave schema manifest`.",
    ),
    Reason.MANIFEST_WRITE_FAILED: Explanation(
        RECORD,
        "manifest",
        "The manifest could not be written or its lock could not be had; the file is as it was.",
        "Look at the error named: permissions, space, or another writer that does not let go of the lock.",
    ),
    Reason.MANIFEST_NOT_EMPTY: Explanation(
        RECORD,
        "manifest",
        "`git wave init` does not overwrite a file that holds entries or that it cannot read.",
        "Land that wave first, or name another file.",
    ),
    Reason.ROOT_MISMATCH: Explanation(
        REFUSED,
        "",
        "`--root` is a checkout of another repository than the manifest's `orchestrator_root`.",
        "Correct the one that is wrong. Nothing was touched.",
    ),
    Reason.NOT_A_CHECKOUT: Explanation(
        REFUSED,
        "",
        "There is no git checkout with a working tree at the root.",
        "Name one with `--root` or in the manifest's `orchestrator_root`. Nothing was touched.",
    ),
    Reason.UNEXPECTED_BRANCH: Explanation(
        REFUSED,
        "",
        "The checkout is not on the branch given with `--expect-branch`.",
        "Switch to that branch, or correct the flag. Nothing was touched.",
    ),
    Reason.REPO_BUSY: Explanation(
        (Kind.REFUSED, Kind.BLOCKED),
        "",
        "A merge, rebase, cherry-pick, revert or bisect is in progress in the checkout, or its index holds unmerged "
        "paths. It is not ours to touch.",
        "Finish or abort it. " + RERUN,
        "finish or abort it, run again",
    ),
    Reason.DETACHED_HEAD: Explanation(
        REFUSED,
        "",
        "The checkout is on no branch, so a merge would belong to none.",
        "Switch to the branch that the wave should land into.",
    ),
    Reason.UNBORN_HEAD: Explanation(
        REFUSED,
        "",
        "The checkout's branch has no commit yet, so there is nothing to merge into.",
        "Make a first commit.",
    ),
    Reason.GIT_MISSING: Explanation(REFUSED, "", "No `git` was found on PATH.", "Install git 2.38 or newer."),
    Reason.GIT_TOO_OLD: Explanation(
        REFUSED, "", "This git is older than 2.38, or did not tell its version.", "Install git 2.38 or newer."
    ),
    Reason.CONFIG_INVALID: Explanation(
        (Kind.REFUSED, Kind.RECORD),
        "",
        "A `wave.*` setting in git's config cannot be used.",
        "Correct it with `git config`.",
    ),
    Reason.GIT_FAILED: Explanation(
        REFUSED,
        "",
        "A question put to git got no usable answer, and without it nothing can be decided.",
        "Read git's words. " + RERUN,
    ),
    Reason.INTERNAL_ERROR: Explanation(
        BLOCKED,
        "",
        "A defect in git-wave stopped this entry. What the earlier stages did stands; nothing more was done to it.",
        "Please report what `stderr` says. " + RERUN,
        "report it; run again",
    ),
    Reason.REPO_LOCKED: Explanation(
        (Kind.BLOCKED, Kind.REFUSED),
        "",
        "Another process holds a lock file of git's, and did not let go of it in time. The file is named; it is "
        "never deleted by git-wave.",
        "Let the other git command finish. If none is running, the file was left by one that died: delete it "
        "yourself. " + RERUN,
        "see who holds the lock, run again",
    ),
    Reason.WAVE_LOCKED: Explanation(
        REFUSED,
        "",
        "Another wave, or an undo, is running in this repository. Its process, host and start are named.",
        "Wait for it, or give `--wait SECONDS`. Nothing was touched.",
    ),
    Reason.STATE_UNWRITABLE: Explanation(
        REFUSED,
        "",
        "Lock, journal or backups could not be written below the common git directory, so nothing was begun.",
        "Look at the error named: permissions or space. " + RERUN,
    ),
    Reason.JOURNAL_FAILED: Explanation(
        BLOCKED,
        "",
        "The journal could not be written, and nothing is changed that is not on record first.",
        "Look at the error named, most often a full disk. " + RERUN,
        "make room, run again",
    ),
    Reason.UNDONE: Explanation(
        (Kind.UNDO,),
        "",
        "The target is back where the wave found it, and branches and worktrees stand where they stood.",
        "Nothing to do; `git wave undo` with the id of the undo takes that back too.",
    ),
    Reason.UNDO_BLOCKED: Explanation(
        (Kind.UNDO,),
        "",
        "The wave cannot be taken back: something landed on top, or edits, branches or files are in the way. "
        "Nothing was changed.",
        "Use the `git revert` commands that are printed, newest first, or clear what is named out of the way.",
    ),
    Reason.NOTHING_TO_UNDO: Explanation(
        (Kind.UNDO,), "", "No wave on record has moved anything that could be taken back.", "Nothing to do."
    ),
    Reason.UNKNOWN_WAVE: Explanation(
        (Kind.UNDO,),
        "",
        "There is no journal of that name, or it cannot be read.",
        "`git wave log` lists the waves on record.",
    ),
    Reason.MISSING_FIELD: Explanation(
        RECORD,
        "manifest",
        "Flags that `record-agent` needs are missing or blank; all of them are named.",
        "Give every flag a value. An unset shell variable is the usual cause.",
    ),
    Reason.CHECK_FAILED: Explanation(
        RECORD,
        "manifest",
        "`--check` asked git, and git does not know the base, the branch, or that branch at that path.",
        "Record the agent after its worktree exists, with the values that `git worktree list` shows.",
    ),
}
