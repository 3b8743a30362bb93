"""What becomes of ignored files that no build makes again when their worktree goes."""

from __future__ import annotations

from enum import StrEnum


class IgnoredOutput(StrEnum):
    """The values of `wave.ignoredOutput`."""

    KEEP = "keep"
    BLOCK = "block"
    DISCARD = "discard"
