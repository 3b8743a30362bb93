"""A result as Markdown: the summary of a job in CI, or a comment.

What comes from outside is written in character references, which Markdown never takes for structure: no name can
end a cell, open a tag or become a link.
"""

from __future__ import annotations

import re
from typing import Any

from git_wave.report.plain import one_line, plain
from git_wave.report.words import WORDS, counts, detail_lines, name_of, next_step, rows_of, warning_words

COLUMNS = ("entry", "outcome", "reason", "detail", "what to do next")
LONGEST = 300
"""Characters of one line. A summary in CI has a size limit, and a path may be longer than what is worth reading."""
MOST_WARNINGS = 50
# `w` and `.` because `www.` begins a link without any bracket; a space because only one would be shown.
LITERAL = re.compile(r"[^A-Za-z0-9 /,=-]|(?<=[wW])\.|(?<= ) ")
MARKS = {"merged_removed": "✅", "would_land": "✅", "warning": "⚠️", "blocked": "❌", "pending": "⏸️"}


def render_markdown(document: dict[str, Any]) -> str:
    """A result document as Markdown (GitHub's dialect), ending in a line feed."""
    if "result" not in document:
        return f"### ❌ git-wave: refused\n\n{code(document['reason'])}: {literal(one_line(document['error']))}\n"
    result = document["result"]
    blocks = [headline(document)]
    if result["error"]:
        blocks.append(literal(one_line(result["error"])))
    if rows := rows_of(result):
        blocks += [tally(rows), "\n".join([row_of(COLUMNS), row_of(["---"] * len(COLUMNS)), *map(entry_row, rows)])]
    if warnings := result["warnings"]:
        blocks.append("\n".join(warning_items(warnings)))
    return "\n\n".join(blocks) + "\n"


def headline(document: dict[str, Any]) -> str:
    mark = "✅" if document["ok"] else "❌"
    reason = "" if document["ok"] else f" ({code(document['reason'])})"
    return f"### {mark} git-wave: {counts(document)}{reason}"


def tally(rows: list[dict[str, Any]]) -> str:
    """How many entries ended how; a status that none has is left out."""
    numbers = {status: sum(row["status"] == status for row in rows) for status in WORDS}
    return " · ".join(f"{MARKS[status]} {WORDS[status]}: {number}" for status, number in numbers.items() if number)


def entry_row(row: dict[str, Any]) -> str:
    status = row["status"]
    reason = row.get("reason")
    cells = [
        code(name_of(row)),
        f"{MARKS[status]} {WORDS[status]}",
        code(reason) if reason else "",
        "<br>".join(map(code, detail_lines(row))),
        literal(next_step(row)),
    ]
    return row_of(cells)


def row_of(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def warning_items(warnings: list[dict[str, Any]]) -> list[str]:
    shown = [f"- ⚠️ {code(warning['code'])} {code(warning_words(warning))}" for warning in warnings[:MOST_WARNINGS]]
    rest = len(warnings) - len(shown)
    return [*shown, f"- and {rest} more warnings"] if rest else shown


def code(text: str) -> str:
    """In a fixed-width font, where GitHub sees neither people to notify nor issues to link."""
    return f"<code>{literal(text)}</code>"


def literal(text: str) -> str:
    """`text` so that Markdown and HTML show it and do nothing else with it.

    >>> literal("a|b")
    'a&#124;b'
    """
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return LITERAL.sub(lambda match: f"&#{ord(match[0])};", plain(short).replace("\n", " "))
