"""`--format markdown`: a job's summary, read by a Markdown parser that is not ours."""

import itertools
import re

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from git_wave.report.markdown import render_markdown
from support.calling import call
from support.repo import put
from support.world import World

HOSTILE = [
    "a|b",
    "a\\|b",
    "`x`|`",
    "<img src=x onerror=alert(1)>",
    "</code><script>alert(1)</script>",
    "[x](http://evil.invalid)",
    "![x](y)",
    "www.evil.invalid http://evil.invalid <http://evil.invalid>",
    "**bold** _i_ ~~s~~ # h",
    "&#124; &lt;b&gt; &amp;",
    "a\nb\r\n| c | d |",
    "\x1b[31m\u202e\udc80",
    "---",
    "- item",
    "$math$ @someone #1",
    "x" * 5000,
]


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def cells(tokens: list[Token]) -> list[list[str]]:
    """The text of each table row's cells, header first, as a reader sees it."""
    rows: list[list[str]] = []
    for before, token in itertools.pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in ("th_open", "td_open"):
            rows[-1].append(shown(token))
    return rows


def shown(inline: Token) -> str:
    return "".join("\n" if t.content == "<br>" else "" if t.type == "html_inline" else t.content
                   for t in inline.children or [])  # fmt: skip


def foreign(tokens: list[Token]) -> set[str]:
    """Everything that is neither plain text nor a tag that we write ourselves."""
    inline = [t for token in tokens for t in token.children or []]
    tags = {t.content for t in inline if t.type == "html_inline"} | {
        t.content for t in tokens if t.type == "html_block"
    }
    kinds = {t.type for t in inline} - {"text", "html_inline", "softbreak", "text_special"}
    return kinds | (tags - {"<code>", "</code>", "<br>"})


def test_markdown_is_a_table_of_entries_with_counts_and_warnings(world: World) -> None:
    good, dirty = world.agent("good"), world.agent("dirty")
    put(dirty.path / "left|over.txt", "left")
    put(good.path / ".planning/1/SUMMARY.md", "done")

    answer = call("--manifest", str(world.manifest(good, dirty)), "--format", "markdown", prog="cleanup-wave")

    tokens = parse(answer.out)
    header, first, second = cells(tokens)
    assert answer.code == 1
    assert header == ["entry", "outcome", "reason", "detail", "what to do next"]
    assert (first[0], first[2]) == (good.branch, "ok")
    assert re.fullmatch(r"merge [0-9a-f]{12}", first[3])
    assert second[:1] + second[2:] == [
        dirty.branch,
        "worktree_dirty",
        "?? left|over.txt",
        "commit or discard, run again",
    ]
    assert "1 of 2 landed" in answer.out
    assert "cleanup&#95;blocked" in answer.out
    assert any("summary_rescued" in shown(token) for token in tokens if token.type == "inline")
    assert foreign(tokens) == set()


def test_a_refusal_and_a_wave_without_entries_are_markdown_too(world: World) -> None:
    unread = call("--manifest", str(world.tmp / "<none>"), "--format", "markdown", prog="cleanup-wave")
    empty = call("--manifest", str(world.manifest()), "--format", "markdown", prog="cleanup-wave")

    assert (unread.code, empty.code) == (1, 1)
    for answer, reason in ((unread, "manifest_read_failed"), (empty, "empty_manifest")):
        assert foreign(parse(answer.out)) == set()
        assert reason.replace("_", "&#95;") in answer.out


def document(text: str) -> dict[str, object]:
    """A result in which everything that comes from outside is `text`."""
    warning = {"code": "duplicate_entry", "branch": text, "path": text, "detail": text}
    row = {"branch": text, "worktree_path": text, "status": "blocked", "reason": "merge_failed", "stderr": text}
    result = {"entries": [{**row, "next_step": "x"}], "pending": [row], "warnings": [warning] * 60, "error": text}
    facts = {"plan": {"entries": 2}, "wave": {"dry_run": False}}
    return {"ok": False, "reason": "cleanup_blocked", "result": result, **facts}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_breaks_the_table_or_becomes_markup(text: str) -> None:
    tokens = parse(render_markdown(document(text)))

    rows = cells(tokens)
    assert [len(row) for row in rows] == [5, 5, 5]
    assert foreign(tokens) == set()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", render_markdown(document(text)))
    assert len(render_markdown(document(text))) < 1 << 18


def test_a_name_is_shown_as_it_is() -> None:
    name = "a|b <i>`c`</i> *d* [e](f) &amp; \\g"

    assert cells(parse(render_markdown(document(name))))[1][0] == name
