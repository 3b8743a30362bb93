"""The record of a worktree's owner, kept in its administrative directory.

It goes when the worktree goes, is never seen by `git status`, and cannot be left behind for whoever gets the same
path next.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from git_wave.model.owner import Owner
from git_wave.state.atomic import replace_file

NAME = "git-wave-owner.json"
LARGEST = 1 << 16
"""Bytes. A record is a few hundred; whatever is larger is none."""


class UnreadableOwner(Exception):
    """There is a record, and it cannot be understood; the message says why."""


def load_owner(admin: Path) -> Owner | None:
    """The owner recorded for the worktree with this administrative directory; None when none is.

    Raises UnreadableOwner, also when the file cannot be read.
    """
    try:
        descriptor = os.open(admin / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableOwner(f"{admin / NAME}: it is no regular file")
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableOwner(f"{admin / NAME}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise UnreadableOwner(f"{admin / NAME}: it is too large for an owner record")
    try:
        return Owner.from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableOwner(f"{admin / NAME}: {error}") from error


def write_owner(admin: Path, owner: Owner) -> None:
    """Replace the record in one step. Raises OSError."""
    replace_file(admin / NAME, json.dumps(owner.as_json(), indent=1).encode() + b"\n")
