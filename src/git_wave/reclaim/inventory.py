"""Every worktree of a repository, with what is known of it and what is not. Only reads.

Each probe has three answers. One that fails leaves None, and `not_known` says why: nothing is called clean, small or
landed because it could not be looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from git_wave.gates import GATES, Answer, Inspection, Kind, NotKnown, Terms, Verb, judge
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref
from git_wave.model.reasons import Reason
from git_wave.reclaim.distances import distances
from git_wave.reclaim.places import Place, State, registered_places, strays
from git_wave.reclaim.rows import Comparisons, Judged, Row, real_oid, row_for
from git_wave.reclaim.sizes import Budget, Size, measure

REGISTRATION = next(gate for gate in GATES if gate.name == "registration")
MAIN_STAYS = Answer(Kind.BLOCKS, Reason.MAIN_WORKTREE, ("the main worktree is never removed",))


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for, and when. `workers` is how many worktrees are looked into at once."""

    terms: Terms
    managed_root: Path
    now: datetime
    budget: Budget
    workers: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """`default` is the default branch. `not_known` has what could not be found out for all rows together."""

    root: Path
    managed_root: Path
    default: Ref | None
    rows: tuple[Row, ...]
    not_known: Mapping[str, str]
    now: datetime

    @property
    def complete(self) -> bool:
        """Whether every probe answered."""
        return not self.not_known and all(row.complete for row in self.rows)


def take_inventory(reads: Reads, order: Order) -> Inventory:
    """Raises GitError when git does not list the worktrees at all."""
    not_known: dict[str, str] = {}
    registrations = reads.list_registrations()
    places = registered_places(reads, registrations)
    try:
        places += strays(reads, order.managed_root, [place.path for place in places if place.path])
    except OSError as error:
        not_known["managed_root"] = f"{error.filename}: {error.strerror}"
    trees = tuple(place.path for place in places if place.worktree and place.path)
    terms = replace(order.terms, managed_root=order.managed_root, now=order.now)
    inspection = Inspection(reads, terms, trees, {"registrations": registrations})
    default, tip = default_branch(inspection, not_known)
    # Not at the same time: each look at a file would wait for a thread to give way, and take many times as long.
    sizes = sizes_of(places, order.budget, reads.layout.common_dir)
    with at_once(order.workers) as pool:
        compared = pool.submit(comparisons, reads, places, default, tip)
        verdicts = [pool.submit(verdict_on, inspection, place) for place in places]
        rows = [
            row_for(place, compared.result(), sizes, verdict.result(), order.now)
            for place, verdict in zip(places, verdicts, strict=True)
        ]
    return Inventory(reads.layout.root, order.managed_root, default, tuple(rows), not_known, order.now)


def default_branch(inspection: Inspection, not_known: dict[str, str]) -> tuple[Ref | None, Oid | None]:
    """The default branch and its tip."""
    try:
        ref = inspection.default_ref
        tip = inspection.reads.tip_of(ref)
    except (NotKnown, GitError) as error:
        not_known["default_branch"] = str(error)
        return None, None
    if tip is None:
        not_known["default_branch"] = f"{ref} cannot be read"
    return ref, tip


@contextmanager
def at_once(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that begin nothing new once something went wrong: an interrupt waits only for what is running."""
    pool = ThreadPoolExecutor(workers, "inventory")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def verdict_on(inspection: Inspection, place: Place) -> Judged:
    """The gates' verdict on a proven worktree, one answer on what is none, None where nothing is there to ask about."""
    if place.state is State.MAIN:
        return MAIN_STAYS
    if place.path is None or place.state is State.ABSENT:
        return None
    if place.worktree is None:
        answer = REGISTRATION.ask(inspection.subject(place.path))
        return Answer(Kind.CANNOT_TELL, Reason.NOT_REGISTERED, (place.why,)) if answer.is_clear else answer
    return judge(inspection.subject(place.path, worktree=place.worktree), Verb.REMOVE)


def comparisons(reads: Reads, places: Iterable[Place], default: Ref | None, tip: Oid | None) -> Comparisons:
    standing = [place.registration for place in places if place.registration]
    tips = [oid for one in standing if (oid := real_oid(one.head))]
    found = distances(reads, tip, tips) if tip else {}
    try:
        return Comparisons(default, found, reads.tracking(Ref(one.branch) for one in standing if one.branch))
    except GitError as error:
        return Comparisons(default, found, {}, str(error))


def sizes_of(places: Iterable[Place], budget: Budget, common_dir: Path) -> Mapping[Path, Size]:
    """What each takes by itself: other worktrees and the repository are left out of whatever they lie in."""
    paths = [place.path for place in places if place.path and place.state is not State.ABSENT]
    skip = frozenset({*map(os.path.realpath, paths), *map(str, paths), str(common_dir)})
    return measure(paths, budget, skip) if budget.seconds else {}
