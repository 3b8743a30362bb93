"""Whose is the lock on a worktree: the harness's own, or somebody's who wants it kept?

A pid in the reason decides alone: dead, or one of our own ancestors (the harness that called us), and the lock
is the harness's; any other live process keeps it. Without a pid the reason must be empty, name the entry's
agent or its branch, or begin with a known harness. A person's words stay.
"""

from __future__ import annotations

import re

from git_wave.gates.lock import named_pids
from git_wave.model.entry import Entry
from git_wave.state.processes import is_dead, own_lineage

HARNESSES = re.compile(
    r"^(?:(?:locked|held|used|in use|created) (?:by|for) )?(?:the )?"
    r"(claude(?:[ -]code)?|codex|cursor|gsd(?:-core)?|opencode|git-wave|trusty-mpm|multica|herdr)\b",
    re.IGNORECASE,
)


def is_harness_lock(reason: str, entry: Entry) -> bool:
    """Whether a lock with this reason may be taken off in order to remove the entry's worktree."""
    if pids := named_pids(reason):
        return all(is_dead(pid) or pid in own_lineage() for pid in pids)
    if not reason or HARNESSES.search(reason):
        return True
    return any(names(reason, name) for name in (entry.agent_id or "", entry.branch) if is_telling(name))


def is_telling(name: str) -> bool:
    """A name that cannot be an ordinary word in a sentence somebody wrote."""
    return len(name) > 1 and re.search(r"[\d_/-]", name) is not None


def names(reason: str, name: str) -> bool:
    return re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])", reason) is not None
