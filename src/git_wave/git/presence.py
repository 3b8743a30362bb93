"""Is it there, is it gone, or can we not tell? Three answers, and only a proof makes "gone".

ENOENT alone is not enough: under a mount that went away, or through a dangling link, everything answers
ENOENT. Gone means that the nearest directory above that does exist can be listed.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path

lstat = os.lstat


class Presence(Enum):
    PRESENT = "present"
    GONE = "gone"
    UNREADABLE = "unreadable"


def presence(path: Path) -> Presence:
    """What the file system says of `path` itself, never of what a link there points to."""
    try:
        lstat(path)
    except FileNotFoundError:
        return Presence.GONE if has_listable_ancestor(path) else Presence.UNREADABLE
    except OSError:
        return Presence.UNREADABLE
    return Presence.PRESENT


def has_listable_ancestor(path: Path) -> bool:
    for parent in path.parents:
        try:
            lstat(parent)
        except FileNotFoundError:
            continue
        except OSError:
            return False
        try:
            with os.scandir(parent):
                return True
        except OSError:
            return False
    return False
