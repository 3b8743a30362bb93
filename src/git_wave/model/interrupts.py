"""A request to stop, taken only where stopping is safe.

A signal handler that raised anywhere could cut between a merge and the note of it. So the request is
remembered, and becomes `Interrupted` only while a command that may be cut short is running, or before the next
one starts. It is raised once: what then puts things back is not interrupted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from git_wave.model.errors import Interrupted


class Interrupts:
    """`signum` is the first signal that arrived, None while none has."""

    def __init__(self) -> None:
        self.signum: int | None = None
        self._raised = False
        self._waiting = False

    def arrive(self, signum: int) -> None:
        """Called by the signal handler, in the main thread."""
        self.signum = self.signum or signum
        if self._waiting:
            self.check()

    def check(self) -> None:
        if self.signum is not None and not self._raised:
            self._raised = True
            raise Interrupted(self.signum)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A wait that a signal may end."""
        self._waiting = True
        try:
            self.check()
            yield
        finally:
            self._waiting = False
