"""The published schemas, which every result and every journal that a test sees must satisfy."""

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parents[2] / "schemas"


@functools.cache
def validator(of: str) -> jsonschema.Draft202012Validator:
    """For `result`, `journal` or `manifest`."""
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{of}.schema.json").read_text(encoding="utf-8")))


def assert_published(document: dict[str, Any]) -> None:
    """Fails with every place where a document differs from the schema."""
    errors = [f"{error.json_path}: {error.message}" for error in validator("result").iter_errors(document)]
    assert not errors, errors


def assert_lines_published(journal: Path) -> list[dict[str, Any]]:
    """The lines of a journal, its torn last one left out; fails where one differs from the schema."""
    data = journal.read_bytes()
    lines: list[dict[str, Any]] = [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    for line in lines:
        errors = [f"{error.json_path}: {error.message}" for error in validator("journal").iter_errors(line)]
        assert not errors, (line, errors)
    return lines
