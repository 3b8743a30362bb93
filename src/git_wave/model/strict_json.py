"""JSON as its standard has it, and nothing that a parser would let pass: what we cannot write again we do not read."""

from __future__ import annotations

import json
import math
from typing import Any


class RepeatedKeys(ValueError):
    """Keys that stand twice in one object: a parser drops one of the two."""

    def __init__(self, keys: list[str]) -> None:
        super().__init__(f"keys that stand twice in one object: {', '.join(keys)}")


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, of the kind RepeatedKeys for those."""
    try:
        return json.loads(text, object_pairs_hook=without_repeats, parse_constant=no_constant, parse_float=finite)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeys(sorted({key for key in keys if keys.count(key) > 1}))
    return found


def no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def finite(digits: str) -> float:
    """A number too large for a float would be read as infinity, which cannot be written as JSON."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number
