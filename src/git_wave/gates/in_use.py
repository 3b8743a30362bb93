"""Does something else lay claim to it?

The caller brings the claims: paths that live sessions, other manifests or other agents are known to use. A claim on a
directory inside counts as one on the worktree.
"""

from __future__ import annotations

import os
from pathlib import Path

from git_wave.gates._answer import Answer, NotKnown, blocks_for
from git_wave.gates._subject import Gate, Subject
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason


def check(subject: Subject) -> Answer:
    claims = subject.terms.claims
    if claims is None:
        raise NotKnown("what else lays claim to worktrees was not found out")
    return blocks_for(
        Reason.WORKTREE_CLAIMED,
        (f"claimed by {shown(who)}: {shown(str(path))}" for path, who in claims.items() if within(path, subject.path)),
    )


def within(claimed: Path, path: Path) -> bool:
    real = Path(os.path.realpath(claimed))
    return real.is_relative_to(os.path.realpath(path)) or claimed.is_relative_to(path)


GATE = Gate("in_use", "Does something else lay claim to it?", check)
