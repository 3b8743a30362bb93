"""Does it belong to whom the caller says?

Only the record in the worktree's own administrative directory counts, and only when the agent that it names has no
other worktree in this repository: which of two is an agent's cannot be told, and both stay.
"""

from __future__ import annotations

from git_wave.gates._answer import Answer, NotKnown, blocks_for, cannot_tell
from git_wave.gates._subject import Expected, Gate, Subject
from git_wave.git.presence import Presence
from git_wave.model.owner import Owner
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.owner import UnreadableOwner


def check(subject: Subject) -> Answer:
    expected = subject.terms.expected
    if expected == Expected():
        raise NotKnown("nobody was named who it should belong to")
    owner = subject.owner
    if owner is None:
        return blocks_for(Reason.OWNER_UNCONFIRMED, ["no owner is on record"])
    if others := differing(owner, expected):
        return blocks_for(Reason.OWNER_UNCONFIRMED, others)
    if namesakes := same_agent(subject, owner):
        return cannot_tell(Reason.OWNER_UNCONFIRMED, *namesakes)
    return blocks_for(Reason.OWNER_UNCONFIRMED, [])


def differing(owner: Owner, expected: Expected) -> list[str]:
    wanted = {"agent": expected.agent, "session": expected.session, "parent": expected.parent}
    recorded = {"agent": owner.agent_id, "session": owner.session, "parent": owner.parent}
    return [
        f"its {name} is {told(recorded[name])}, not {told(value)}"
        for name, value in wanted.items()
        if value is not None and recorded[name] != value
    ]


def told(value: str | None) -> str:
    return "nobody" if value is None else shown(value)


def same_agent(subject: Subject, owner: Owner) -> list[str]:
    """Other worktrees that are the same agent's, or may be because their record cannot be read.

    A registration whose directory is gone is no directory that the agent could be in.
    """
    found = []
    for admin, other in subject.inspection.owners.items():
        if admin == subject.worktree.admin:
            continue
        if isinstance(other, Owner) and other.agent_id != owner.agent_id:
            continue
        place = subject.reads.place_of(admin)
        if place is not None and subject.reads.presence(place) is Presence.GONE:
            continue
        if isinstance(other, UnreadableOwner):
            found.append(f"another record cannot be read: {other}")
        else:
            found.append(f"agent {shown(owner.agent_id)} is on record for {shown(str(place or admin))} too")
    return found


GATE = Gate("ownership", "Does it belong to whom the caller says?", check, unknown=Reason.OWNER_UNCONFIRMED)
