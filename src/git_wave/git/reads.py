"""Every question we put to git and to the file system about a repository. Nothing here changes a ref, an index or
a working tree; trying a merge leaves objects in the repository that nothing refers to.

A question that git cannot answer raises GitError; "no" is an answer. Reads in a worktree where an agent may
be at work take no locks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Self

from git_wave.git import links, presence
from git_wave.git.door import Answer, Door
from git_wave.git.layout import Layout
from git_wave.git.links import Worktree
from git_wave.git.objects import Objects
from git_wave.git.parse import (
    SUBMODULE,
    Difference,
    Look,
    Registration,
    parse_diff_raw,
    parse_ls_files_stage,
    parse_merge_tree,
    parse_status_v2,
    parse_worktree_list_porcelain,
)
from git_wave.git.presence import Presence
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref

# How many paths go on one command line.
ARGUMENTS = 200

# What a user's config could hide from `git status`.
STATUS_PINS = {
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.checkStat": "default",
    "core.trustctime": "true",
    "status.renames": "false",
    "status.aheadBehind": "false",
    "status.showUntrackedFiles": "all",
}
# diff-tree is plumbing and heeds little config; these are what it does heed.
DIFF_PINS = {"diff.renameLimit": "1000", "diff.orderFile": "/dev/null", "diff.ignoreSubmodules": "none"}
MERGE_PINS = {
    "merge.renames": "true",
    "merge.directoryRenames": "conflict",
    "merge.renameLimit": "7000",
    "merge.conflictStyle": "merge",
}


@dataclass(frozen=True, slots=True)
class IndexSurvey:
    """What only the index tells: files that `status` leaves out and that are on disk, and submodules."""

    hidden: tuple[str, ...]
    submodules: tuple[str, ...]


class Differences:
    """The differences between two commits, kept in a file by the answer: read again, not held in memory."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[Difference]:
        try:
            yield from parse_diff_raw(self._answer.records())
        except (ValueError, StopIteration, RuntimeError) as error:
            raise GitError(self._answer.argv, self._answer.code, str(error)) from error


