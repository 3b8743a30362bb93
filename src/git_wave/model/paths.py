"""Paths as people declare them in a manifest, compared with paths as git reports them. Pure text."""

from __future__ import annotations

import re
from collections.abc import Iterable

GLOB = re.compile(r"[*?\[]")
QUOTED = re.compile(r'\\([abtnvfr"\\]|[0-7]{3})')
UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def normalize(path: str) -> str:
    """A declared path as git would name it: no `./`, no trailing `/`, forward slashes, git's quoting undone.

    >>> normalize(".\\\\docs\\\\old.md")
    'docs/old.md'
    >>> normalize('"caf\\\\303\\\\251.txt"')
    'café.txt'
    """
    is_quoted = len(path) > 1 and path.startswith('"') and path.endswith('"')
    path = unquote(path) if is_quoted else path.replace("\\", "/")
    return re.sub(r"/{2,}", "/", re.sub(r"^(\./+)+", "", path)).rstrip("/")


def unquote(path: str) -> str:
    """What git means by a path in double quotes (see core.quotePath)."""

    def byte(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(ESCAPES[escape] if escape in ESCAPES else int(escape, 8) & 0xFF)

    parts = re.split(r"(\\(?:[abtnvfr\"\\]|[0-7]{3}))", path[1:-1])
    raw = b"".join(
        byte(m).encode("latin-1") if (m := QUOTED.fullmatch(part)) else part.encode("utf-8", "surrogateescape")
        for part in parts
    )
    return raw.decode("utf-8", "surrogateescape")


def shown(path: str) -> str:
    """A path on a line of its own: quoted as git does when it could not stand there raw.

    `normalize` undoes it, so that what we list can be pasted into a manifest.
    """
    if UNSHOWABLE.search(path) is None and not path.startswith('"'):
        return path
    back = {code: letter for letter, code in ESCAPES.items()}
    body = "".join(
        f"\\{back[byte]}" if byte in back else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
        for byte in path.encode("utf-8", "surrogateescape")
    )
    return f'"{body}"'


def declared_set(paths: Iterable[str]) -> frozenset[str]:
    """The literal declared paths, both as written and normalized: no prefixes and no globs."""
    return frozenset(form for path in paths for form in (path, normalize(path)) if form)


class Scope:
    """The declared scope of an entry: what `files_modified` covers.

    A path covers itself and what is below; a glob counts up to its first metacharacter; one that begins
    with a glob covers everything.
    """

    def __init__(self, declared: Iterable[str]) -> None:
        paths = [path for path in declared if path.strip()]
        literal = [path for path in paths if not GLOB.search(path)]
        heads = [literal_head(path) for path in paths if GLOB.search(path)]
        self.declared = bool(paths)
        self._everything = "" in heads or any(normalize(path) in ("", ".") for path in literal)
        self._literal = declared_set(literal)
        self._heads = tuple(heads)

    def covers(self, path: str) -> bool:
        """Whether `path`, as git names it, is inside."""
        if self._everything or path in self._literal or path.startswith(self._heads):
            return True
        cut = path.rfind("/")
        while cut > 0:
            if path[:cut] in self._literal:
                return True
            cut = path.rfind("/", 0, cut)
        return False


def literal_head(pattern: str) -> str:
    """What stands before the first metacharacter: `./src/a*.py` counts as all that begins with `src/a`."""
    head = GLOB.split(pattern.replace("\\", "/"), maxsplit=1)[0]
    return re.sub(r"^(\./+)+", "", head)


def is_summary(path: str) -> bool:
    """Whether `path` is a SUMMARY artifact: `.planning/**/*SUMMARY.md`."""
    return path.startswith(".planning/") and path.endswith("SUMMARY.md")


def is_repository(directories: list[str], files: list[str]) -> bool:
    """Whether a directory with these in it is a git directory: bare, or one that a `.git` points to."""
    return "HEAD" in files and "objects" in directories and "refs" in directories
