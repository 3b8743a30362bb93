"""What the commands around a wave say: doctor, hooks."""

from __future__ import annotations

from git_wave.model.explanations._form import Explanation, Kind
from git_wave.model.reasons import Reason

HARNESS: dict[Reason, Explanation] = {
    Reason.PROBLEMS_FOUND: Explanation(
        (Kind.HARNESS,),
        "",
        "`git wave doctor` found something that is in the way of a wave, or that it could not check.",
        "Do what is said beside each problem, then ask again.",
    ),
    Reason.SETTINGS_UNREADABLE: Explanation(
        (Kind.HARNESS,),
        "",
        "Claude Code's settings file could not be read: no permission, no regular file, or a link that leads nowhere.",
        "Look at the error named. Nothing was written.",
    ),
    Reason.SETTINGS_INVALID: Explanation(
        (Kind.HARNESS,),
        "",
        "Claude Code's settings file is not strict JSON of the known shape: a comment, a trailing comma, a key that "
        "stands twice, or hooks of another form. Editing it could lose something, so it was left alone.",
        "Correct the place named, or put the entries in by hand as docs/CLAUDE-CODE.md shows them.",
    ),
    Reason.SETTINGS_UNWRITABLE: Explanation(
        (Kind.HARNESS,),
        "",
        "Claude Code's settings file could not be written; it is as it was.",
        "Look at the error named: permissions, space, or a file that is read-only.",
    ),
    Reason.SETTINGS_CHANGED: Explanation(
        (Kind.HARNESS,),
        "",
        "Somebody else wrote to Claude Code's settings file while it was being edited. Their version stands.",
        "Run the same command again.",
    ),
    Reason.OTHER_HOOK: Explanation(
        (Kind.HARNESS,),
        "",
        "Another program has a hook for WorktreeCreate or WorktreeRemove. Two of them would each make or remove a "
        "worktree, so ours was not added.",
        "Decide which of the two is to do it, take the other's hook out, and run the same command again.",
    ),
    Reason.PAYLOAD_INVALID: Explanation(
        (Kind.HARNESS,),
        "",
        "What a hook was told on standard input is not what Claude Code sends for that event; everything wrong with it "
        "is named, and nothing was done.",
        "Compare it with docs/CLAUDE-CODE.md. A newer Claude Code may send something else.",
    ),
    Reason.INCLUDE_FAILED: Explanation(
        (Kind.HARNESS,),
        "",
        "The worktree is there, but a file that `.worktreeinclude` names could not be copied into it.",
        "See to the file named; asked for the same worktree again, the hook goes on with the copying.",
    ),
}
