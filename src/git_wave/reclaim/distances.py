"""How far many commits are from one, in few git processes.

One process names the commits of all tips that the base lacks. Where a tip's own commits meet the base is its fork;
tips with the same fork are behind by the same number, so that one process per fork counts that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from git_wave.git.reads import Reads
from git_wave.model.errors import GitError, GitTimeout
from git_wave.model.names import Oid

MOST = 50_000
"""Commits outside the base, of all tips asked about together, up to which they are held in memory."""

Parents = Mapping[Oid, tuple[Oid, ...]]
Each = Callable[[Callable[[frozenset[Oid]], int | str], Iterable[frozenset[Oid]]], Iterable[int | str]]
"""`map`, or one that works in parallel."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Commits that one side has and the other lacks."""

    ahead: int
    behind: int


def distances(reads: Reads, base: Oid, tips: Iterable[Oid], each: Each = map) -> dict[Oid, Distance | str]:
    """For each tip how far it is from the base, or why that cannot be told."""
    unmerged, found = in_parts(reads, base, tuple(dict.fromkeys(tips)))
    forks = tuple({fork for _, fork in unmerged.values()})

    def count(fork: frozenset[Oid]) -> int | str:
        try:
            return reads.commit_count(base, fork)
        except GitError as error:
            return str(error)

    behind = dict(zip(forks, each(count, forks), strict=True))
    for tip, (ahead, fork) in unmerged.items():
        counted = behind[fork]
        found[tip] = counted if isinstance(counted, str) else Distance(ahead, counted)
    return found


def in_parts(
    reads: Reads, base: Oid, tips: tuple[Oid, ...]
) -> tuple[dict[Oid, tuple[int, frozenset[Oid]]], dict[Oid, Distance | str]]:
    """Each tip's own commits and its fork; and, of tips that spoil a question about many, what was asked of them alone.

    One commit that cannot be read makes git answer for none: then each half is asked.
    """
    if len(tips) == 1:
        return {}, {tips[0]: alone(reads, base, tips[0])}
    try:
        parents = reads.unmerged(tips, base, MOST) if tips else {}
    except GitTimeout as error:
        return {}, dict.fromkeys(tips, str(error))
    except GitError:
        parents = None
    if parents is not None:
        return {tip: own_commits(tip, parents) for tip in tips}, {}
    half = len(tips) // 2
    one, other = in_parts(reads, base, tips[:half]), in_parts(reads, base, tips[half:])
    return one[0] | other[0], one[1] | other[1]


def alone(reads: Reads, base: Oid, tip: Oid) -> Distance | str:
    try:
        return Distance(*reads.ahead_behind(tip, base))
    except GitError as error:
        return str(error)


def own_commits(tip: Oid, parents: Parents) -> tuple[int, frozenset[Oid]]:
    """How many of these commits the tip reaches, and where it leaves them."""
    seen: set[Oid] = set()
    fork: set[Oid] = set()
    rest = [tip]
    while rest:
        commit = rest.pop()
        if commit not in parents:
            fork.add(commit)
        elif commit not in seen:
            seen.add(commit)
            rest += parents[commit]
    return len(seen), frozenset(fork)
