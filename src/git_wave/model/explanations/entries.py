"""How an entry of a wave ended, and the warnings it may carry."""

from __future__ import annotations

from git_wave.model.explanations._form import BLOCKED, BLOCKED_ANYWHERE, LANDED, RERUN, WARNING, Explanation, Kind
from git_wave.model.reasons import Reason

ENTRIES: dict[Reason, Explanation] = {
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
        "The entry cannot be used as it stands: a required field is missing, has the wrong type, the base is a "
        "name where it must be a commit's id, or the branch is not a valid name inside the allowed namespace. Every "
        "error found is listed.",
        "Correct the entry in the manifest (`git wave validate` shows each place). " + RERUN,
        "correct the entry, run again",
    ),
    Reason.BRANCH_MISMATCH: Explanation(
        BLOCKED_ANYWHERE,
        "identity",
        "Git does not have the manifest's branch checked out in a worktree registered at this path, or the path "
        "could not be read. A clone, a symbolic link or a broken link file at the path counts as a mismatch, and a "
        "missing directory is accepted only when git still registers it for this branch.",
        "Compare the entry with `git worktree list`, then correct the manifest or the checkout. " + RERUN,
        "compare with `git worktree list`",
    ),
    Reason.MAIN_WORKTREE: Explanation(
        BLOCKED_ANYWHERE,
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
        BLOCKED_ANYWHERE,
        "dirt",
        "Something in the worktree is not committed: changed, staged, deleted or untracked files, edits hidden by "
        "assume-unchanged or skip-worktree, work that only a nested repository or submodule holds, or an operation "
        "such as a rebase in progress.",
        "Commit the work on its branch, or throw it away yourself. " + RERUN,
        "commit or discard, run again",
    ),
    Reason.DIRT_CHECK_FAILED: Explanation(
        BLOCKED_ANYWHERE,
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
        BLOCKED_ANYWHERE,
        "teardown",
        "The worktree was not removed, though in a wave its branch is merged: something was written there after the "
        "check, it came back after it was gone, its ignored files could not be kept, or git refused. The branch is "
        "kept too.",
        "Look at what is listed, save it, and run the same command again.",
        "save what is listed, run again",
    ),
    Reason.WORKTREE_LOCKED: Explanation(
        BLOCKED_ANYWHERE,
        "teardown",
        "The worktree carries a lock that is not the harness's own, or that names a process still alive. Worktree and "
        "branch are kept; in a wave the branch is merged.",
        "Ask whoever locked it; `git worktree unlock <path>` when it may go. " + RERUN,
        "unlock when it may go",
    ),
    Reason.BRANCH_MOVED: Explanation(
        BLOCKED_ANYWHERE,
        "teardown",
        "The branch or its worktree no longer stands at the commit that was judged: somebody committed while the "
        "wave ran. `merge_commit` tells whether the earlier commits are merged; the late ones are on their branch, "
        "untouched.",
        "Run the same command again: the late commits land too.",
        "run again",
    ),
    Reason.BRANCH_DELETE_FAILED: Explanation(
        (Kind.WARNING, Kind.LIFECYCLE),
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
}
