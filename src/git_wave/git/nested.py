"""Git repositories inside a directory, found on disk.

Git tells of a repository in a worktree only if it can read it. Whatever else lies below a `.git` it passes over, and
would delete it with the worktree. So each directory is looked into.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from git_wave.model.paths import is_repository


def repositories_below(top: Path) -> Iterator[str]:
    """Every `.git`, readable or not, and every bare repository below `top`; the `.git` of `top` itself is left out.

    Paths are relative to `top`. Links are not followed. Raises OSError when a directory cannot be listed.
    """

    def fail(error: OSError) -> None:
        raise error

    root = os.fspath(top)
    for place, folders, files in os.walk(root, onerror=fail):
        at = place[len(root) + 1 :]
        if at and is_repository(folders, files):
            yield at
            folders.clear()
            continue
        if ".git" in files or ".git" in folders:
            if at:
                yield f"{at}/.git"
            if ".git" in folders:
                folders.remove(".git")


def is_empty(path: Path) -> bool:
    """Whether nothing goes with it: a directory with no file in it, or a file with no byte. Raises OSError."""
    if path.is_symlink():
        return False
    if not path.is_dir():
        return path.stat().st_size == 0

    def fail(error: OSError) -> None:
        raise error

    walked = os.walk(path, onerror=fail)
    return not any(
        files or any(os.path.islink(os.path.join(at, one)) for one in folders) for at, folders, files in walked
    )


def is_tied(repository: Path, top: Path) -> bool:
    """Whether it works only where it stands: a worktree of a repository outside `top`, or a repository with linked
    worktrees. `repository` is what `repositories_below` told. Raises OSError.
    """
    if repository.is_dir() and not repository.is_symlink():
        linked = repository / "worktrees"
        return linked.is_dir() and any(linked.iterdir())
    if repository.is_symlink():
        named = os.readlink(repository)
    else:
        named = repository.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    target = os.path.normpath(os.path.join(repository.parent, named))
    return os.path.isabs(named) or not Path(target).is_relative_to(top)
