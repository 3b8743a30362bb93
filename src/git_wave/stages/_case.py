"""What goes through the stages, and what they answer.

A gate is handed `Reads` and nothing else; an act is handed `Hands` too. A gate that writes does not
type-check. Every stage gets the case as it is known so far and gives it back, richer, in its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from git_wave.git.history import Differences
from git_wave.git.links import Worktree
from git_wave.git.parse import Look
from git_wave.git.reads import Reads
from git_wave.git.rehearsal import Rehearsal
from git_wave.git.worktrees import IndexSurvey
from git_wave.git.writes import Writes
from git_wave.model.entry import Advice, Entry
from git_wave.model.ignored import IgnoredOutput
from git_wave.model.messages import MERGE_MESSAGE
from git_wave.model.names import Oid, Ref, heads_ref
from git_wave.model.reasons import Reason
from git_wave.model.recording import Recorder, Unrecorded
from git_wave.state.artifacts import Rescued, copy_artifact
from git_wave.state.kept import keep
from git_wave.state.kept_places import kept_dir, write_origin


class Status(StrEnum):
    """How an entry ended."""

    MERGED_REMOVED = "merged_removed"
    WARNING = "warning"
    BLOCKED = "blocked"
    WOULD_LAND = "would_land"


@dataclass(frozen=True, slots=True)
class Target:
    """The branch that is landed into, and the commit it stood at when the entry's turn came."""

    ref: Ref
    oid: Oid

    @property
    def branch(self) -> str:
        return self.ref.removeprefix("refs/heads/")


class EarlierWaves:
    """What earlier waves of this repository put on record, read at the first need."""

    def __init__(
        self,
        load: Callable[[], tuple[Mapping[str, Any], ...]],
        load_kept: Callable[[], tuple[tuple[str, str], ...]] = lambda: (),
    ) -> None:
        self._load, self._load_kept = load, load_kept

    @cached_property
    def landed(self) -> tuple[Mapping[str, Any], ...]:
        """Journal lines of entries that landed, newest first."""
        return self._load()

    @cached_property
    def kept(self) -> tuple[tuple[str, str], ...]:
        """Branch and place of ignored files that runs which were cut short had moved to safety."""
        return self._load_kept()


@dataclass(frozen=True, slots=True)
class WaveTerms:
    """What is the same for every entry of one wave.

    `bases` gives the commit for each declared base name, `configured_branches` the branches that have a
    section of their own in git's config, `merge_timeout` is in seconds. `regenerable` are directory names that a build
    makes again besides the known ones.
    """

    wave_id: str
    merge_timeout: float
    bases: Mapping[str, Oid | None]
    configured_branches: frozenset[str] = frozenset()
    earlier: EarlierWaves = field(default_factory=lambda: EarlierWaves(lambda: ()))
    regenerable: frozenset[str] = frozenset()
    ignored_output: IgnoredOutput = IgnoredOutput.KEEP
    merge_message: str = MERGE_MESSAGE


@dataclass(frozen=True, slots=True)
class Case:
    """One entry and what the stages have found out about it.

    `tip` is the commit that the branch was pinned to; it is set from identity on. `worktree` and `look` are
    None for a worktree whose directory is gone.
    """

    entry: Entry
    path: Path
    target: Target
    terms: WaveTerms
    tip: Oid | None = None
    worktree: Worktree | None = None
    look: Look | None = None
    survey: IndexSurvey | None = None
    base: Oid | None = None
    several_bases: bool = False
    differences: Differences | None = None
    renames: tuple[tuple[str, str], ...] = ()
    rescued: Mapping[str, str] = field(default_factory=dict)
    merge_commit: Oid | None = None
    dropped: int = 0
    reason: Reason = Reason.OK

    @property
    def ref(self) -> Ref:
        return heads_ref(self.entry.branch)

    @property
    def pinned(self) -> Oid:
        """The tip, for stages that come after identity."""
        if self.tip is None:
            raise AssertionError("no stage may ask for the tip before identity has pinned it")
        return self.tip

    @property
    def changed(self) -> Differences:
        """What the branch changes, for stages that come after deletions."""
        if self.differences is None:
            raise AssertionError("no stage may ask for the differences before deletions has listed them")
        return self.differences

    def knowing(self, **found: Any) -> Self:
        return replace(self, **found)

    def warning(self, code: Reason, path: str | None = None, detail: str | None = None) -> Advice:
        return Advice(code, self.entry.branch, path, detail)


@dataclass(frozen=True, slots=True)
class Go:
    """The answer is yes: on to the next stage."""

    case: Case
    warnings: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The entry ends here, as a rule because it is blocked.

    `halt` is set only when the checkout is left mid-merge: then the wave ends too. `advice` is what to do next, where
    the reason alone does not tell it.
    """

    case: Case
    reason: Reason
    detail: str = ""
    warnings: tuple[Advice, ...] = ()
    status: Status = Status.BLOCKED
    halt: bool = False
    advice: str = ""


Step = Go | Stop


@dataclass(frozen=True, slots=True)
class Hands:
    """What an act may use to change things: git, files, and the record of both.

    `home` is our own directory under the common one.
    """

    git: Writes
    home: Path
    recorder: Recorder = field(default_factory=Unrecorded)

    def rescue(self, source_root: Path, target_root: Path, path: str) -> Rescued:
        """Copy an artifact to where nothing or the same stands. Raises NotRescued."""
        with self.recorder.step("rescue", path=path):
            return copy_artifact(source_root, target_root, path, self.home / "tmp")

    def keep(self, root: Path, path: str, place: Path) -> Path:
        """Move an ignored file to the kept place. Raises OSError."""
        with self.recorder.step("keep", path=path, place=str(place)):
            if place.is_relative_to(kept_dir(self.home)):
                write_origin(self.home, place, root)
            return keep(root, path, place)


@dataclass(frozen=True, slots=True)
class Gate:
    """A stage that only looks."""

    name: str
    question: str
    check: Callable[[Case, Reads], Step]


@dataclass(frozen=True, slots=True)
class Act:
    """A stage that changes something. `rehearse` is its dry run: same questions, no hands."""

    name: str
    question: str
    perform: Callable[[Case, Reads, Hands], Step]
    rehearse: Callable[[Case, Rehearsal], Step]
