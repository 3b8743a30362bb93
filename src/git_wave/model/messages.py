"""What a merge of a wave is called in the history."""

from __future__ import annotations

import re

from git_wave.model.names import CONTROL

MERGE_MESSAGE = "chore: merge executor worktree ({branch})"
PLACE = re.compile(r"\{(\w*)\}")
KNOWN = ("branch", "agent")


def merge_message(template: str, branch: str, agent: str | None) -> str:
    """The message of the merge of one branch. An agent that nobody named is told by the branch.

    >>> merge_message("{agent}: {branch}", "agent-7", "7")
    '7: agent-7'
    """
    known = {"branch": branch, "agent": CONTROL.sub("?", agent or branch)}
    return PLACE.sub(lambda match: known.get(match[1], match[0]), template)


def unknown_places(template: str) -> list[str]:
    """The `{places}` in a template that stand for nothing."""
    return [match[0] for match in PLACE.finditer(template) if match[1] not in KNOWN]


def subjects(template: str, branch: str, agent: str | None) -> tuple[str, ...]:
    """The subjects by which a merge of that branch is known again: ours as set now, and as it is when nothing is set.

    A message that does not tell the branch proves nothing of it.
    """
    telling = (one for one in (template, MERGE_MESSAGE) if "{branch}" in one.split("\n")[0])
    return tuple(dict.fromkeys(merge_message(one, branch, agent).split("\n")[0] for one in telling))
