"""Fault points: how many were tried, and every one that failed rather than the first."""

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

PROPERTY = "fault points"


class Points:
    def __init__(self) -> None:
        self.tried = 0
        self.failed: list[str] = []

    @contextmanager
    def at(self, point: str) -> Iterator[None]:
        """One fault point; what fails inside is told at the end, with the others."""
        self.tried += 1
        try:
            yield
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.failed.append(f"{point}: {where.name}: {type(error).__name__}: {error}")


@contextmanager
def fault_points(kind: str, record_property: Callable[[str, object], None]) -> Iterator[Points]:
    """Points of one kind; their number goes into the terminal's summary."""
    points = Points()
    yield points
    record_property(PROPERTY, [kind, points.tried])
    assert not points.failed, f"{len(points.failed)} of {points.tried}:\n" + "\n".join(points.failed)


def summary_line(reports: Iterable[Any]) -> str:
    """What the test run says at its end, or ""."""
    tried: Counter[str] = Counter()
    for report in reports:
        with suppress(AttributeError):
            if report.when == "call":
                for kind, number in [value for name, value in report.user_properties if name == PROPERTY]:
                    tried[kind] += number
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(tried.items()))
    return f"fault points tried: {tried.total()} ({kinds})" if tried else ""
