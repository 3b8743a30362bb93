"""Are all its commits somewhere else too?

On the branch's upstream; without one, on any remote-tracking ref; where there is no remote at all, in the default
branch.
"""

from __future__ import annotations

from git_wave.gates._answer import Answer, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.model.names import heads_ref
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    if subject.tip is None:
        return clear()
    against = yardstick(subject)
    count = subject.reads.commits_outside(subject.tip, *against)
    if not count:
        return clear()
    where = against[0] if against else "any remote-tracking ref"
    return blocks(Reason.COMMITS_UNPUSHED, f"{count} commit{'s' if count > 1 else ''} not on {where}")


def yardstick(subject: Subject) -> tuple[str, ...]:
    """The ref that must hold the commits; none means any remote-tracking ref. Raises NotKnown."""
    branch = subject.look.branch
    upstream = subject.inspection.upstreams.get(heads_ref(branch)) if branch else None
    if upstream is not None and branch is not None and upstream != heads_ref(branch):
        return (upstream,)
    return () if subject.inspection.has_remote else (subject.inspection.default_ref,)


GATE = Gate("unpushed", "Are all its commits somewhere else too?", check)
