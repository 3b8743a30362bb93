"""A JSON text, edited in place: whatever is not edited stays as it is, byte for byte.

Pure. A text that only nearly is JSON (comments, trailing commas, a key twice) is refused: writing it back from its
values would lose something.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from git_wave.model import strict_json
from git_wave.model.positions import DECODER, skip

INDENT = re.compile(r"[ \t]*")
MEMBER_ON_ITS_LINE = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: `text[start:end]`. `begin` is where its key begins, for a member of an object."""

    value: Any
    begin: int
    start: int
    end: int
    children: dict[str | int, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to be put in before the character at `offset`."""

    offset: int
    text: str


def parse(text: str) -> Node:
    """The whole text as a tree. Raises ValueError, with the first thing that is no strict JSON."""
    strict_json.loads(text)
    try:
        return _node(text, skip(text, 0), None)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _node(text: str, start: int, begin: int | None) -> Node:
    first = start if begin is None else begin
    value, end = DECODER.raw_decode(text, start)
    children: dict[str | int, Node] = {}
    if text[start] not in "{[":
        return Node(value, first, start, end)
    at, key_at = skip(text, start + 1), None
    while text[at] not in "}]":
        key: str | int = len(children)
        if text[start] == "{":
            key_at = at
            key, at = DECODER.raw_decode(text, at)
            at = skip(text, skip(text, at) + 1)
        child = children[key] = _node(text, at, key_at)
        at = skip(text, child.end)
        if text[at] == ",":
            at = skip(text, at + 1)
    return Node(value, first, start, end, children)


def members_added(text: str, root: Node, to: Node, members: dict[str, Any]) -> Insertion:
    """New members at the end of an object, in the way that the text is laid out."""
    style = Style.of(text, root)
    return style.added(to, [(f"{json.dumps(key, ensure_ascii=False)}{style.colon}", it) for key, it in members.items()])


def item_added(text: str, root: Node, to: Node, value: Any) -> Insertion:
    """A new item at the end of an array."""
    return Style.of(text, root).added(to, [("", value)])


def applied(text: str, insertions: list[Insertion]) -> tuple[str, list[tuple[int, int]]]:
    """The text with all of them made, and where in it each stands: offset and length."""
    spans, shift = [], 0
    for one in sorted(insertions, key=lambda insertion: insertion.offset):
        at = one.offset + shift
        text = text[:at] + one.text + text[at:]
        spans.append((at, len(one.text)))
        shift += len(one.text)
    return text, spans


def taken_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The inverse of `applied`."""
    for offset, length in sorted(spans, reverse=True):
        text = text[:offset] + text[offset + length :]
    return text


def without(text: str, container: Node, key: str | int) -> str:
    """The text without one member or item, and without the comma that set it apart."""
    keys = list(container.children)
    place = keys.index(key)
    gone = container.children[key]
    if place:
        return text[: container.children[keys[place - 1]].end] + text[gone.end :]
    if len(keys) > 1:
        return text[: gone.begin] + text[container.children[keys[1]].begin :]
    return text[: container.start + 1] + text[container.end - 1 :]


@dataclass(frozen=True, slots=True)
class Style:
    """How a text is laid out: its line ends, one step of its indentation, or all on one line."""

    text: str
    newline: str
    unit: str
    comma: str
    colon: str
    spread: bool

    @classmethod
    def of(cls, text: str, root: Node) -> Style:
        newline = "\r\n" if "\r\n" in text else "\n"
        first = next(iter(root.children.values()), None)
        indented = MEMBER_ON_ITS_LINE.search(text, root.start, first.start + 1) if first else None
        spread = first is None or "\n" in text[root.start : root.end]
        tight = not spread and first is not None and not text[: first.start].endswith((" ", "\t"))
        unit = indented[1] if indented else "  "
        return cls(text, newline, unit, "," if tight else ", ", ":" if tight else ": ", spread)

    def added(self, to: Node, things: list[tuple[str, Any]]) -> Insertion:
        """Each thing is what stands before its value (a key and a colon, or nothing), and the value."""
        last = next(reversed(to.children.values()), None)
        inside = self.text[to.start + 1 : last.begin if last else to.end - 1]
        if (last is not None and "\n" not in inside) or not self.spread:
            joined = self.comma.join(before + self.compact(value) for before, value in things)
            return Insertion(last.end, self.comma + joined) if last else Insertion(to.start + 1, joined)
        outer = self.indent_at(to.start)
        inner = outer + self.unit if last is None else self.indent_at(last.begin)
        lines = f",{self.newline}{inner}".join(before + self.pretty(value, inner) for before, value in things)
        if last is not None:
            return Insertion(last.end, f",{self.newline}{inner}{lines}")
        closing = "" if "\n" in inside else self.newline + outer
        return Insertion(to.start + 1, f"{self.newline}{inner}{lines}{closing}")

    def indent_at(self, offset: int) -> str:
        """The white space that the line of this offset begins with."""
        found = INDENT.match(self.text, self.text.rfind("\n", 0, offset) + 1)
        return found[0] if found else ""

    def compact(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))

    def pretty(self, value: Any, indent: str) -> str:
        dumped = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return dumped.replace("\n", self.newline + indent)
