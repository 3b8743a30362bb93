"""Files that come with the program: schemas, and what callers copy."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
TREE = PACKAGE.parents[1]
"""The source tree, when this is one; an installed package holds the files itself."""


def shipped(name: str) -> Path | None:
    """The file or directory of that name (`schemas/...`), None when it did not come with us."""
    return next((place / name for place in (PACKAGE, TREE) if (place / name).exists()), None)
