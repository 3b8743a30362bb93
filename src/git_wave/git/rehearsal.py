"""Reads for a dry run: merges are tried on top of one another, and nothing of it stays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.reads import Reads
from git_wave.git.writes import OWN_IDENTITY
from git_wave.model.names import Oid


class Rehearsal(Reads):
    """Reads whose new objects go to a scratch place."""

    def pretend_merge(self, tree: Oid, parents: tuple[Oid, ...]) -> Oid:
        """The commit that a merge would make, near enough to merge the next branch on top of it."""
        flags = [flag for parent in parents for flag in ("-p", parent)]
        command = ["commit-tree", "--no-gpg-sign", *flags, "-m", "rehearsal", tree]
        return Oid(self._door.run(self.layout.root, command, settings=OWN_IDENTITY).text.strip())


@contextmanager
def rehearsal(door: Door, layout: Layout) -> Iterator[Rehearsal]:
    """Lasts as long as the scratch place does."""
    with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
        variables = {
            "GIT_OBJECT_DIRECTORY": scratch,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(layout.common_dir / "objects"),
        }
        with Rehearsal(door.with_variables(variables), layout) as reads:
            yield reads


def quoted(path: Path) -> str:
    """A path as the alternates variable takes it; in quotes a colon is no separator."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
