"""The published schema of results, which every document that a test sees must satisfy."""

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[2] / "schemas" / "result.schema.json"


@functools.cache
def result_validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def assert_published(document: dict[str, Any]) -> None:
    """Fails with every place where a document differs from the schema."""
    errors = [f"{error.json_path}: {error.message}" for error in result_validator().iter_errors(document)]
    assert not errors, errors
