"""What anything that changes something needs of a journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol


class Recorder(Protocol):
    """What writes through git and files need of a journal."""

    def step(self, action: str, **facts: Any) -> AbstractContextManager[dict[str, Any]]:
        """Record the intent on entering; on leaving, that it was done (with what was put into the dictionary
        handed out) or how it failed. Raises JournalError before anything is done when the intent cannot be written.
        """


class JournalError(Exception):
    """The journal cannot be written, so nothing may be done."""


class Unrecorded:
    """A recorder that records nothing, for changes that are no wave's."""

    @contextmanager
    def step(self, action: str, **facts: Any) -> Iterator[dict[str, Any]]:
        yield {}
