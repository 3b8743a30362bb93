"""What a run that was killed left under way, settled before the next one begins.

Only what is provably ours is touched: a journal without an end names the merge that was begun, and the index
holds exactly the tree which that merge was to make. Anything else stands as it is, and the wave says `repo_busy`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from git_wave.git.links import BrokenLink
from git_wave.git.parse import Change, Look
from git_wave.git.processes import end_group
from git_wave.git.reads import Reads
from git_wave.git.writes import backup_prefix
from git_wave.half_removed import settle_removals
from git_wave.model.errors import GitError, Refusal
from git_wave.model.names import Oid, Ref
from git_wave.model.reasons import Reason
from git_wave.stages import _landing
from git_wave.stages._case import Hands, Target
from git_wave.state.journal import Event, History, Journal, list_histories, load_history
from git_wave.state.kept import residue_place

logger = logging.getLogger("git_wave.recovery")
MARK = "GIT_WAVE_RUN"
"""The variable by which a git command tells which run started it."""


def settle_last_run(reads: Reads, hands: Hands, patience: float) -> None:
    """Close the newest journal if it has no end, or could not put a merge back; make half-removed worktrees whole.

    `patience` is how many seconds git commands which that run started may go on before they are ended. Raises
    Refusal with `repo_busy` when a half-made merge of ours cannot be put back; the journal then stays open.
    Raises OSError, JournalError or GitError.
    """
    histories = list_histories(reads.layout.common_dir)
    if not histories:
        return
    killed = histories[-1].began is not None and not is_settled(histories[-1])
    if killed:
        await_orphans(histories[-1].id, patience)
    settle_removals(histories, reads, hands)
    if killed:
        settle_run(load_history(histories[-1].path), reads, hands)


def settle_run(last: History, reads: Reads, hands: Hands) -> None:
    """Settle its merges, put locks back, and write the line that it had no time for."""
    journal = Journal.reopen(last)
    head = last.head
    for intent, closed in last.intents("merge"):
        if not is_open(closed):
            continue
        left = {path: sign and tuple(sign) for path, sign in ((closed or {}).get("left") or {}).items()}
        commit, why = settle_merge(last, intent, left, reads, hands)
        if commit:
            journal.write("done", intent=intent["seq"], commit=commit)
            head = commit
        else:
            journal.write("failed", intent=intent["seq"], why=why)
    for intent, _ in last.intents("unlock_worktree"):
        put_lock_back(intent, reads, hands)
    if not last.ended:
        journal.write("ended", ok=False, reason=Reason.INTERRUPTED, head=head)


def is_open(closed: Event | None) -> bool:
    """Whether a merge still waits to be settled: cut short, or not put back."""
    return closed is None or "left" in closed


def is_settled(history: History) -> bool:
    return history.ended is not None and not any(is_open(closed) for _, closed in history.intents("merge"))


def settle_merge(
    last: History, intent: Event, left: Mapping[str, _landing.Sign], reads: Reads, hands: Hands
) -> tuple[str | None, str]:
    """The commit that a merge under way made; or None, and why there is none. Raises Refusal."""
    target = Target(Ref(intent["target"]), Oid(intent["target_oid"]))
    tip = Oid(intent["tip"])
    head = reads.objects.commit("HEAD")
    if head is None or head != target.oid:
        if head and reads.objects.parents(head) == (target.oid, tip):
            return head, ""
        return None, "the run was killed, and HEAD went elsewhere"
    edited = tuple(Change(".M", path) for path in intent["edited"])
    attempt = _landing.Attempt(
        target,
        tip,
        reads.differences(target.oid, Oid(intent["tree"])),
        Look(target.oid, target.branch, edited, ()),
        {},
        residue_place(reads.layout.common_dir, last.id, str(intent["branch"])),
        Ref(f"{backup_prefix(last.id)}staged/{intent['branch']}"),
        Oid(intent["tree"]),
        left,
    )
    if not is_ours(intent, attempt, reads):
        return None, "the run was killed, and what stands in the index is not provably ours; it was left as it is"
    outcome = _landing.put_back(attempt, reads, hands)
    if outcome.halt:
        raise Refusal(Reason.REPO_BUSY, f"a merge of the killed run {last.id} could not be put back: {outcome.detail}")
    if outcome.detail:
        logger.warning("a killed run: %s", outcome.detail)
    return None, f"the run was killed; the checkout was put back. {outcome.detail}".strip()


def put_lock_back(intent: Event, reads: Reads, hands: Hands) -> None:
    """Lock a worktree again that a killed run had unlocked in order to remove it, as old as its lock was."""
    if "reason" not in intent:
        return
    try:
        worktree = reads.worktree_at(Path(intent["path"]))
        if worktree.lock_reason() is None:
            hands.git.lock_worktree(worktree.path, intent["reason"])
            os.utime(worktree.admin / "locked", (intent["since"], intent["since"]))
    except (BrokenLink, OSError, GitError):
        return


def is_ours(intent: Event, attempt: _landing.Attempt, reads: Reads) -> bool:
    """Whether the index holds what that merge put there, and nothing that somebody added since."""
    look = reads.target_look()
    if look.branch != attempt.target.branch or look.unmerged:
        return False
    try:
        tree = reads.index_tree()
    except GitError:
        return False
    return tree in (intent["tree"], reads.objects.tree(attempt.target.oid))


def await_orphans(run_id: str, patience: float) -> None:
    """Wait for git commands that a killed run left behind, and end them when their time is up."""
    deadline = time.monotonic() + patience
    told = False
    while orphans := orphans_of(run_id):
        if not told:
            logger.warning("waiting for git commands of the killed run %s (%s)", run_id, [o.pid for o in orphans])
            told = True
        if time.monotonic() > deadline:
            end_all(orphans)
            return
        time.sleep(0.05)


def orphans_of(run_id: str) -> list[Any]:
    """Live processes that lead a session, run git and carry the mark of that run."""
    import psutil  # only after a crash

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == process.pid and process.environ().get(MARK) == run_id:
                words = process.cmdline()[:2]
                if process.status() != psutil.STATUS_ZOMBIE and any(os.path.basename(w) == "git" for w in words):
                    found.append(process)
    return found


def end_all(processes: list[Any]) -> None:
    for process in processes:
        end_group(process.pid)
