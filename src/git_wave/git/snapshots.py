"""What is not committed, as trees and commits, made with an index of our own.

Objects are added to the repository. No ref, no index and no file that stands is touched, and no hook runs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.git.history import DIFF_PINS, Differences
from git_wave.git.index_copies import copied_index, forget_files, joined
from git_wave.git.layout import Layout, read_setting
from git_wave.git.links import Worktree, is_there
from git_wave.git.parse import Difference
from git_wave.git.worktrees import STATUS_PINS
from git_wave.git.writes import OWN_IDENTITY, QUIET_PINS
from git_wave.model.errors import GitError
from git_wave.model.names import Oid

# The copy of an index is written whole, never beside a shared one in the user's git directory.
SNAPSHOT_PINS = {**STATUS_PINS, **QUIET_PINS, "core.splitIndex": "false", "add.ignoreErrors": "false"}


class Snapshots:
    """Trees and commits of working trees of one repository. Everything here raises GitError or OSError."""

    def __init__(self, door: Door, layout: Layout) -> None:
        self._door = door
        self._layout = layout

    def index_tree(self, tree: Worktree) -> Oid:
        """What is staged; the HEAD's tree where nothing is. Fails for an index with unmerged paths."""
        with copied_index(self._door, tree) as door:
            return Oid(self._in(tree, door, ["write-tree"]).text.strip())

    def files_tree(self, tree: Worktree, hidden: Iterable[str], untracked: Iterable[str]) -> Oid:
        """What is on disk: every tracked file as it stands, `hidden` ones too, and these `untracked` ones.

        A file that cannot be read, or holds what cannot be a blob, fails the whole; nothing is left out.
        """
        with copied_index(self._door, tree) as door:
            forget_files(lambda args, stdin: self._in(tree, door, args, stdin), hidden)
            self._in(tree, door, ["add", "--sparse", "--update", "--", ":/"])
            if names := joined(untracked):
                self._in(tree, door, ["update-index", "--add", "-z", "--stdin"], names)
            return Oid(self._in(tree, door, ["write-tree"]).text.strip())

    def changes(self, old: Oid, new: Oid) -> tuple[Difference, ...]:
        """What differs between two trees, path by path, without a guess at renames."""
        command = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new]
        return tuple(Differences(self._door.run(self._layout.root, command, settings=DIFF_PINS)))

    def beyond(self, tree: Worktree, known: Iterable[Oid]) -> tuple[str, ...]:
        """Files on disk that none of the `known` trees holds as they are; ignored ones are left out."""
        strays: set[str] | None = None
        for oid in known:
            with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
                door = self._door.with_variables({"GIT_INDEX_FILE": str(Path(scratch) / "index")})
                self._in(tree, door, ["read-tree", oid])
                listed = ["ls-files", "--modified", "--others", "--exclude-standard", "-z"]
                found = {path for path in self._in(tree, door, listed).records() if is_there(tree.path / path)}
            strays = found if strays is None else strays & found
        return tuple(sorted(strays or ()))

    def commit(self, tree: Oid, parents: Sequence[Oid], message: str, *, sign: bool | None = None) -> Oid:
        """A commit of `tree`, in the user's name, or in ours only where none is configured.

        It is signed where the user's config demands it (`sign` None), and fails where that cannot be done.
        """
        wanted = self._demands_signature() if sign is None else sign
        flags = [flag for parent in parents for flag in ("-p", parent)]
        command = ["commit-tree", "-S" if wanted else "--no-gpg-sign", *flags, "-F", "-", tree]
        settings = {**QUIET_PINS, "i18n.commitEncoding": "UTF-8", **self._identity()}
        answer = self._door.run(self._layout.root, command, settings=settings, stdin=os.fsencode(message))
        return Oid(answer.text.strip())

    def _demands_signature(self) -> bool:
        command = ["config", "--type=bool", "--get", "commit.gpgSign"]
        return self._door.run(self._layout.root, command, ok=(0, 1)).text.strip() == "true"

    def _identity(self) -> Mapping[str, str]:
        """What is missing of an identity, in our name; git's guess from the host name is none."""
        try:
            for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
                self._door.run(self._layout.root, ["var", who], settings={"user.useConfigOnly": "true"})
        except GitError:
            return {
                key: value
                for key, value in OWN_IDENTITY.items()
                if not read_setting(self._door, self._layout.root, key)
            }
        return MappingProxyType({})

    def _in(self, tree: Worktree, door: Door, args: Sequence[str], stdin: bytes = b"") -> Answer:
        where = ["--no-optional-locks", f"--git-dir={tree.admin}", f"--work-tree={tree.path}"]
        return door.run(tree.path, [*where, *args], settings=SNAPSHOT_PINS, stdin=stdin)
