"""Is no process in it?

A process is in a worktree that its working or root directory, its program, or an open or mapped file is in. Our own
ancestors count, and this process does not. Processes that cannot be looked into are a warning, since there are some on
most machines; a look that failed as a whole, or did not find this process, proves nothing.
"""

from __future__ import annotations

from git_wave.gates._answer import Answer, NotKnown, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.model.entry import Advice
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.census import Census

SAMPLE = 10
"""How many pids are told at most."""


def check(subject: Subject) -> Answer:
    census = subject.census
    if problem := census.problem or census.blind.get(subject.path):
        raise NotKnown(problem)
    warnings = unseen(census)
    if holds := census.holds.get(subject.path):
        lines = [f"pid {hold.pid}: {hold.how} {shown(hold.path)}" for hold in holds[:SAMPLE]]
        more = [f"and {len(holds) - SAMPLE} more processes"] if len(holds) > SAMPLE else []
        return blocks(Reason.WORKTREE_IN_USE, *lines, *more, warnings=warnings)
    return clear(warnings)


def unseen(census: Census) -> list[Advice]:
    if not census.unreadable:
        return []
    count, some = len(census.unreadable), ", ".join(map(str, census.unreadable[:SAMPLE]))
    more = ", …" if count > SAMPLE else ""
    return [Advice(Reason.PROCESSES_UNREADABLE, None, None, f"{count} could not be looked into: pid {some}{more}")]


GATE = Gate("holders", "Is no process in it?", check, unknown=Reason.HOLDERS_CHECK_FAILED)
