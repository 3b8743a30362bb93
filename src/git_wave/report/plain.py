"""Text that is safe on a terminal: what comes from paths, branches or git never reaches it raw."""

from __future__ import annotations

import re

# C0 but for tab and line feed, DEL, C1, and the marks that turn the direction of text.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` with every unsafe character spelled out.

    >>> plain("agent\\x1b[31m")
    'agent\\\\x1b[31m'
    """
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    return plain(text).replace("\n", " · ").replace("\t", " ")
