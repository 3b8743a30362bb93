"""Copies of a working tree's index, to be asked and changed without anybody else's noticing.

An index tells what is modified by size and time, and git looks closer only at files as young as the index itself. So a
copy has the time of the original. Entries that git was told to overlook go unlooked at whenever an index is written:
what their size and time say proves nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.git.links import Worktree


@contextmanager
def copied_index(door: Door, tree: Worktree) -> Iterator[Door]:
    """A door to a copy of the tree's index; an empty one where nothing was ever added. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="git-wave-") as scratch:
        copy = Path(scratch) / "index"
        try:
            shutil.copy2(tree.admin / "index", copy)
        except FileNotFoundError:
            pass
        yield door.with_variables({"GIT_INDEX_FILE": str(copy)})


def forget_files(run: Callable[[Sequence[str], bytes], Answer], paths: Iterable[str]) -> None:
    """Have a copy know these paths by their content alone, without marks, sizes and times: git then reads each file.

    `run` runs git on the copy. Raises GitError.
    """
    wanted = frozenset(paths)
    if not wanted:
        return
    listed = run(["ls-files", "--stage", "-z"], b"").records()
    entries = [record for record in listed if record.partition("\t")[2] in wanted]
    run(["update-index", "-z", "--index-info"], joined(entries))


def joined(records: Iterable[str]) -> bytes:
    """Records as git reads them from `-z --stdin`."""
    return b"".join(os.fsencode(record) + b"\0" for record in records)
