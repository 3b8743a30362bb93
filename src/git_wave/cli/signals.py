"""Signals become a request to stop; the command that runs decides when that is safe."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from git_wave.model.interrupts import Interrupts

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def caught() -> Iterator[Interrupts]:
    """Turn SIGINT, SIGTERM and SIGHUP into `Interrupts` while this lasts. One ignored by the caller stays so."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return

    def arrive(signum: int, _frame: Any) -> None:
        interrupts.arrive(signum)

    before = {signum: signal.getsignal(signum) for signum in STOPPING}
    try:
        for signum, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(signum, arrive)
        yield interrupts
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
