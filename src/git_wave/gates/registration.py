"""Does git register this very directory, with a branch that stays when it goes?

The directory's `.git` file and git's registration must name each other. A detached HEAD belongs to no branch, so
that its commits would go with the worktree.
"""

from __future__ import annotations

from git_wave.gates._answer import Answer, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.git.links import BrokenLink
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    registered = subject.registration
    if registered is None:
        return blocks(Reason.NOT_REGISTERED, "git registers no linked worktree there")
    try:
        # Asked again rather than taken from the subject, where "no" and "cannot tell" are one.
        subject.reads.worktree_at(subject.path)
    except BrokenLink as error:
        return blocks(Reason.NOT_REGISTERED, str(error))
    if registered.branch is None:
        return blocks(Reason.DETACHED_HEAD, "it is on no branch")
    return clear()


GATE = Gate("registration", "Does git register this very directory, with a branch that stays when it goes?", check)
