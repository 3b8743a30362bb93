"""Why a wave, an undo or a recording was refused."""

from __future__ import annotations

from git_wave.model.explanations._form import BLOCKED, LANDED, RECORD, REFUSED, RERUN, Explanation, Kind
from git_wave.model.reasons import Reason

RUNS: dict[Reason, Explanation] = {
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
        (Kind.REFUSED, Kind.LIFECYCLE),
        "",
        "The checkout, or the worktree that was named, is on no branch, so a merge or commit would belong to none.",
        "Switch to the branch that the wave should land into, or that the worktree's work is for.",
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
        "Another run is at work in this repository: a wave, an undo, a discard or a restore. Its process, host and "
        "start are named.",
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
