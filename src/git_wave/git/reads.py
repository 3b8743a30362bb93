"""Every question we put to git and to the file system about a repository. Nothing here changes a ref, an index or
a working tree; trying a merge leaves objects in the repository that nothing refers to.

A question that git cannot answer raises GitError; "no" is an answer. `history` asks about objects and refs,
`worktrees` about linked worktrees, and this module about the checkout that is landed into.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from pathlib import Path

from git_wave.git import links
from git_wave.git.links import Worktree
from git_wave.git.parse import Look
from git_wave.git.worktrees import ARGUMENTS, WorktreeReads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid


class Reads(WorktreeReads):
    """Questions about one checkout, its repository and its linked worktrees."""

    def target_look(self) -> Look:
        """HEAD and the tracked edits of the checkout; untracked files are left out."""
        return self._status(
            self.layout.root, self.layout.git_dir, ["--untracked-files=no", "--ignore-submodules=dirty"]
        )

    def checkout_look(self) -> Look:
        """HEAD and everything uncommitted in the checkout, untracked files included."""
        return self._status(
            self.layout.root, self.layout.git_dir, ["--untracked-files=all", "--ignore-submodules=none"]
        )

    @cached_property
    def target_hidden(self) -> tuple[str, ...]:
        """Files of the checkout that `git status` leaves out though they are on disk."""
        return self.index_survey(self.checkout).hidden

    def target_hidden_edits(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Which of these have edits in them."""
        return self.hidden_edits(self.checkout, paths)

    @property
    def checkout(self) -> Worktree:
        """The checkout itself, as a working tree to look into."""
        return Worktree(self.layout.root, self.layout.git_dir)

    @property
    def index_lock(self) -> Path:
        """Where the lock file of the checkout's index is while somebody holds it."""
        return self.layout.git_dir / "index.lock"

    def index_lock_held(self) -> bool:
        return links.is_there(self.index_lock)

    def merge_hooks(self) -> tuple[str, ...]:
        """Hooks here that have a word in a merge: those that git would run. Raises GitError."""
        folder = self._door.run(self.layout.root, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"])
        home = Path(folder.text.removesuffix("\n"))
        names = ("pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge")
        return tuple(name for name in names if os.access(home / name, os.X_OK) and (home / name).is_file())

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

    def files_like(self, tree: Oid, paths: Iterable[str]) -> frozenset[str]:
        """Which of these files in the checkout have the very content that `tree` gives them."""
        with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
            door = self._door.with_variables({"GIT_INDEX_FILE": str(Path(scratch) / "index")})
            door.run(self.layout.root, ["read-tree", tree])
            held = set(door.run(self.layout.root, ["ls-files", "-z"]).records())
            asked = tuple(path for path in paths if path in held)
            return frozenset(asked) - self._differing(door, self.checkout, asked)

    def is_beginning(self, tree: Oid, path: str) -> bool:
        """Whether a file in the checkout has the first part of the content that `tree` gives it, as git writes it.

        Raises GitError, also when the tree has no such file, or OSError.
        """
        command = ["cat-file", "--filters", f"{tree}:{path}"]
        with open(self.layout.root / path, "rb") as file:
            for chunk in self._door.run(self.layout.root, command).chunks():
                found = file.read(len(chunk))
                if not chunk.startswith(found):
                    return False
                if len(found) < len(chunk):
                    return True
            return not file.read(1)

    def included(self, patterns: Path) -> tuple[str, ...]:
        """Ignored files of the checkout that the patterns in that file (as in `.gitignore`) name; no directories."""
        command = ["--no-optional-locks", "ls-files", "-z", "--others", "--ignored", f"--exclude-from={patterns}"]
        matched = [path for path in self._door.run(self.layout.root, command).records() if not path.endswith("/")]
        names = b"\0".join(os.fsencode(path) for path in matched)
        command = ["check-ignore", "-z", "--stdin"]
        ignored = self._door.run(self.layout.root, command, ok=(0, 1), stdin=names).records() if matched else ()
        return tuple(ignored)

    def index_tree(self) -> Oid:
        """The tree that the checkout's index holds. Raises GitError, also when it has unmerged paths."""
        return Oid(self._door.run(self.layout.root, ["write-tree"]).text.strip())
