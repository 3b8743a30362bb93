"""How old a run is, by its id, and what ages people may write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_age(text: str) -> timedelta:
    """`30d`, `12h`, `2w`, `90m` or `0`. Raises ValueError."""
    match = re.fullmatch(r"(\d{1,6})([mhdw]?)", text.strip())
    if match is None or (not match[2] and int(match[1])):
        raise ValueError(f"{text!r} is no age; write 30d, 12h, 2w or 90m")
    return timedelta(**{UNITS[match[2] or "d"]: int(match[1])})


def begun_at(run_id: str) -> datetime | None:
    """When a run began, from its id; None when the id is not one of ours."""
    match = re.match(r"(\d{8}T\d{6})", run_id)
    try:
        return datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC) if match else None
    except ValueError:
        return None
