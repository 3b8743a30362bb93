"""An inventory as a table for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from git_wave.gates import Kind
from git_wave.reclaim.inventory import Inventory
from git_wave.reclaim.places import State
from git_wave.reclaim.rows import Row
from git_wave.reclaim.sizes import Size
from git_wave.report.inventory_document import counts, sorted_rows
from git_wave.report.plain import one_line

STYLES = {
    State.MAIN: "bold",
    State.PRESENT: "",
    State.ABSENT: "yellow",
    State.UNREADABLE: "red",
    State.BROKEN: "red",
    State.UNREGISTERED: "magenta",
}
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
SPANS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
NUMBERS = ("age", "size", "ahead", "behind")


def render_inventory(inventory: Inventory, console: Console, key: str) -> None:
    """Print it as a table, with what could not be told and the counts below."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in ("worktree", "branch", "owner", "state", *NUMBERS, "landed", "kept by"):
        short = name in NUMBERS
        table.add_column(name, justify="right" if short else "left", no_wrap=short, overflow="fold")
    rows = sorted_rows(inventory, key)
    for row in rows:
        table.add_row(*cells(row, inventory))
    console.print(table)
    for line in unknowns(inventory, rows):
        console.print(Text(one_line(line)), style="yellow")
    console.print(Text(headline(inventory)))


def cells(row: Row, inventory: Inventory) -> Iterator[Text]:
    yield Text(one_line(shown_path(row, inventory)))
    yield Text(one_line(row.branch or (f"({row.head[:8]})" if row.head else "–")))
    yield Text(one_line(owner(row)))
    yield Text(state(row), style=STYLES[row.place.state])
    yield Text(age(inventory.now - row.made_at) if row.made_at else unknown(row, "age"))
    yield Text(size(row.size) if row.size else unknown(row, "size"))
    for number in (row.distance.ahead, row.distance.behind) if row.distance else (None, None):
        yield Text(unknown(row, "distance", "head") if number is None else str(number))
    yield Text({True: "yes", False: "no", None: unknown(row, "landed", "head")}[row.landed])
    yield Text(kept_by(row))


def unknown(row: Row, *probes: str) -> str:
    """`?` for what could not be told, `–` for what does not apply."""
    return "?" if any(probe in row.not_known for probe in probes) else "–"


def shown_path(row: Row, inventory: Inventory) -> str:
    """Relative to the checkout when it is below."""
    if row.place.path is None:
        return str(row.place.admin)
    if row.place.path.is_relative_to(inventory.root) and row.place.path != inventory.root:
        return str(row.place.path.relative_to(inventory.root))
    return str(row.place.path)


def owner(row: Row) -> str:
    if row.owner:
        return row.owner.agent_id
    return "unreadable" if "owner" in row.not_known else "unknown"


def state(row: Row) -> str:
    registered = row.place.registration
    marks = [str(row.place.state)]
    if registered and registered.locked is not None:
        marks.append("locked")
    if registered and registered.prunable is not None:
        marks.append("prunable")
    return ", ".join(marks)


def age(span: timedelta) -> str:
    """In the largest unit that fits.

    >>> age(timedelta(hours=50))
    '2 d'
    """
    return next((f"{span // unit} {name}" for unit, name in SPANS if span >= unit), f"{span.seconds} s")


def size(found: Size) -> str:
    """Three digits and a unit, after `≥` where not all was seen.

    >>> size(Size(1536, 3, "the time was up"))
    '≥ 1.5 KiB'
    """
    number, unit = float(found.size), 0
    while number >= 1000 and unit < len(UNITS) - 1:
        number, unit = number / 1024, unit + 1
    told = f"{number:.0f}" if unit == 0 or number >= 10 else f"{number:.1f}"
    return f"{'≥ ' if found.why else ''}{told} {UNITS[unit]}"


def kept_by(row: Row) -> str:
    """What stands against its removal, a gate that cannot tell with a question mark."""
    if row.may_go:
        return "nothing"
    marks = (f"{name}?" if answer.kind is Kind.CANNOT_TELL else name for name, answer in row.against.items())
    return ", ".join(marks) or unknown(row)


def unknowns(inventory: Inventory, rows: list[Row]) -> Iterator[str]:
    """What could not be told and why, and warnings, one a line; what many rows share is told once."""
    for what, why in inventory.not_known.items():
        yield f"cannot tell: {what}: {why}"
    shared: dict[str, list[str]] = {}
    for row in rows:
        for line in remarks(row):
            shared.setdefault(line, []).append(shown_path(row, inventory))
    for line, paths in shared.items():
        yield f"{line} ({len(paths)} worktrees)" if len(paths) > 1 else f"{line} ({paths[0]})"


def remarks(row: Row) -> Iterator[str]:
    if row.place.why:
        yield f"{row.place.state}: {row.place.why}"
    for what, why in row.not_known.items():
        yield f"cannot tell: {what}: {why}"
    for gate, answer in row.against.items():
        if answer.kind is Kind.CANNOT_TELL and row.place.worktree:
            yield f"cannot tell: {gate}: {'; '.join(answer.why)}"
    for warning in row.warnings:
        yield f"warning: {warning.code}: {warning.detail}"


def headline(inventory: Inventory) -> str:
    found = counts(inventory)
    states = ", ".join(f"{count} {state}" for state, count in found.items() if count and state != "all")
    free = sum(row.may_go is True for row in inventory.rows)
    root = os.fspath(inventory.managed_root)
    return f"{found['all']} in all: {states}; {free} may go. Managed root: {one_line(root)}"
