"""Questions about linked worktrees. They take no locks: an agent may be at work there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from git_wave.git import links, presence
from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.git.history import DIFF_PINS, Differences, HistoryReads
from git_wave.git.index_copies import copied_index, forget_files
from git_wave.git.links import Worktree
from git_wave.git.parse import (
    SUBMODULE,
    Difference,
    Look,
    Registration,
    parse_ls_files_stage,
    parse_status_v2,
    parse_worktree_list_porcelain,
)
from git_wave.git.presence import Presence
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref

# How many paths go on one command line.
ARGUMENTS = 200

# Records of `ls-files -s -v -z` that are neither hidden nor submodules: most indexes hold nothing else, and are known
# without a look at each record.
USUAL = re.compile(rb"(?:H (?!160000)\d{6} [0-9a-f]{40,64} \d\t[^\0]++\0)*+")

# What a user's config could hide from `git status`; and no hook is told of an index that is only a copy.
STATUS_PINS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.checkStat": "default",
    "core.trustctime": "true",
    "core.ignoreStat": "false",
    "diff.autoRefreshIndex": "true",
    "status.renames": "false",
    "status.aheadBehind": "false",
    "status.showUntrackedFiles": "all",
}


@dataclass(frozen=True, slots=True)
class IndexSurvey:
    """What only the index tells: files that `status` leaves out and that are on disk, and submodules."""

    hidden: tuple[str, ...]
    submodules: tuple[str, ...]


class WorktreeReads(HistoryReads):
    """What stands in a worktree, committed or not."""

    @cached_property
    def registrations(self) -> tuple[Registration, ...]:
        """Every registered worktree: one snapshot, taken at the first need and so before any teardown."""
        return self.list_registrations()

    def list_registrations(self) -> tuple[Registration, ...]:
        """The same, asked afresh. The main worktree is the first."""
        answer = self._door.run(self.layout.root, ["worktree", "list", "--porcelain", "-z"])
        try:
            return tuple(parse_worktree_list_porcelain(answer.records()))
        except KeyError as error:
            raise GitError(answer.argv, answer.code, f"worktree list not understood: {error}") from error

    def admin_directories(self) -> tuple[Path, ...]:
        """The administrative directories of all linked worktrees. Raises OSError."""
        return links.admin_directories(self.layout.common_dir)

    def place_of(self, admin: Path) -> Path | None:
        """Where an administrative directory says that its worktree is; None when it does not say. Raises OSError."""
        back = admin / "gitdir"
        return Path(links.registered_place(back)) if links.is_there(back) else None

    def registration(self, path: Path) -> Registration | None:
        """The linked worktree in the snapshot that is registered at `path`."""
        return next((r for r in self.registrations[1:] if r.path in spellings(path)), None)

    def is_registered(self, path: Path) -> bool:
        """Whether one is registered there now, after whatever happened since the snapshot."""
        return self.registered_now(path) is not None

    def registered_now(self, path: Path) -> Registration | None:
        """The linked worktree that is registered at `path` now, whatever the snapshot says."""
        return next((r for r in self.list_registrations()[1:] if r.path in spellings(path)), None)

    def ignored_in(self, worktree: Worktree) -> tuple[str, ...]:
        """Ignored paths there, a directory as one with a trailing slash."""
        return self.worktree_look(worktree).ignored

    def presence(self, path: Path) -> Presence:
        return presence.presence(path)

    def restore_link(self, path: Path) -> None:
        """Write a worktree's missing `.git` file again, if this repository registers one at that path."""
        links.restore_link(path, self.layout.common_dir)

    def worktree_at(self, path: Path) -> Worktree:
        """The proven linked worktree at `path`. Raises BrokenLink or OSError."""
        return links.prove_worktree(path, self.layout.common_dir)

    def worktree_look(self, worktree: Worktree) -> Look:
        """HEAD and everything uncommitted in a linked worktree, ignored files included."""
        return self._status(
            worktree.path,
            worktree.admin,
            ["--untracked-files=all", "--ignored=matching", "--ignore-submodules=none"],
        )

    def index_survey(self, worktree: Worktree) -> IndexSurvey:
        """What `worktree_look` cannot see."""
        answer = self._in_worktree(worktree, ["ls-files", "-s", "-v", "-z"])
        if answer.is_all(USUAL):
            return IndexSurvey((), ())
        hidden: list[str] = []
        submodules: list[str] = []
        try:
            for entry in parse_ls_files_stage(answer.records()):
                if entry.hidden and links.is_there(worktree.path / entry.path):
                    hidden.append(entry.path)
                if entry.mode == SUBMODULE:
                    submodules.append(entry.path)
        except ValueError as error:
            raise answer.error() from error
        return IndexSurvey(tuple(hidden), tuple(submodules))

    def hidden_edits(self, worktree: Worktree, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Which of these hidden files differ from the index: their content is read."""
        with copied_index(self._door, worktree) as door:
            forget_files(lambda args, stdin: self._in_worktree(worktree, args, door, stdin), paths)
            return tuple(sorted(self._differing(door, worktree, paths)))

    def worktree_head(self, worktree: Worktree) -> tuple[Oid | None, str]:
        """HEAD of a linked worktree: its commit (None when unborn) and what it names, a full ref or `HEAD`.

        No process of its own: the file is read, and the commit comes from the conversation, except where refs
        are not kept in files. A ref that is symbolic itself is not seen through; `worktree_look` does that.
        """
        if not links.keeps_head_files(self.layout.common_dir):
            question = ["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]
            oid, ref, *_ = self._in_worktree(worktree, question).text.split("\n")
            return Oid(oid), ref
        text = (worktree.admin / "HEAD").read_text("utf-8", "surrogateescape").strip()
        ref = text.removeprefix("ref: ") if text.startswith("ref: ") else "HEAD"
        return self.objects.commit(f"worktrees/{worktree.admin.name}/HEAD"), ref

    def unshared_submodules(self, worktree: Worktree, submodules: Iterable[str]) -> Iterator[str]:
        """Submodule repositories that go with the worktree and hold a commit that no remote of theirs is known
        to have: those in its administrative directory, checked out or not, and those that live in its files.
        """
        inside = [worktree.path / path / ".git" for path in submodules]
        for repository in [*self.submodule_repositories(worktree), *filter(Path.is_dir, inside)]:
            command = ["rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes"]
            # The working tree that its config names may be gone, and git would not start without it.
            where = [f"--git-dir={repository}", f"--work-tree={repository}"]
            if self._door.run(self.layout.root, [*where, *command]).text.strip():
                yield str(repository)

    def submodule_repositories(self, worktree: Worktree) -> list[Path]:
        """Submodule repositories in the administrative directory. Raises OSError."""
        return links.repositories_in(worktree.admin / "modules")

    def checked_out(self, worktree: Worktree, submodules: Iterable[str]) -> Iterator[Worktree]:
        """The submodules that have files of their own there, as working trees to look into. Raises OSError."""
        for path in submodules:
            place = worktree.path / path
            if links.is_there(place / ".git"):
                yield Worktree(place, links.git_dir_of(place))

    def mounts_below(self, worktree: Worktree) -> tuple[str, ...]:
        """File systems mounted inside it: what is in them is not the worktree's to remove."""
        return presence.mounts_below(worktree.path)

    def registered_places(self) -> tuple[str, ...]:
        """Where administrative directories say that their worktrees are, sorted. Raises OSError."""
        return links.registered_places(self.layout.common_dir)

    def stood_in(self, path: Path, admin: Path) -> bool:
        """Whether the directory above a worktree that is gone is the one it stood in: it has changed since the
        registration was made. The mount point of a disk that is not mounted has not. Raises OSError.
        """
        os.listdir(path.parent)
        return os.stat(path.parent).st_mtime_ns >= os.lstat(admin / "commondir").st_mtime_ns

    def staged_beside(self, admin: Path, than: Oid) -> tuple[Difference, ...]:
        """How the index of a worktree that need not be there differs from a commit or tree; unmerged paths have the
        status `U`. The index stays as it is, and no object is made.
        """
        flags = ["--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none"]
        command = ["--no-optional-locks", f"--git-dir={admin}", "diff-index", *flags, than, "--"]
        return tuple(Differences(self._door.run(self.layout.root, command, settings={**STATUS_PINS, **DIFF_PINS})))

    def operations_in(self, worktree: Worktree) -> tuple[str, ...]:
        return links.operations_in(worktree.admin)

    def private_refs(self, worktree: Worktree) -> tuple[str, ...]:
        return links.private_refs(worktree.admin)

    def heads_on(self, ref: Ref) -> tuple[str, ...]:
        """Who has `ref` checked out now; asked afresh, not from the snapshot. Raises GitError or OSError."""
        if links.keeps_head_files(self.layout.common_dir):
            return links.heads_on(ref, self.layout.common_dir)
        return tuple(r.path for r in self.list_registrations() if r.branch == ref)

    def _status(self, tree: Path, git_dir: Path, flags: list[str]) -> Look:
        command = [
            *("--no-optional-locks", f"--git-dir={git_dir}", f"--work-tree={tree}"),
            *("status", "--porcelain=v2", "--branch", "-z", "--no-renames", *flags),
        ]
        answer = self._door.run(tree, command, settings=STATUS_PINS)
        try:
            return parse_status_v2(answer.records())
        except (ValueError, KeyError, StopIteration) as error:
            raise GitError(answer.argv, answer.code, f"status not understood: {error}") from error

    def _in_worktree(
        self, worktree: Worktree, args: Sequence[str], door: Door | None = None, stdin: bytes = b""
    ) -> Answer:
        where = ["--no-optional-locks", f"--git-dir={worktree.admin}", f"--work-tree={worktree.path}"]
        return (door or self._door).run(worktree.path, [*where, *args], settings=STATUS_PINS, stdin=stdin)

    def _differing(self, door: Door, tree: Worktree, paths: tuple[str, ...]) -> frozenset[str]:
        """Which of these files differ in content from the index that `door` points to."""
        found: set[str] = set()
        for start in range(0, len(paths), ARGUMENTS):
            some = paths[start : start + ARGUMENTS]
            flags = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"]
            answer = self._in_worktree(tree, ["--literal-pathspecs", "diff", *flags, "--", *some], door)
            found.update(answer.records())
        return frozenset(found)


def spellings(path: Path) -> tuple[str, str]:
    """`path` as given, and as git registers it: real but for its last part, which may be gone."""
    return (str(path), os.path.join(os.path.realpath(path.parent), path.name))
