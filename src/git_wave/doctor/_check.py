"""What one check found, and how checks are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from git_wave.model.errors import GitError, WaveError, in_words


class Status(StrEnum):
    """`warning`: worth knowing, waves still work. `problem`: a wave would be refused, or something may get lost."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and what to do about it (empty when nothing)."""

    name: str
    status: Status
    detail: str
    advice: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"check": self.name, "status": self.status, "detail": self.detail, "advice": self.advice}


def ok(name: str, detail: str) -> Check:
    return Check(name, Status.OK, detail)


def warning(name: str, detail: str, advice: str) -> Check:
    return Check(name, Status.WARNING, detail, advice)


def problem(name: str, detail: str, advice: str) -> Check:
    return Check(name, Status.PROBLEM, detail, advice)


def made(name: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """What `look` finds; a look that could not be taken is a problem, never "fine"."""
    try:
        yield from look()
    except (GitError, WaveError, OSError, ValueError) as error:
        yield problem(name, f"could not be checked: {in_words(error)}", "See to the error named, then ask again.")


def some(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
