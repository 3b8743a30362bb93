"""Edits that git is told to overlook, and that no size and no time gives away."""

import os
import re
import time
from pathlib import Path

from support.repo import Repo

FLAGS = ("--assume-unchanged", "--skip-worktree")


def edit_unseen(repo: Repo, tree: Path, path: str = "setup.cfg", flag: str = FLAGS[0]) -> bytes:
    """Edit a marked file within the second in which git last looked at it, size and all; what it holds now.

    The index is then made to look younger, as it is once anything else was staged in another second.
    """
    file, index = tree / path, tree / repo.git("rev-parse", "--git-path", "index", cwd=tree)
    was = file.read_bytes()
    while True:
        file.write_bytes(was)
        repo.git("update-index", "--no-assume-unchanged", path, cwd=tree)
        repo.git("update-index", "--no-skip-worktree", path, cwd=tree)
        repo.git("update-index", "--refresh", cwd=tree)
        repo.git("update-index", flag, path, cwd=tree)
        file.write_bytes(was.swapcase())
        seen = re.findall(r"[cm]time: (\d+):", repo.git("ls-files", "--debug", path, cwd=tree))
        now = os.lstat(file)
        if [int(second) for second in seen] == [int(now.st_ctime), int(now.st_mtime)]:
            break
    while int(time.time()) <= int(now.st_mtime):
        time.sleep(0.02)  # no call makes the clock of the file system go on
    os.utime(index)
    return was.swapcase()