class Reads(AbstractContextManager["Reads"]):
    """Questions about one checkout, its repository and its linked worktrees."""

    def __init__(self, door: Door, layout: Layout) -> None:
        self._door = door
        self.layout = layout
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._resources.close()

    # -- the checkout that is landed into

    def target_look(self) -> Look:
        """HEAD and the tracked edits of the checkout; untracked files are left out."""
        return self._status(
            self.layout.root, self.layout.git_dir, ["--untracked-files=no", "--ignore-submodules=dirty"]
        )

    @cached_property
    def target_hidden(self) -> tuple[str, ...]:
        """Files of the checkout that `git status` leaves out though they are on disk."""
        return self.index_survey(self._target).hidden

    def target_hidden_edits(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Which of these have edits in them."""
        return self.hidden_edits(self._target, paths)

    @property
    def _target(self) -> Worktree:
        return Worktree(self.layout.root, self.layout.git_dir)

    @property
    def index_lock(self) -> Path:
        """Where the lock file of the checkout's index is while somebody holds it."""
        return self.layout.git_dir / "index.lock"

    def index_lock_held(self) -> bool:
        return links.is_there(self.index_lock)

    def operations(self) -> tuple[str, ...]:
        """What stands half-done in the checkout."""
        return links.operations_in(self.layout.git_dir)

    def is_mid_merge(self) -> bool:
        """Whether the checkout is in a merge. Any answer but a plain "no" counts as yes."""
        question = ["rev-parse", "--verify", "-q", "MERGE_HEAD"]
        try:
            return self._door.run(self.layout.root, question, ok=(0, 1)).code == 0
        except GitError:
            return True

    @cached_property
    def identity_problem(self) -> str | None:
        """Why no commit can be made in the user's name, or None. Git's guess from the host name is no identity."""
        try:
            self._door.run(self.layout.root, ["var", "GIT_COMMITTER_IDENT"], settings={"user.useConfigOnly": "true"})
        except GitError as error:
            return str(error)
        return None

    def tracked(self, paths: Iterable[str]) -> frozenset[str]:
        """Which of these paths (a directory stands for all below it) the checkout's index holds and wants on disk."""
        found: set[str] = set()
        stream = iter(paths)
        while some := list(islice(stream, ARGUMENTS)):
            command = ["--literal-pathspecs", "ls-files", "-v", "-z", "--full-name", "--", *some]
            listed = (record.split(" ", 1) for record in self._door.run(self.layout.root, command).records())
            found.update(path for tag, path in listed if tag.upper() != "S")
        return frozenset(found)

    # -- objects and refs

    @cached_property
    def objects(self) -> Objects:
        conversation = self._door.open(self.layout.root, ["cat-file", "--batch-command", "-z"])
        objects = Objects(conversation, self._exact_ref)
        self._resources.callback(objects.close)
        return objects

    def _exact_ref(self, ref: str) -> Oid | None:
        answer = self._door.run(self.layout.root, ["show-ref", "--verify", "--hash", ref], ok=(0, 1, 128))
        return Oid(answer.text.strip()) if answer.code == 0 else None

    def merge_bases(self, one: Oid, other: Oid) -> tuple[Oid, ...]:
        """Every best common ancestor; none for unrelated histories."""
        answer = self._door.run(self.layout.root, ["merge-base", "--all", one, other], ok=(0, 1))
        return tuple(Oid(line) for line in answer.text.split())

    def differences(self, base: Oid, tip: Oid) -> Differences:
        """What `tip` changes, renames by git's own similarity whatever the user's config says."""
        command = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "-M50%",
            "-l1000",
            base,
            tip,
        ]
        return Differences(self._door.run(self.layout.root, command, settings=DIFF_PINS))

    def changed_paths(self, base: Oid, tip: Oid) -> Iterator[str]:
        """Every path that `tip` changes, both sides of a rename."""
        command = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tip]
        return self._door.run(self.layout.root, command, settings=DIFF_PINS).records()

    def merged_tree(self, target: Oid, tip: Oid) -> tuple[Oid, tuple[str, ...]]:
        """The tree that merging would make, and the paths that conflict. Touches no working tree."""
        command = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", target, tip]
        answer = self._door.run(self.layout.root, command, ok=(0, 1), settings=MERGE_PINS)
        try:
            tree, conflicts = parse_merge_tree(answer.records())
        except ValueError as error:
            raise answer.error() from error
        return tree, conflicts or (("(git does not say where)",) if answer.code else ())

    def merges_with_subject(self, head: Oid, subject: str) -> list[tuple[Oid, Oid, Oid]]:
        """Merges in the history of `head` with exactly that subject: (merge, first parent, second), newest first."""
        command = ["log", "-z", "--merges", "--fixed-strings", f"--grep={subject}", "--format=%H %P %s", head, "--"]
        records = self._door.run(self.layout.root, command, settings={"log.showSignature": "false"}).records()
        found = (record.split(" ", 3) for record in records if record.count(" ") > 2)
        return [(Oid(m), Oid(one), Oid(two)) for m, one, two, said in found if said == subject]

    def all_patches_in(self, head: Oid, tip: Oid) -> bool:
        """Whether `head` has every commit of `tip` as an equal patch, and none of them taken back.

        A merge among them is no patch: then no.
        """
        command = ["rev-list", "--max-count=1", "--merges", tip, f"^{head}"]
        if self._door.run(self.layout.root, command).text.strip():
            return False
        wanted, there = self._patch_ids(tip, head), self._patch_ids(head, tip)
        return bool(wanted) and wanted <= there and there.isdisjoint(self._patch_ids(tip, head, "-R"))

    def _patch_ids(self, of: Oid, without: Oid, *flags: str) -> frozenset[str]:
        """The patches of `of` that are not in `without`. Verbatim: to `git cherry`, indentation is no difference.

        Raises GitError, also where git has no `--verbatim` (before 2.39).
        """
        commits = self._door.run(self.layout.root, ["rev-list", "--no-merges", of, f"^{without}"]).text
        command = ["diff-tree", "--stdin", "--root", "-p", "--no-renames", "--no-prefix", "--no-ext-diff", *flags]
        patches = self._door.run(
            self.layout.root, [*command, "--no-textconv"], stdin=commits.encode(), settings=DIFF_PINS
        )
        ids = self._door.run(self.layout.root, ["patch-id", "--verbatim"], stdin=patches.bytes).text
        return frozenset(line.split(" ", 1)[0] for line in ids.splitlines())

    def files_like(self, tree: Oid, paths: Iterable[str]) -> frozenset[str]:
        """Which of these files in the checkout have the very content that `tree` gives them."""
        with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
            door = self._door.with_variables({"GIT_INDEX_FILE": str(Path(scratch) / "index")})
            door.run(self.layout.root, ["read-tree", tree])
            held = set(door.run(self.layout.root, ["ls-files", "-z"]).records())
            asked = tuple(path for path in paths if path in held)
            return frozenset(asked) - self._differing(door, self._target, asked)

    def _differing(self, door: Door, tree: Worktree, paths: tuple[str, ...]) -> frozenset[str]:
        """Which of these files differ in content from the index that `door` points to."""
        found: set[str] = set()
        for start in range(0, len(paths), ARGUMENTS):
            some = paths[start : start + ARGUMENTS]
            flags = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"]
            answer = self._in_worktree(tree, ["--literal-pathspecs", "diff", *flags, "--", *some], door)
            found.update(answer.records())
        return frozenset(found)

    def backup_refs(self) -> dict[Ref, Oid]:
        """Every ref of ours with the commit it keeps."""
        answer = self._door.run(
            self.layout.root, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/git-wave/"]
        )
        pairs = (line.split(" ", 1) for line in answer.text.splitlines())
        return {Ref(name): Oid(oid) for oid, name in pairs}

    def backups_of(self, branch: str) -> list[tuple[Oid, Oid]]:
        """For each run that kept a backup of that branch: the HEAD it began with, and the branch's tip."""
        refs = self.backup_refs()
        runs = {ref.split("/")[2] for ref in refs if ref.endswith(f"/heads/{branch}")}
        pairs = (
            (refs.get(Ref(f"refs/git-wave/{r}/head")), refs.get(Ref(f"refs/git-wave/{r}/heads/{branch}"))) for r in runs
        )
        return [(head, tip) for head, tip in pairs if head and tip]

    def index_tree(self) -> Oid:
        """The tree that the checkout's index holds. Raises GitError, also when it has unmerged paths."""
        return Oid(self._door.run(self.layout.root, ["write-tree"]).text.strip())

    # -- linked worktrees

    @cached_property
    def registrations(self) -> tuple[Registration, ...]:
        """Every registered worktree: one snapshot, taken at the first need and so before any teardown."""
        return self._list_worktrees()

    def registration(self, path: Path) -> Registration | None:
        """The linked worktree in the snapshot that is registered at `path`."""
        return next((r for r in self.registrations[1:] if r.path in spellings(path)), None)

    def is_registered(self, path: Path) -> bool:
        """Whether one is registered there now, after whatever happened since the snapshot."""
        return any(r.path in spellings(path) for r in self._list_worktrees())

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
        """Which of these hidden files differ from the index: asked of a copy of it without the marks."""
        with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
            copy = Path(scratch) / "index"
            copy.write_bytes((worktree.admin / "index").read_bytes())
            door = self._door.with_variables({"GIT_INDEX_FILE": str(copy)})
            names = b"\0".join(os.fsencode(path) for path in paths)
            for mark in ("--no-assume-unchanged", "--no-skip-worktree"):
                self._in_worktree(worktree, ["update-index", mark, "-z", "--stdin"], door, names)
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
        for repository in [*links.repositories_in(worktree.admin / "modules"), *filter(Path.is_dir, inside)]:
            command = ["rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes"]
            if self._door.run(self.layout.root, [f"--git-dir={repository}", *command]).text.strip():
                yield str(repository)

    def checked_out(self, worktree: Worktree, submodules: Iterable[str]) -> Iterator[Worktree]:
        """The submodules that have files of their own there, as working trees to look into. Raises OSError."""
        for path in submodules:
            place = worktree.path / path
            if links.is_there(place / ".git"):
                yield Worktree(place, links.git_dir_of(place))

    def mounts_below(self, worktree: Worktree) -> tuple[str, ...]:
        """File systems mounted inside it: what is in them is not the worktree's to remove."""
        return presence.mounts_below(worktree.path)

    def worktrees_below(self, worktree: Worktree) -> tuple[str, ...]:
        """Linked worktrees of this repository that stand inside that one."""
        return links.registered_below(worktree.path, self.layout.common_dir)

    def operations_in(self, worktree: Worktree) -> tuple[str, ...]:
        return links.operations_in(worktree.admin)

    def private_refs(self, worktree: Worktree) -> tuple[str, ...]:
        return links.private_refs(worktree.admin)

    def heads_on(self, ref: Ref) -> tuple[str, ...]:
        """Who has `ref` checked out now; asked afresh, not from the snapshot. Raises GitError or OSError."""
        if links.keeps_head_files(self.layout.common_dir):
            return links.heads_on(ref, self.layout.common_dir)
        return tuple(r.path for r in self._list_worktrees() if r.branch == ref)

    def _list_worktrees(self) -> tuple[Registration, ...]:
        answer = self._door.run(self.layout.root, ["worktree", "list", "--porcelain", "-z"])
        try:
            return tuple(parse_worktree_list_porcelain(answer.records()))
        except KeyError as error:
            raise GitError(answer.argv, answer.code, f"worktree list not understood: {error}") from error

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

    def _in_worktree(self, worktree: Worktree, args: list[str], door: Door | None = None, stdin: bytes = b"") -> Answer:
        where = ["--no-optional-locks", f"--git-dir={worktree.admin}", f"--work-tree={worktree.path}"]
        return (door or self._door).run(worktree.path, [*where, *args], settings=STATUS_PINS, stdin=stdin)


def spellings(path: Path) -> tuple[str, str]:
    """`path` as given, and as git registers it: real but for its last part, which may be gone."""
    return (str(path), os.path.join(os.path.realpath(path.parent), path.name))
