"""What the operating system says of a process. "Cannot tell" is never "dead"."""

from __future__ import annotations

import os


def is_dead(pid: int) -> bool:
    """Only ESRCH proves it: no permission means that somebody lives there."""
    if not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def own_lineage() -> frozenset[int]:
    """This process and its ancestors, as far as they can be seen."""
    import psutil  # only a lock that names a pid asks for it

    try:
        return frozenset({os.getpid(), *(process.pid for process in psutil.Process().parents())})
    except psutil.Error:
        return frozenset({os.getpid(), os.getppid()})
