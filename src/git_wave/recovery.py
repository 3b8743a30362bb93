"""What a run that was killed left under way, settled before the next one begins.

Only what is provably ours is touched: a journal without an end names the merge that was begun, and the index
holds exactly the tree which that merge was to make. Anything else stands as it is, and the wave says `repo_busy`.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

from git_wave.git.parse import Change, Look
from git_wave.git.processes import end_group
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref
from git_wave.model.reasons import Reason
from git_wave.stages import _landing
from git_wave.stages._case import Hands, Target
from git_wave.state.journal import Event, History, Journal, list_histories
from git_wave.state.kept import kept_place

MARK = "GIT_WAVE_RUN"
"""The variable by which a git command tells which run started it."""


def settle_last_run(reads: Reads, hands: Hands, patience: float) -> None:
    """Close the newest journal if it has no end. Raises OSError, JournalError or GitError.

    `patience` is how many seconds git commands which that run started may go on before they are ended.
    """
    histories = list_histories(reads.layout.common_dir)
    if not histories or histories[-1].ended or histories[-1].began is None:
        return
    last = histories[-1]
    await_orphans(last.id, patience)
    journal = Journal.reopen(last)
    head = last.head
    for intent, closed in last.intents("merge"):
        if closed is None and (commit := settle_merge(last, intent, reads, hands)):
            journal.write("done", intent=intent["seq"], commit=commit)
            head = commit
        elif closed is None:
            journal.write("failed", intent=intent["seq"], why="the run was killed; the checkout was put back")
    journal.write("ended", ok=False, reason=Reason.INTERRUPTED, head=head)


def settle_merge(last: History, intent: Event, reads: Reads, hands: Hands) -> str | None:
    """The commit that a merge under way made, or None; then the checkout is as before, or not provably ours."""
    target = Target(Ref(intent["target"]), Oid(intent["target_oid"]))
    tip = Oid(intent["tip"])
    head = reads.objects.commit("HEAD")
    if head is None:
        return None
    if head != target.oid:
        return head if reads.objects.parents(head) == (target.oid, tip) else None
    bases = reads.merge_bases(target.oid, tip)
    edited = tuple(Change(".M", path) for path in intent["edited"])
    attempt = _landing.Attempt(
        target,
        tip,
        reads.differences(bases[0] if bases else target.oid, tip),
        Look(target.oid, target.branch, edited, ()),
        {},
        kept_place(reads.layout.common_dir, last.id, f"residue {intent['branch']}"),
        proof=Oid(intent["tree"]),
    )
    if is_ours(intent, attempt, reads):
        _landing.put_back(attempt, reads, hands)
    return None


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
    while orphans := orphans_of(run_id):
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
