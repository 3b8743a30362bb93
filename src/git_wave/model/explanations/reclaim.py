"""What keeps a worktree from being removed, whoever wants to, and what became of its ignored files."""

from __future__ import annotations

from git_wave.model.explanations._form import RERUN, WARNING, Explanation, Kind
from git_wave.model.reasons import Reason

KEPT = (Kind.KEPT,)
DECIDED = (Kind.RECLAIM,)
AND_WAVE = (Kind.BLOCKED, Kind.KEPT)
FILES = (Kind.KEPT_FILES,)

RECLAIM: dict[Reason, Explanation] = {
    Reason.WORKTREE_IN_USE: Explanation(
        AND_WAVE,
        "dirt",
        "A process is in the worktree: its working or root directory, its program, or an open or mapped file is there. "
        "An ancestor of the command counts too, such as a shell that stands in the worktree. With a `merge_commit` the "
        "branch is merged, and only worktree and branch were kept.",
        "Let the process end, or move out of the directory. The pids are named; `ps -p PID` tells what they are. "
        + RERUN,
        "end what is in there, run again",
    ),
    Reason.HOLDERS_CHECK_FAILED: Explanation(
        AND_WAVE,
        "dirt",
        "It could not be found out whether a process is in the worktree: the processes could not be listed, or the "
        "list did not show the command itself.",
        "See that `/proc` is mounted and that it is of the same process namespace. " + RERUN,
        "see that /proc is there, run again",
    ),
    Reason.PROCESSES_UNREADABLE: Explanation(
        WARNING,
        "dirt",
        "Some processes of the same user could not be looked into, so that they may be in the worktree unseen. "
        "`detail` has their number and at most ten pids. Advice only.",
        "Nothing, as a rule: agents that keep passwords or keys hide themselves so.",
    ),
    Reason.IGNORED_OUTPUT_BLOCKS: Explanation(
        AND_WAVE,
        "dirt",
        "The worktree holds ignored files that no build makes again, and removing it would delete them. The first is "
        "named, and how many more there are. It blocks a wave only with `wave.ignoredOutput=block`.",
        "Save them, or name the directories that a build makes again in `wave.regenerable`. " + RERUN,
        "save what is named, run again",
    ),
    Reason.IGNORED_OUTPUT_DISCARDED: Explanation(
        WARNING,
        "teardown",
        "The worktree held ignored files that no build makes again, and they went with it, as "
        "`wave.ignoredOutput=discard` asks. `detail` counts and names them.",
        "Nothing, when that is meant. The default, `keep`, moves them to a place that the result names.",
    ),
    Reason.OUTSIDE_MANAGED_ROOT: Explanation(
        KEPT,
        "",
        "The directory is not really inside the root of managed worktrees, a symbolic link leads to it, it is or holds "
        "the main worktree or the git directory, or another worktree or a mount is inside.",
        "Remove it by hand if that is meant, or name its root in `wave.managedRoot`.",
    ),
    Reason.OWNER_UNCONFIRMED: Explanation(
        KEPT,
        "",
        "The owner on record is not the one it was to be, none is on record, the record cannot be read, or the agent "
        "that it names has another worktree in this repository.",
        "Look at who works there, and remove it by hand if it may go.",
    ),
    Reason.WORKTREE_CLAIMED: Explanation(
        KEPT,
        "",
        "Something else is known to use the directory: another session, manifest or agent. It is named.",
        "Wait until it has ended.",
    ),
    Reason.NOT_REGISTERED: Explanation(
        KEPT,
        "",
        "Git registers no linked worktree at the path, or the directory there is not the one that is registered.",
        "Compare with `git worktree list`. A directory that git does not know is yours to delete.",
    ),
    Reason.OPERATION_IN_PROGRESS: Explanation(
        KEPT,
        "",
        "A merge, rebase, cherry-pick, revert or bisect stands half-done there, paths are unmerged, or refs live in "
        "that worktree alone.",
        "Finish or abort it there; delete or move the refs.",
    ),
    Reason.SUBMODULES_INITIALIZED: Explanation(
        KEPT,
        "",
        "Submodules are checked out there, and git removes no such worktree unless it is forced.",
        "Take them out with `git submodule deinit --all` in the worktree, once nothing in them is needed.",
    ),
    Reason.COMMITS_UNPUSHED: Explanation(
        KEPT,
        "",
        "The branch has commits that are not on its upstream, nor on any remote-tracking ref where it has none; or, "
        "without any remote, not in the default branch.",
        "Push or merge them.",
    ),
    Reason.LOCK_OWNER_UNKNOWN: Explanation(
        KEPT,
        "",
        "The worktree is locked, and the lock names no process of which it could be told whether it lives.",
        "Ask whoever locked it; `git worktree unlock <path>` when it may go.",
    ),
    Reason.PID_ALIVE: Explanation(
        KEPT,
        "",
        "The worktree is locked by a process that is alive, or is not provably dead. A pid may have been used again.",
        "Let it end, or `git worktree unlock <path>` when it may go.",
    ),
    Reason.LOCK_TOO_FRESH: Explanation(
        KEPT,
        "",
        "The process that locked the worktree is dead, and it locked it less than five minutes ago: a successor may be "
        "about to take over.",
        "Run the command again later.",
    ),
    Reason.LOCK_AGE_UNKNOWN: Explanation(
        KEPT,
        "",
        "It could not be told how old the lock on the worktree is, and an unknown age is not an old one.",
        "Look at the file `locked` in the worktree's administrative directory.",
    ),
    Reason.CANNOT_TELL: Explanation(
        KEPT,
        "",
        "A gate could not find out what it asks, so the worktree stays. The gate and the cause are named.",
        "See to the cause, and run the command again.",
    ),
    Reason.UNKNOWN_KEPT: Explanation(
        FILES, "", "Nothing is kept under that id.", "`git wave kept` lists what is, with the id of each."
    ),
    Reason.KEPT_UNREADABLE: Explanation(
        FILES,
        "",
        "The directory of kept files could not be looked through, so nothing was listed or moved.",
        "Look at the error named: permissions, as a rule.",
    ),
    Reason.RESTORE_BLOCKED: Explanation(
        FILES,
        "",
        "Kept files were not put back, or not all of them: something stands in the way, the worktree is not there any "
        "more, or a file could not be moved. Nothing was written over.",
        "Move what is named out of the way, or give another directory with `--to`. What is still kept stays so.",
    ),
    Reason.CONFIRMATION_NEEDED: Explanation(
        FILES,
        "",
        "What is to be dropped is deleted for good, so it is done only with `--yes`.",
        "Look at the files first; then give the same command with `--yes`.",
    ),
    Reason.DROP_FAILED: Explanation(
        FILES,
        "",
        "Kept files could not be deleted, or not all of them.",
        "Look at the error named, and give the same command again.",
    ),
    Reason.REMOVED: Explanation(
        DECIDED,
        "",
        "Worktree and registration are gone. The branch is where it was, or at the commit that `preserved` names.",
        "Nothing: this is the good end.",
    ),
    Reason.WOULD_REMOVE: Explanation(
        DECIDED,
        "",
        "A dry run found nothing against removing the worktree.",
        "Run the command without `--dry-run`; everything is asked again then.",
    ),
    Reason.ALREADY_GONE: Explanation(
        DECIDED,
        "",
        "Nothing stands at the path any more, and it was not this command that took it away. Its registration is "
        "dropped where that loses nothing; otherwise a warning says why it stays.",
        "Nothing.",
    ),
    Reason.TARGET_UNKNOWN: Explanation(
        DECIDED,
        "",
        "No linked worktree is at that path or on that branch, and no agent of that name is on record for one.",
        "Compare with `git worktree list`.",
    ),
    Reason.TARGET_AMBIGUOUS: Explanation(
        DECIDED,
        "",
        "The target may mean several worktrees, which are named, or an owner record that cannot be read may be the "
        "agent's too.",
        "Name the worktree by its full path.",
    ),
    Reason.NOT_AUTHORIZED: Explanation(
        DECIDED,
        "",
        "The repository is not at or below the directory in which the command was called, so that its worktrees are "
        "not this caller's to remove.",
        "Call it in the top directory of the main worktree, or above it.",
    ),
    Reason.REAP_INCOMPLETE: Explanation(
        DECIDED,
        "",
        "Some worktrees were kept because something could not be found out, or were not removed whole. All others "
        "are decided. Each has its own reason.",
        "Look at those named, and run the command again.",
    ),
    Reason.PID_DEAD_AND_MERGED: Explanation(
        DECIDED,
        "",
        "The process that locked the worktree is dead and its branch is in the default branch, so that it was "
        "removed, or would be. The branch stays.",
        "Nothing: this is the good end.",
    ),
    Reason.CANNOT_RESOLVE_BRANCH_TIP: Explanation(
        KEPT,
        "",
        "The locked worktree is on no branch, or on one that is no commit, so that nobody can tell where its work is.",
        "Look into it, and remove it by hand if it may go.",
    ),
    Reason.BRANCH_NOT_MERGED: Explanation(
        KEPT,
        "",
        "The locked worktree's branch has commits that the default branch has not.",
        "Land or push them, then remove it.",
    ),
    Reason.REMOVE_FAILED: Explanation(
        KEPT,
        "",
        "The owner is dead and the branch merged, but git did not remove the worktree, or not all of it.",
        "Read git's words, put that right, and run the command again.",
    ),
    Reason.REGISTRATION_KEPT: Explanation(
        WARNING,
        "",
        "The worktree's directory is gone, and its registration was left: something would be lost with it, or the "
        "directory may be on a disk that is not mounted.",
        "`git worktree remove PATH` drops it, once nothing of it is needed.",
    ),
    Reason.OWNER_NOT_RECORDED: Explanation(
        WARNING,
        "",
        "The entry is recorded, and whose the worktree is was not: no linked worktree of this repository is there on "
        "that branch, or another agent is on record for it.",
        "Record the agent once its worktree is there, or make worktree and entry with `git wave create`.",
    ),
}
