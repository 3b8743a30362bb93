"""The worktree under scrutiny, and what all worktrees of one pass share. Everything is read lazily, once.

A recheck is a new `Inspection`: nothing that was read before is believed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any, Self

from git_wave.gates._answer import UNANSWERED, Answer, NotKnown, asked_once, cannot_tell, told
from git_wave.git.links import Worktree
from git_wave.git.parse import Look, Registration
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.worktrees import IndexSurvey, spellings
from git_wave.model.names import Oid, Ref
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.state.census import Census, take_census
from git_wave.state.owner import UnreadableOwner, load_owner

VISIT = 0.5
"""Seconds that a visitor, an editor's `git status` for example, may take to leave before he counts."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Whose a worktree should be; what is None is not compared."""

    agent: str | None = None
    session: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What the caller knows and wants. The defaults make a gate that needs more say that it cannot tell.

    `managed_root` is where worktrees must be, None for anywhere. `claims` are the paths that something else is known
    to use, each with who; None when that could not be found out. `safe` are uncommitted paths that are safe elsewhere.
    `regenerable` are directory names that a build makes again, besides the known ones. `full_census` looks at open
    and mapped files as well, and `patience` is how many seconds somebody may take to leave. `now` is with a time zone.
    """

    managed_root: Path | None = None
    expected: Expected = Expected()
    claims: Mapping[Path, str] | None = None
    safe: frozenset[str] = frozenset()
    regenerable: frozenset[str] = frozenset()
    ignored_blocks: bool = True
    full_census: bool = True
    patience: float = VISIT
    now: datetime | None = None


@dataclass(frozen=True)
class Inspection:
    """One pass over worktrees of one repository. `trees` are all that will be asked about: one look at the machine's
    processes then serves them all.
    """

    reads: Reads
    terms: Terms = Terms()
    trees: tuple[Path, ...] = ()
    answers: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    guard: AbstractContextManager[Any] = field(default_factory=RLock, repr=False, compare=False)

    def again(self, **changed: Any) -> Self:
        """A new pass on the same terms, or on changed ones."""
        return replace(self, terms=replace(self.terms, **changed), answers={}, guard=RLock())

    def subject(self, path: Path, **known: Any) -> Subject:
        """A worktree to look into. `known` are answers (`worktree`, `look`, `survey`) that the caller has just read."""
        return Subject(self, path, dict(known))

    @asked_once
    def registrations(self) -> tuple[Registration, ...]:
        """All of them, the main worktree first."""
        return self.reads.list_registrations()

    @asked_once
    def places(self) -> tuple[str, ...]:
        """Where linked worktrees are registered, by their administrative directories."""
        return self.reads.registered_places()

    @asked_once
    def main_root(self) -> Path:
        return Path(self.registrations[0].path)

    @asked_once
    def census(self) -> Census:
        return take_census(self.trees, full=self.terms.full_census, patience=self.terms.patience)

    @asked_once
    def owners(self) -> Mapping[Path, Owner | UnreadableOwner]:
        """Every owner record of the repository, by administrative directory."""
        found: dict[Path, Owner | UnreadableOwner] = {}
        for admin in self.reads.admin_directories():
            try:
                owner = load_owner(admin)
            except UnreadableOwner as error:
                found[admin] = error
                continue
            if owner is not None:
                found[admin] = owner
        return found

    @asked_once
    def upstreams(self) -> Mapping[Ref, Ref]:
        """The upstream of each branch that has one which is there."""
        return self.reads.upstreams()

    @asked_once
    def has_remote(self) -> bool:
        return self.reads.has_remote()

    @asked_once
    def default_ref(self) -> Ref:
        """The default branch. Raises NotKnown when it cannot be told."""
        ref = self.reads.default_ref(self.registrations[0].branch)
        if ref is None:
            raise NotKnown("it cannot be told which is the default branch")
        return ref


@dataclass(frozen=True)
class Subject:
    """One worktree in one pass. What cannot be found out raises NotKnown, each time it is asked."""

    inspection: Inspection
    path: Path
    answers: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    guard: AbstractContextManager[Any] = field(default_factory=RLock, repr=False, compare=False)

    @property
    def reads(self) -> Reads:
        return self.inspection.reads

    @property
    def terms(self) -> Terms:
        return self.inspection.terms

    @property
    def presence(self) -> Presence:
        """Asked of the file system every time."""
        return self.reads.presence(self.path)

    @asked_once
    def worktree(self) -> Worktree:
        """The proven linked worktree at the path."""
        return self.reads.worktree_at(self.path)

    @asked_once
    def registration(self) -> Registration | None:
        """What git has registered at the path as a linked worktree, None when nothing."""
        named = spellings(self.path)
        return next((one for one in self.inspection.registrations[1:] if one.path in named), None)

    @asked_once
    def look(self) -> Look:
        return self.reads.worktree_look(self.worktree)

    @asked_once
    def survey(self) -> IndexSurvey:
        return self.reads.index_survey(self.worktree)

    @asked_once
    def owner(self) -> Owner | None:
        """The owner on record, None when none is. An unreadable record is NotKnown."""
        try:
            return load_owner(self.worktree.admin)
        except UnreadableOwner as error:
            raise NotKnown(str(error)) from error

    @asked_once
    def tip(self) -> Oid | None:
        """The commit that its HEAD is at; None when unborn."""
        return self.look.oid

    @asked_once
    def census(self) -> Census:
        """The pass's own look at the processes, or one for this worktree alone where the pass does not cover it."""
        if self.path in self.inspection.trees:
            return self.inspection.census
        return take_census([self.path], full=self.terms.full_census, patience=self.terms.patience)


@dataclass(frozen=True, slots=True)
class Gate:
    """One question about a worktree. `ask` always answers: what raises cannot tell, for the reason `unknown`."""

    name: str
    question: str
    check: Callable[[Subject], Answer]
    unknown: Reason = Reason.CANNOT_TELL

    def ask(self, subject: Subject) -> Answer:
        try:
            return self.check(subject)
        except UNANSWERED as error:
            return cannot_tell(self.unknown, told(error))
