"""What a gate answers: clear, blocks, or cannot tell; and warnings, which never block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar, overload

from git_wave.git.links import BrokenLink
from git_wave.model.entry import Advice
from git_wave.model.errors import GitError, in_words
from git_wave.model.reasons import Reason

T = TypeVar("T")


class NotKnown(Exception):
    """Something could not be found out; the message says why."""


UNANSWERED = (NotKnown, GitError, OSError, BrokenLink)
"""What stops a question from being answered. A gate that raises one of these cannot tell."""


class Kind(StrEnum):
    CLEAR = "clear"
    BLOCKS = "blocks"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Answer:
    """One gate's answer. `why` has one finding a line; `reason` is its published code, None when clear.

    `harmless` is set where it blocks although nothing would be lost: a verb may then let it pass.
    """

    kind: Kind
    reason: Reason | None = None
    why: tuple[str, ...] = ()
    warnings: tuple[Advice, ...] = ()
    harmless: bool = False

    @property
    def is_clear(self) -> bool:
        return self.kind is Kind.CLEAR


def clear(warnings: Iterable[Advice] = ()) -> Answer:
    return Answer(Kind.CLEAR, warnings=tuple(warnings))


def blocks(reason: Reason, *why: str, warnings: Iterable[Advice] = (), harmless: bool = False) -> Answer:
    return Answer(Kind.BLOCKS, reason, why, tuple(warnings), harmless)


def cannot_tell(reason: Reason, *why: str) -> Answer:
    return Answer(Kind.CANNOT_TELL, reason, why)


def blocks_for(reason: Reason, why: Iterable[str]) -> Answer:
    """Clear when nothing was found."""
    found = tuple(why)
    return blocks(reason, *found) if found else clear()


class asked_once(Generic[T]):  # noqa: N801  # used as a decorator, like cached_property
    """A question whose answer holds for one pass: also that it cannot be answered, which is raised as NotKnown.

    The owner keeps the answers in its dictionary `answers`, and a `guard` for threads that ask at the same time.
    """

    def __init__(self, ask: Callable[[Any], T]) -> None:
        self._ask = ask
        self.__doc__ = ask.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> asked_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> asked_once[T] | T:
        if instance is None:
            return self
        with instance.guard:
            if self._name not in instance.answers:
                instance.answers[self._name] = self._answer(instance)
            answer = instance.answers[self._name]
        if isinstance(answer, NotKnown):
            raise NotKnown(str(answer))
        found: T = answer
        return found

    def _answer(self, instance: Any) -> T | NotKnown:
        try:
            return self._ask(instance)
        except UNANSWERED as error:
            return NotKnown(told(error))


told = in_words
