"""The two files by which a linked worktree and its repository name each other.

A directory is the worktree it claims to be only when both point at one another: its `.git` file names an
administrative directory of this repository, and that directory's `gitdir` names the `.git` file back.
Without the proof, git asked in such a directory may answer for the repository around it, for a clone, or
for a worktree that was moved or copied.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from git_wave.git import presence
from git_wave.model.paths import is_repository

OPERATIONS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
    "sequencer": "cherry-pick or revert",
}


class BrokenLink(Exception):
    """The directory is not the linked worktree it should be; the message says why."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A proven linked worktree: its real path and its administrative directory."""

    path: Path
    admin: Path

    def lock_reason(self) -> str | None:
        """The reason it was locked with, "" when none was given, None when it is not locked.

        Raises OSError when that cannot be read.
        """
        try:
            return (self.admin / "locked").read_text("utf-8", "surrogateescape").strip()
        except FileNotFoundError:
            return None

    def locked_since(self) -> float:
        """When it was locked, in seconds since the epoch. Raises OSError."""
        return os.lstat(self.admin / "locked").st_mtime


def prove_worktree(path: Path, common_dir: Path) -> Worktree:
    """The linked worktree of this repository at `path`. Raises BrokenLink or OSError."""
    if not stat.S_ISDIR(presence.lstat(path).st_mode):
        raise BrokenLink("a symbolic link or a file stands at the path")
    link_file = path / ".git"
    if not stat.S_ISREG(presence.lstat(link_file).st_mode):
        raise BrokenLink("a repository of its own stands at the path, not a linked worktree")
    admin = pointed_at(link_file, "gitdir: ")
    real, home = path.resolve(strict=True), (common_dir / "worktrees").resolve()
    if admin.parent != home:
        raise BrokenLink("it is a worktree of another repository")
    back = admin / "gitdir"
    named = Path(back.read_text("utf-8", "surrogateescape").rstrip("\n"))
    named = named if named.is_absolute() else admin / named
    if "\0" in str(named):
        raise BrokenLink("git registers it at a path that is none")
    if named.parent.resolve() / named.name != real / ".git":
        raise BrokenLink(f"git registers it at {named.parent}")
    return Worktree(real, admin)


def restore_link(path: Path, common_dir: Path) -> None:
    """Write `.git` at `path` when it is missing and an administrative directory names it. Raises OSError."""
    if is_there(path / ".git"):
        return
    for admin in (common_dir / "worktrees").iterdir():
        back = admin / "gitdir"
        if is_there(back) and registered_place(back) == os.path.normpath(path):
            with open(path / ".git", "x", encoding="utf-8", errors="surrogateescape") as link_file:
                link_file.write(f"gitdir: {admin}\n")


def pointed_at(link_file: Path, prefix: str) -> Path:
    if not stat.S_ISREG(os.stat(link_file).st_mode):  # a pipe would keep us waiting
        raise BrokenLink("its .git is no file")
    text = link_file.read_text("utf-8", "surrogateescape")
    if not text.startswith(prefix):
        raise BrokenLink("its .git file does not name a git directory")
    target = Path(text[len(prefix) :].rstrip("\n"))
    try:
        return (target if target.is_absolute() else link_file.parent / target).resolve(strict=True)
    except (ValueError, RuntimeError) as error:  # a NUL in it, a circle of links
        raise BrokenLink(f"its .git file names no directory: {error}") from error


def operations_in(git_dir: Path) -> tuple[str, ...]:
    """The operations that stand half-done in a git directory. Raises OSError when one cannot be looked for."""
    return tuple(dict.fromkeys(name for mark, name in OPERATIONS.items() if is_there(git_dir / mark)))


def private_refs(admin: Path) -> tuple[str, ...]:
    """Refs that live and die with one worktree (`refs/worktree`, `refs/bisect`, `refs/rewritten`)."""
    refs = admin / "refs"
    return tuple(sorted(str(f.relative_to(admin)) for f in refs.rglob("*") if not f.is_dir()))


def git_dir_of(tree: Path) -> Path:
    """The git directory of a working tree: its `.git`, or what that points to. Raises OSError, BrokenLink."""
    link_file = tree / ".git"
    return link_file if link_file.is_dir() else pointed_at(link_file, "gitdir: ")


def repositories_in(directory: Path) -> list[Path]:
    """Git directories below `directory`. Raises OSError when it cannot be walked."""

    def fail(error: OSError) -> None:
        raise error

    if not directory.is_dir():
        return []
    return [Path(at) for at, names, files in os.walk(directory, onerror=fail) if is_repository(names, files)]


def registered_place(back: Path) -> str:
    """Where a registration says that its worktree is; newer git may write that relative to itself."""
    named = back.read_text("utf-8", "surrogateescape").rstrip("\n")
    return os.path.normpath(os.path.dirname(os.path.join(back.parent, named)))


def admin_directories(common_dir: Path) -> tuple[Path, ...]:
    """Of all linked worktrees, sorted. Raises OSError."""
    try:
        return tuple(sorted((common_dir / "worktrees").iterdir()))
    except FileNotFoundError:
        return ()


def registered_places(common_dir: Path) -> tuple[str, ...]:
    """Where this repository registers worktrees, sorted. Raises OSError."""
    backs = (admin / "gitdir" for admin in admin_directories(common_dir))
    return tuple(sorted(registered_place(back) for back in backs if is_there(back)))


def heads_on(ref: str, common_dir: Path) -> tuple[str, ...]:
    """Git directories of this repository whose HEAD is on `ref`, the main worktree's included.

    Raises OSError when one cannot be read. A reftable repository keeps HEAD elsewhere: see `keeps_head_files`.
    """
    heads = [common_dir / "HEAD", *sorted((common_dir / "worktrees").glob("*/HEAD"))]
    return tuple(str(head.parent) for head in heads if head.read_bytes().strip() == f"ref: {ref}".encode())


def keeps_head_files(common_dir: Path) -> bool:
    return not is_there(common_dir / "reftable")


def is_there(path: Path) -> bool:
    try:
        presence.lstat(path)
    except FileNotFoundError:
        return False
    return True
