"""What git prints, understood. Pure: records in (already split at NUL), values out.

A record of a shape that is not known raises ValueError; callers take that for "git did not answer".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from git_wave.model.names import Oid, Ref, is_full_oid

SCORED = frozenset("RC")
SUBMODULE = "160000"
TRACKING = "%(refname)%00%(objectname)%00%(upstream)%00%(upstream:track,nobracket)"
AHEAD_BEHIND = re.compile(r"(?:ahead (\d+))?(?:, )?(?:behind (\d+))?")


@dataclass(frozen=True, slots=True)
class Registration:
    """One worktree as `git worktree list` tells it.

    `branch` is a full ref, None when detached; `locked` and `prunable` are None when the line is absent,
    and "" when git gives no reason.
    """

    path: str
    head: str | None = None
    branch: str | None = None
    locked: str | None = None
    prunable: str | None = None


@dataclass(frozen=True, slots=True)
class Tracking:
    """A branch, its tip and its upstream: commits that one has and the other lacks."""

    branch: Ref
    tip: Oid
    upstream: Ref
    ahead: int
    behind: int


@dataclass(frozen=True, slots=True)
class Change:
    """One uncommitted thing. `code` is git's two letters (`??` untracked, `UU` and the like unmerged)."""

    code: str
    path: str

    def __str__(self) -> str:
        return f"{self.code} {self.path}"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a working tree: where HEAD stands and all that is not committed.

    `oid` is None on an unborn branch and `branch` (short) None when detached. An ignored directory stands in
    `ignored` as one path with a trailing slash.
    """

    oid: Oid | None
    branch: str | None
    changes: tuple[Change, ...]
    ignored: tuple[str, ...]

    @property
    def unmerged(self) -> tuple[str, ...]:
        return tuple(c.path for c in self.changes if "U" in c.code or c.code in ("AA", "DD"))

    @property
    def staged(self) -> tuple[str, ...]:
        return tuple(c.path for c in self.changes if c.code[0] not in ".?")


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees. `status` is git's letter; `old` is set for a rename only.

    `mode` and `oid` are those of the newer side, zeros for a deletion.
    """

    status: str
    path: str
    mode: str
    old: str | None = None
    oid: str = ""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One index entry: `tag` is the letter of `ls-files -v`, lower case when assume-unchanged."""

    tag: str
    mode: str
    oid: Oid
    path: str

    @property
    def hidden(self) -> bool:
        """Whether `git status` leaves it out: assume-unchanged or skip-worktree."""
        return self.tag.islower() or self.tag == "S"


def parse_worktree_list_porcelain(records: Iterable[str]) -> Iterator[Registration]:
    """`git worktree list --porcelain -z`: attributes, then an empty record, per worktree."""
    fields: dict[str, str] = {}
    for record in [*records, ""]:
        if record:
            name, _, value = record.partition(" ")
            fields[name] = value
        elif fields:
            yield Registration(
                fields["worktree"],
                fields.get("HEAD"),
                fields.get("branch"),
                fields.get("locked"),
                fields.get("prunable"),
            )
            fields = {}


def parse_status_v2(records: Iterable[str]) -> Look:
    """`git status --porcelain=v2 --branch -z`."""
    head: dict[str, str] = {}
    changes: list[Change] = []
    ignored: list[str] = []
    stream = iter(records)
    for record in stream:
        kind, _, rest = record.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            head[name] = value
        elif kind == "?":
            changes.append(Change("??", rest))
        elif kind == "!":
            ignored.append(rest)
        elif kind in ("1", "u"):
            changes.append(Change(rest[:2], rest.split(" ", 7 if kind == "1" else 9)[-1]))
        elif kind == "2":
            changes.append(Change(rest[:2], rest.split(" ", 8)[-1]))
            changes.append(Change("D.", next(stream)))
        else:
            raise ValueError(f"unknown status record {record!r}")
    oid, branch = head["branch.oid"], head["branch.head"]
    return Look(
        None if oid == "(initial)" else require_oid(oid),
        None if branch == "(detached)" else branch,
        tuple(changes),
        tuple(ignored),
    )


def parse_diff_raw(records: Iterable[str]) -> Iterator[Difference]:
    """`git diff-tree -r -z --raw`: a header record, then one path, or two for a rename or copy."""
    stream = iter(records)
    for header in stream:
        match = re.fullmatch(r":[0-7]{6} ([0-7]{6}) [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*", header)
        if match is None:
            raise ValueError(f"unknown diff record {header!r}")
        mode, oid, status = match.groups()
        first = next(stream)
        if status in SCORED:
            yield Difference(status, next(stream), mode, first, oid)
        else:
            yield Difference(status, first, mode, None, oid)


def parse_ls_files_stage(records: Iterable[str]) -> Iterator[IndexEntry]:
    """`git ls-files -s -v -z`: tag, mode, id and stage, a tab, the path."""
    for record in records:
        head, _, path = record.partition("\t")
        tag, mode, oid, _stage = head.split(" ")
        yield IndexEntry(tag, mode, Oid(oid), path)


def parse_tracking(lines: Iterable[str]) -> Iterator[Tracking]:
    """`git for-each-ref --format=<TRACKING>`: branches without an upstream, or whose upstream is gone, are left out."""
    for line in lines:
        branch, tip, upstream, track = line.split("\0")
        if upstream and track != "gone":
            match = AHEAD_BEHIND.fullmatch(track)
            if match is None:
                raise ValueError(f"{track!r} is no distance")
            yield Tracking(Ref(branch), require_oid(tip), Ref(upstream), int(match[1] or 0), int(match[2] or 0))


def parse_merge_tree(records: Iterable[str]) -> tuple[Oid, tuple[str, ...]]:
    """`git merge-tree --write-tree --name-only --no-messages -z`: the tree, then the conflicted paths."""
    tree, *paths = records
    return require_oid(tree), tuple(path for path in paths if path)


def parse_config_list(records: Iterable[str]) -> Iterator[tuple[str, str]]:
    """`git config --list -z`: key, line feed, value; a key alone means true."""
    for record in records:
        key, separator, value = record.partition("\n")
        yield key, value if separator else "true"


def parse_version(text: str) -> tuple[int, int] | None:
    """`git --version`: major and minor, or None."""
    match = re.search(r"\bversion (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def require_oid(text: str) -> Oid:
    if not is_full_oid(text):
        raise ValueError(f"{text!r} is no object id")
    return Oid(text)
