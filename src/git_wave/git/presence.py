"""Is it there, is it gone, or can we not tell? Three answers, and only a proof makes "gone".

ENOENT alone is not enough: under a mount that went away, or through a dangling link, everything answers
ENOENT. Gone means that the nearest directory above that does exist can be listed.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path

lstat = os.lstat
UNESCAPED = re.compile(r"\\([0-7]{3})")


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


MOUNTS = Path("/proc/self/mountinfo")


def mounts_below(path: Path) -> tuple[str, ...]:
    """Mount points inside `path`, bind mounts included. Raises OSError when they cannot be listed."""
    if MOUNTS.exists():
        fields = (line.split(" ") for line in MOUNTS.read_text("utf-8", "surrogateescape").split("\n"))
        points = [UNESCAPED.sub(lambda match: chr(int(match[1], 8)), line[4]) for line in fields if len(line) > 4]
    else:
        import psutil  # where the kernel has no such list

        points = [partition.mountpoint for partition in psutil.disk_partitions(all=True)]
    return tuple(sorted(point for point in points if Path(point) != path and Path(point).is_relative_to(path)))


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
