"""One line of an inventory, put together from what was found out. A probe that failed says why in `not_known`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from git_wave.gates import Answer, Kind, Verdict
from git_wave.git.parse import Tracking
from git_wave.model.entry import Advice
from git_wave.model.names import Oid, Ref, is_full_oid
from git_wave.model.owner import Owner
from git_wave.reclaim.distances import Distance
from git_wave.reclaim.places import Place, State
from git_wave.reclaim.sizes import Size
from git_wave.state.owner import UnreadableOwner, load_owner

Judged: TypeAlias = Verdict | Answer | None


@dataclass(frozen=True, slots=True)
class Row:
    """One worktree. What is None was not found out, or does not apply; `not_known` has the probes that failed.

    `compared_with` is the ref that `distance` is measured from, and `landed` is whether the default branch holds the
    tip. `against` is what keeps the worktree, by gate; `asked` is whether all gates were asked.
    """

    place: Place
    owner: Owner | None = None
    made_at: datetime | None = None
    size: Size | None = None
    compared_with: Ref | None = None
    distance: Distance | None = None
    landed: bool | None = None
    asked: bool = False
    against: Mapping[str, Answer] = field(default_factory=dict)
    warnings: tuple[Advice, ...] = ()
    not_known: Mapping[str, str] = field(default_factory=dict)

    @property
    def head(self) -> Oid | None:
        """The commit that it stands on; None when unborn, or not known."""
        registered = self.place.registration
        return real_oid(registered.head) if registered else None

    @property
    def branch(self) -> str | None:
        """The short name; None when detached, or not known."""
        registered = self.place.registration
        return registered.branch.removeprefix("refs/heads/") if registered and registered.branch else None

    @property
    def may_go(self) -> bool | None:
        """Whether all gates are clear. None where one cannot tell, or there was nothing to ask about."""
        if any(answer.kind is Kind.BLOCKS for answer in self.against.values()):
            return False
        return True if self.asked and not self.against else None

    @property
    def complete(self) -> bool:
        """Whether every probe answered."""
        unknown = any(answer.kind is Kind.CANNOT_TELL for answer in self.against.values())
        return not self.not_known and not unknown and self.place.state is not State.UNREADABLE


@dataclass(frozen=True, slots=True)
class Comparisons:
    """How far tips are from the default branch, by tip, and branches from their upstream; failures as text."""

    default: Ref | None
    from_default: Mapping[Oid, Distance | str]
    tracking: Mapping[Ref, Tracking]
    tracking_problem: str = ""


def row_for(place: Place, compared: Comparisons, sizes: Mapping[Path, Size], judged: Judged, now: datetime) -> Row:
    not_known: dict[str, str] = {}
    owner = owner_of(place, not_known)
    against_ref, distance, landed = compared_in(place, compared, not_known)
    against: Mapping[str, Answer] = {}
    if isinstance(judged, Verdict):
        against = judged.against
    elif judged is not None:
        against = {"registration": judged}
    return Row(
        place=place,
        owner=owner,
        made_at=made_at(place, now, not_known),
        size=size_of(place, sizes, not_known),
        compared_with=against_ref,
        distance=distance,
        landed=landed,
        asked=isinstance(judged, Verdict),
        against=against,
        warnings=judged.warnings if judged else (),
        not_known=not_known,
    )


def owner_of(place: Place, not_known: dict[str, str]) -> Owner | None:
    try:
        return load_owner(place.admin) if place.admin else None
    except UnreadableOwner as error:
        not_known["owner"] = str(error)
        return None


def made_at(place: Place, now: datetime, not_known: dict[str, str]) -> datetime | None:
    """When a worktree was made: git writes `commondir` then, and never again.

    Of a directory that git does not know only the last change to its entries can be told.
    """
    sign = place.admin / "commondir" if place.admin else None
    if place.state is State.UNREGISTERED:
        sign = place.path
    if sign is None:
        return None
    try:
        found = datetime.fromtimestamp(os.lstat(sign).st_mtime, UTC)
    except (OSError, OverflowError, ValueError) as error:
        not_known["age"] = f"{sign}: {getattr(error, 'strerror', None) or error}"
        return None
    if found > now:
        not_known["age"] = f"{sign}: its time is in the future"
        return None
    return found


def size_of(place: Place, sizes: Mapping[Path, Size], not_known: dict[str, str]) -> Size | None:
    """None where nothing of it was seen."""
    if place.path is None or place.state is State.ABSENT:
        return None
    found = sizes.get(place.path)
    if found is None or found.why:
        not_known["size"] = found.why if found else "no time was given to measure it"
    return found if found and found.entries else None


def compared_in(
    place: Place, compared: Comparisons, not_known: dict[str, str]
) -> tuple[Ref | None, Distance | None, bool | None]:
    """What its tip was compared with, how far it is from there, and whether the default branch has it."""
    registered = place.registration
    tip = real_oid(registered.head) if registered else None
    if registered is None or tip is None:
        if registered and registered.head and not registered.branch:
            not_known["head"] = "git cannot tell what it stands on"
        return None, None, None
    found = compared.from_default.get(tip, "the default branch is not known")
    landed = None if isinstance(found, str) else found.ahead == 0
    if isinstance(found, str):
        not_known["landed"] = found
    if compared.tracking_problem and registered.branch:
        not_known["distance"] = compared.tracking_problem
        return None, None, landed
    tracked = compared.tracking.get(Ref(registered.branch or ""))
    if tracked is None:
        if isinstance(found, str):
            not_known["distance"] = found
            return compared.default, None, landed
        return compared.default, found, landed
    if tracked.tip != tip:
        not_known["distance"] = "the branch moved while it was looked at"
        return tracked.upstream, None, landed
    return tracked.upstream, Distance(tracked.ahead, tracked.behind), landed


def real_oid(text: str | None) -> Oid | None:
    """None for git's zeros, which mean that there is no commit."""
    return Oid(text) if text and is_full_oid(text) and text.strip("0") else None
