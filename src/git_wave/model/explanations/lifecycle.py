"""What becomes of one worktree before or without a wave."""

from __future__ import annotations

from git_wave.model.explanations._form import LIFECYCLE, Explanation
from git_wave.model.reasons import Reason

AGAIN = "Then run the same command again."

LIFECYCLES: dict[Reason, Explanation] = {
    Reason.NO_WORK: Explanation(
        LIFECYCLE,
        "",
        "The branch holds nothing beyond its base or baseline, and nothing was left uncommitted.",
        "Look at why the agent did nothing; `git wave finalize --drop-empty` takes such a worktree and branch away.",
    ),
    Reason.DROPPED_EMPTY: Explanation(
        LIFECYCLE,
        "",
        "The branch held nothing beyond its base or baseline, so worktree, branch and manifest entry are gone.",
        "Nothing to do; `git wave restore` brings them back.",
    ),
    Reason.UNMERGED_PATHS: Explanation(
        LIFECYCLE,
        "",
        "The worktree's index holds unmerged paths, and nobody but their author can say what should be committed.",
        "Resolve them there. " + AGAIN,
    ),
    Reason.NOT_A_WORKTREE: Explanation(
        LIFECYCLE,
        "",
        "There is no linked worktree of this repository at the path: nothing is there or registered, it is a "
        "directory inside one, a clone or a copy, or it could not be read.",
        "Compare the path with `git worktree list`; name the repository with `--root` when the worktree is gone.",
    ),
    Reason.UNKNOWN_AGENT: Explanation(
        LIFECYCLE,
        "",
        "The manifest has no entry for that agent, or several of which none was singled out.",
        "Correct the id, or name the worktree's path as well.",
    ),
    Reason.BASE_UNKNOWN: Explanation(
        LIFECYCLE,
        "",
        "Neither the manifest nor the worktree's owner record says where the branch forked, so nobody can tell "
        "whether it holds work.",
        "Record the agent with `record-agent`, or discard with `--force`, which keeps a backup.",
    ),
    Reason.NOT_COMMITTABLE: Explanation(
        LIFECYCLE,
        "",
        "The worktree holds what no commit of its branch can: an untracked repository of its own, or edits inside a "
        "submodule. Nothing was committed.",
        "Commit inside what is named, or move it away. " + AGAIN,
    ),
    Reason.STILL_CHANGING: Explanation(
        LIFECYCLE,
        "",
        "Somebody wrote in the worktree while it was committed or checked. What was committed stands.",
        "Wait until the agent has ended. " + AGAIN,
    ),
    Reason.DISCARDED: Explanation(
        LIFECYCLE,
        "",
        "Worktree, branch and manifest entry are gone. A backup keeps the commits, and what was uncommitted.",
        "Nothing to do; `git wave restore` with the ref that is named brings everything back.",
    ),
    Reason.ALREADY_DISCARDED: Explanation(
        LIFECYCLE,
        "",
        "An earlier command took this worktree, its branch and its entry away; nothing is left to do.",
        "Nothing to do; `git wave restore` with the ref that is named brings everything back.",
    ),
    Reason.WOULD_DISCARD: Explanation(
        LIFECYCLE,
        "",
        "A dry run found nothing against the discard. Nothing was changed.",
        "Run it without `--dry-run`.",
    ),
    Reason.HAS_COMMITS: Explanation(
        LIFECYCLE,
        "",
        "The branch holds commits beyond its base or baseline; they are listed. Nothing was touched.",
        "Land the branch with a wave, or give `--force`: a backup then keeps the commits.",
    ),
    Reason.RESTORED: Explanation(
        LIFECYCLE,
        "",
        "Branch and worktree stand again as they were discarded, with what was uncommitted.",
        "Nothing to do.",
    ),
    Reason.ALREADY_RESTORED: Explanation(
        LIFECYCLE,
        "",
        "An earlier command restored this backup, and its worktree stands. Nothing was touched.",
        "Nothing to do.",
    ),
    Reason.UNKNOWN_BACKUP: Explanation(
        LIFECYCLE,
        "",
        "No discard on record has a backup of that name, or its commits are gone.",
        "`git wave log` lists the runs on record; a wave is taken back with `git wave undo`.",
    ),
    Reason.RESTORE_FAILED: Explanation(
        LIFECYCLE,
        "",
        "The restore stopped half-way. What it had brought back stands, and the backup is untouched.",
        "See to what is named. " + AGAIN,
    ),
}
