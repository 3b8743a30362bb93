"""Where each value of a JSON document stands, for error messages that name a line and a column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

BLANK = re.compile(r"[ \t\n\r]*")
DECODER = json.JSONDecoder()


def places(text: str) -> dict[str, tuple[int, int]]:
    """JSON pointer -> (line, column), both from 1, for every value of a document known to be valid JSON."""
    found: dict[str, tuple[int, int]] = {}
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    line = 0
    for pointer, offset in sorted(_walk(text, skip(text, 0), ""), key=lambda item: item[1]):
        while line + 1 < len(lines) and lines[line + 1] <= offset:
            line += 1
        found[pointer] = (line + 1, offset - lines[line] + 1)
    return found


def skip(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _walk(text: str, at: int, pointer: str) -> Iterator[tuple[str, int]]:
    """(pointer, offset) of the value at `at` and of everything inside it."""
    yield pointer, at
    if text[at] not in "{[":
        return
    is_object, index = text[at] == "{", 0
    at = skip(text, at + 1)
    while text[at] not in "}]":
        key = str(index)
        if is_object:
            key, at = DECODER.raw_decode(text, at)
            at = skip(text, skip(text, at) + 1)
        yield from _walk(text, at, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
        at = skip(text, DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = skip(text, at + 1)
        index += 1
