"""Why a worktree was not made, and what a create may warn of."""

from __future__ import annotations

from git_wave.model.explanations._form import CREATE, WARNING, Explanation, Kind
from git_wave.model.reasons import Reason

AGAIN = "Then run the same command again: what this call had made is gone."

CREATION: dict[Reason, Explanation] = {
    Reason.ROOT_REQUIRED: Explanation(
        CREATE,
        "",
        "`--root` is missing. Without it nothing would say where worktrees may be made.",
        "Name the checkout, or the directory of it that the agent is to work in. An unset shell variable is the usual "
        "cause.",
    ),
    Reason.PATH_OUTSIDE_ROOT: Explanation(
        CREATE,
        "",
        "The worktree would not be strictly inside `--root`: the path holds a `..`, is the root itself, leads out "
        "through a symbolic link, or lies inside git's own directory.",
        "Give a path inside the root, or leave `--path` out: then it is `.claude/worktrees/<branch>` below the root.",
    ),
    Reason.BASE_UNRESOLVED: Explanation(
        CREATE,
        "",
        "The base is no commit of this repository.",
        "Compare it with `git rev-parse --verify`; a branch that exists only on a remote needs its full name.",
    ),
    Reason.BASE_NOT_HEAD: Explanation(
        CREATE,
        "",
        "`--replay-dirty` was asked for on another base than HEAD. Uncommitted work is an edit of HEAD and of "
        "nothing else.",
        "Leave `--base` out, or do without `--replay-dirty`.",
    ),
    Reason.NO_COMMIT: Explanation(
        CREATE,
        "",
        "The repository has no commit yet, so there is nothing to fork from.",
        "Make a first commit.",
    ),
    Reason.BRANCH_EXISTS: Explanation(
        (Kind.CREATE, Kind.LIFECYCLE),
        "",
        "There is a branch of that name already, or one that leaves no room for it (`a` and `a/b` cannot both be). It "
        "may be the work of an earlier agent, and was not touched.",
        "Land or discard what is on it, choose another `--branch`, or give `--unique`, which "
        "helps unless it is the folder of `--branch` that is taken.",
    ),
    Reason.PATH_EXISTS: Explanation(
        (Kind.CREATE, Kind.LIFECYCLE),
        "",
        "Something stands, or is registered, where the worktree was to be made or restored. It was not touched.",
        "Choose another `--path`, or look at what stands there and move it away.",
    ),
    Reason.WORKTREE_ADD_FAILED: Explanation(
        CREATE,
        "",
        "Git refused to make the worktree, or a `post-checkout` hook failed. The branch that this call had made is "
        "gone again, and what may belong to somebody else was not touched.",
        "Read git's words: most often the path is still registered (`git worktree list`). " + AGAIN,
    ),
    Reason.WORKTREE_ADD_TIMED_OUT: Explanation(
        CREATE,
        "",
        "Git did not finish making the worktree in time. What it had made is gone again.",
        "Give a longer `--checkout-timeout`, or look at what a `post-checkout` hook does. " + AGAIN,
    ),
    Reason.REPLAY_FAILED: Explanation(
        CREATE,
        "",
        "The user's uncommitted work could not be made again in the worktree, byte for byte. A tree that is only "
        "partly the same would mislead the agent, so worktree and branch are gone again.",
        "Commit, ignore or move away what is named, or leave `--replay-dirty` out. " + AGAIN,
    ),
    Reason.REPLAY_TOO_LARGE: Explanation(
        CREATE,
        "",
        "There are more untracked files, or more bytes in them, than a replay copies. Nothing was made.",
        "Ignore what is build output, or raise `--max-untracked-files` and `--max-untracked-bytes`.",
    ),
    Reason.COMMIT_FAILED: Explanation(
        (Kind.CREATE, Kind.LIFECYCLE),
        "",
        "A commit that was needed could not be made: signing is demanded and fails, the disk is full, a lock is held "
        "or a `reference-transaction` hook refused. Nothing is lost: a worktree that holds the only copy stays.",
        "Read git's words, put that right, and run the same command again.",
    ),
    Reason.ALREADY_CREATED: Explanation(
        (Kind.CREATED,),
        "",
        "The same create was cut short after the manifest was written; worktree, branch and entry are there.",
        "Nothing to do.",
    ),
    Reason.BASELINE_HOLDS_EDITS: Explanation(
        WARNING,
        "",
        "What was uncommitted in the user's checkout is the first commit of the agent's branch. When the wave lands "
        "the branch, that work comes back to the user as a commit.",
        "Commit or stash those edits before the wave: as long as they stand in the checkout, the branch is blocked "
        "rather than merged over them. `--baseline=none` leaves them uncommitted in the worktree instead.",
    ),
    Reason.REPLAY_SKIPPED: Explanation(
        WARNING,
        "",
        "The manifest, sidecar directories of this tool or of a harness, or linked worktrees stand untracked in the "
        "checkout. They are nobody's content and were not replayed.",
        "Nothing to do; `wave.sidecar` names more directories of this kind.",
    ),
    Reason.UNFINISHED_CREATE_UNDONE: Explanation(
        WARNING,
        "",
        "An earlier create was cut short before the manifest named its worktree. What it had made is gone.",
        "Nothing to do; run that create again if its agent is still wanted.",
    ),
    Reason.UNFINISHED_CREATE_KEPT: Explanation(
        WARNING,
        "",
        "An earlier create was cut short, and what it had made holds something that it did not put there, or cannot be "
        "taken away. It stays.",
        "Look at the path named. Record it with `record-agent`, or remove it by hand.",
    ),
}
