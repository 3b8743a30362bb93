"""Worktrees that git had begun to remove when it was killed, made whole again.

What git has deleted is in the worktree's own index, so it is written back, and nothing that stands is touched. Then the
worktree is like any other: whoever wants it gone asks all that a removal asks, and no file that was written meanwhile
goes unseen. A worktree that is left half-deleted would look like somebody's work.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from git_wave.gates import Inspection, holders
from git_wave.git.links import BrokenLink
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError, GitTimeout
from git_wave.model.names import Oid
from git_wave.stages._case import Hands
from git_wave.state.journal import Event, History, Journal

logger = logging.getLogger("git_wave.recovery")
SIGNALLED = 129
"""A shell in front of git adds the signal that ended it to 128; 129 itself is how git says wrong usage."""


def settle_removals(histories: Iterable[History], reads: Reads, hands: Hands) -> None:
    """Make every worktree whole whose removal was cut short, and note so in the journal of its run.

    One that somebody is in, or that cannot be made whole now, stays open for the next run. Raises OSError or
    JournalError.
    """
    for history in histories:
        cut = [intent for intent, closed in history.intents("remove_worktree") if is_cut_short(closed)]
        if not cut:
            continue
        journal, saved = Journal.reopen(history), set(saved_elsewhere(history))
        for intent in cut:
            why = make_whole(intent, reads, hands, files=intent["path"] not in saved)
            if why is not None:
                journal.write("failed", intent=intent["seq"], why=f"cut short. {why}".strip())


def is_cut_short(closed: Event | None) -> bool:
    """Whether git did not get to the end: the run was killed, git was, or its time was up."""
    if closed is None:
        return True
    if closed["event"] != "failed":
        return False
    code = closed.get("code")
    ended = isinstance(code, int) and (code < 0 or code > SIGNALLED)
    return ended or str(closed["why"]).startswith(GitTimeout.__name__)


def saved_elsewhere(history: History) -> Iterator[str]:
    """Worktrees whose uncommitted files a discard has saved: it goes on itself, and the index has no such file."""
    for intent, closed in history.intents("discard"):
        if intent.get("wip") and (closed is None or closed["event"] != "done"):
            yield intent["path"]


def make_whole(intent: Event, reads: Reads, hands: Hands, *, files: bool) -> str | None:
    """Write back what git had deleted; in words what came of it, None to try again another time.

    Without `files`, only the link to its repository.

    Git may have deleted the `.git` file first. It is written again, which names no more than git's own registration
    does.
    """
    path = Path(intent["path"])
    found = reads.presence(path)
    if found is not Presence.PRESENT:
        return None if found is Presence.UNREADABLE else "nothing is left of it"
    try:
        reads.restore_link(path)
        if not files:
            return "its files are saved"
        worktree = reads.worktree_at(path)
        look = reads.worktree_look(worktree)
        if look.oid != Oid(intent["tip"]) or (intent["branch"] and look.branch != intent["branch"]):
            return "it has gone elsewhere since"
        missing = [
            change.path for change in look.changes if change.code[1:] == "D" and change.path not in look.unmerged
        ]
        if not missing:
            return "no file of it is missing"
        if not holders.GATE.ask(Inspection(reads).subject(worktree.path, worktree=worktree, look=look)).is_clear:
            return None
        hands.git.restore_files(missing, worktree)
    except BrokenLink as error:
        return f"it is no worktree of this repository any more: {error}"
    except (OSError, GitError) as error:
        logger.warning("what git had deleted of %s could not be written back: %s", path, error)
        return None
    return f"{len(missing)} files that git had deleted were written back"
