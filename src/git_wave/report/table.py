"""The table at the end, and the live view while a wave runs."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from git_wave.model.entry import Entry
from git_wave.report.plain import one_line, plain
from git_wave.report.words import WORDS, counts, detail_lines, name_of, next_step, rows_of, warning_words
from git_wave.wave import Ended, Observer

STYLES = {
    "merged_removed": "green",
    "would_land": "green",
    "warning": "yellow",
    "blocked": "red",
    "pending": "dim",
}


def console_for(stream: Any, *, width: int | None = None) -> Console:
    """A console for people, in the terminal's own 16 colours at most; none under NO_COLOR or when piped.

    `width` is in columns; None takes the terminal's.
    """
    colours: Literal["standard"] | None = "standard" if stream.isatty() else None
    return Console(file=stream, color_system=colours, highlight=False, width=width, height=width and 50)


def render_document(document: dict[str, Any], console: Console) -> None:
    """Print a result document as a table with a line above and below it."""
    if "result" not in document:
        console.print(plain(f"refused: {document['reason']}: {document['error']}"), markup=False)
        return
    result = document["result"]
    if rows := rows_of(result):
        console.print(table_of(rows))
    for warning in result["warnings"]:
        console.print(warning_line(warning), style="yellow", markup=False)
    console.print(headline(document), style="green" if document["ok"] else "bold red", markup=False)


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("entry", overflow="fold", min_width=12)
    table.add_column("outcome", no_wrap=True)
    table.add_column("detail", overflow="fold", min_width=12)
    table.add_column("what to do next", overflow="fold", min_width=12)
    for row in rows:
        status = row["status"]
        reason = "" if row.get("reason") in (None, "ok") else f"\n{row['reason']}"
        table.add_row(
            Text(name_of(row)),
            Text(WORDS[status] + reason, style=STYLES[status]),
            Text("\n".join(detail_lines(row))),
            Text(next_step(row)),
        )
    return table


def warning_line(warning: dict[str, Any]) -> str:
    return f"warning: {warning['code']}: {warning_words(warning)}"


def headline(document: dict[str, Any]) -> str:
    text = counts(document)
    if not document["ok"]:
        text += f"; {document['reason']}"
    if error := document["result"]["error"]:
        text += f": {one_line(error)}"
    return text


class LiveView(Observer):
    """What is being worked on right now, on standard error, gone when the wave ends."""

    def __init__(self, stream: Any) -> None:
        self._console = console_for(stream)
        self._live = Live(console=self._console, transient=True, refresh_per_second=8)
        self._total, self._landed, self._blocked = 0, 0, 0
        self._now: RenderableType = ""

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def wave_began(self, total: int) -> None:
        self._total = total

    def stage_began(self, number: int, entry: Entry, stage: str) -> None:
        words = f" {number + 1}/{self._total} {one_line(entry.branch)}: {stage}"
        self._now = Spinner("line", text=Text(words, overflow="ellipsis", no_wrap=True))
        self._show()

    def entry_ended(self, number: int, ended: Ended) -> None:
        self._landed += ended.landed
        self._blocked += not ended.landed
        self._show()

    def _show(self) -> None:
        counts = Text(f"landed {self._landed}, blocked {self._blocked}", style="dim")
        self._live.update(Group(self._now, counts))
