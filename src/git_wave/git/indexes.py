"""Changes to the index of one linked worktree. No file and no ref is touched."""

from __future__ import annotations

from collections.abc import Sequence

from git_wave.git.door import Door
from git_wave.git.index_copies import joined
from git_wave.git.links import Worktree
from git_wave.git.parse import SUBMODULE, Difference
from git_wave.git.snapshots import SNAPSHOT_PINS
from git_wave.model.names import Oid


class Indexes:
    """Everything here raises GitError; an index is replaced whole, or stays."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def take_files(self, tree: Worktree, changes: Sequence[Difference]) -> Oid:
        """Stage each of these paths as it is on disk (a submodule as `changes` has it); the tree that results."""
        gone = [change.path for change in changes if change.status == "D"]
        files = [change.path for change in changes if change.status != "D" and change.mode != SUBMODULE]
        modules = [change for change in changes if change.mode == SUBMODULE]
        if gone:
            self._run(tree, ["update-index", "--force-remove", "-z", "--stdin"], joined(gone))
        if files:
            self._run(tree, ["update-index", "--add", "--replace", "-z", "--stdin"], joined(files))
        if modules:
            lines = joined(f"{change.mode} {change.oid} 0\t{change.path}" for change in modules)
            self._run(tree, ["update-index", "--replace", "-z", "--index-info"], lines)
        return Oid(self._run(tree, ["write-tree"]).strip())

    def read_tree(self, tree: Worktree, oid: Oid) -> None:
        """Make the index hold exactly this tree; what it knows of files that stay the same is kept."""
        self._run(tree, ["read-tree", "-m", oid])

    def _run(self, tree: Worktree, args: Sequence[str], stdin: bytes = b"") -> str:
        where = [f"--git-dir={tree.admin}", f"--work-tree={tree.path}"]
        return self._door.run(tree.path, [*where, *args], settings=SNAPSHOT_PINS, stdin=stdin, shielded=True).text
