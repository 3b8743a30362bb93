"""Two looks of our own at a checkout: what its user sees in it, and all that a command must leave as it was.

Walks the disk and asks plain git; uses nothing of the package under test.
"""

import os
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.repo import REAL_GIT

SIDECARS = (b".git-wave", b".claude/worktrees", b".agent_context", b".multica", b".trusty-mpm-worktree")
EXECUTABLE = 0o100
PLACES = {".claude", "lanes"}
"""Where the tests have worktrees made: directories whose times may change."""
Seen = dict[bytes, tuple[str, int, bytes]]


def git_names(where: Path, *args: str) -> list[bytes]:
    """What a git command that is told `-z` prints, split at NUL."""
    argv = [REAL_GIT, "--no-optional-locks", *args]
    done = subprocess.run(argv, cwd=where, capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]


def shown(root: Path) -> Seen:
    """Path to kind, permission bits and content (a link: its target) of every tracked file and every untracked one
    that is not ignored. Other repositories, sidecars, sockets and FIFOs are left out.
    """
    ignored = set(git_names(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard"))
    return {path: one for path, one in _contents(os.fsencode(root)) if path not in ignored and not is_sidecar(path)}


def is_sidecar(path: bytes) -> bool:
    return any(b"/" + name + b"/" in b"/" + path + b"/" for name in SIDECARS)


def assert_same(user: Path, worktree: Path) -> Seen:
    """The two show the same, byte for byte, link for link and mode for mode; gives what they show.

    Of a file that is in the index or in HEAD git carries the executable bit and no other; of any other all bits count.
    Where git was told not to look at a file, that it is absent says nothing.
    """
    left, right = shown(user), shown(worktree)
    hidden = {line[2:] for line in git_names(user, "ls-files", "-v", "-z") if line[:1] in b"hsS"}
    untracked = set(git_names(user, "ls-files", "-z", "--others", "--exclude-standard"))
    untracked -= set(git_names(user, "ls-tree", "-r", "-z", "--full-tree", "--name-only", "HEAD"))
    wrong = {path: (left.get(path), right.get(path)) for path in (left.keys() | right.keys()) - (hidden - left.keys())}
    wrong = {path: both for path, both in wrong.items() if not _is_same(*both, exact=path in untracked)}
    assert not wrong, wrong
    return right


def _is_same(one: tuple[str, int, bytes] | None, other: tuple[str, int, bytes] | None, *, exact: bool) -> bool:
    if one is None or other is None:
        return False
    bits = 0o777 if exact else EXECUTABLE
    return (one[0], one[1] & bits, one[2]) == (other[0], other[1] & bits, other[2])


def _contents(top: bytes) -> Iterator[tuple[bytes, tuple[str, int, bytes]]]:
    for path, status in _below(top):
        name = os.path.relpath(path, top)
        if stat.S_ISLNK(status.st_mode):
            yield name, ("link", 0, os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            yield name, ("file", stat.S_IMODE(status.st_mode), Path(os.fsdecode(path)).read_bytes())


def _below(top: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """Everything but directories. A directory with a `.git` of its own is another repository, unless files in it are
    tracked.
    """
    tracked = [os.path.join(top, name) for name in git_names(Path(os.fsdecode(top)), "ls-files", "-z")]
    for folder, folders, names in os.walk(top):
        if b".git" in folders + names:
            if folder != top and not any(path.startswith(folder + b"/") for path in tracked):
                folders.clear()
                continue
            folders[:] = [name for name in folders if name != b".git"]
            names = [name for name in names if name != b".git"]
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in [*names, *links]:
            path = os.path.join(folder, name)
            yield path, os.lstat(path)


# -- what must be as it was


def standing(root: Path, made: Path | None = None, branch: str = "") -> dict[str, Any]:
    """All that is not the new worktree's at `made` with its branch: equal before and after.

    The checkout's files and directories with mode, time and content, the git directory file by file, the refs, the
    stashes, the registrations, and the same files of every other worktree.
    """
    common = Path(os.fsdecode(git_names_line(root, "rev-parse", "--path-format=absolute", "--git-common-dir")))
    worktrees = [path for path in registered(root) if path != made]
    refs = git_names_line(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    mine = os.fsencode(f"refs/heads/{branch} ")
    return {
        "files": {str(path): files(path, made) for path in {root, *worktrees} if path.is_dir()},
        "git": git_files(common, made, branch),
        "index time": (common / "index").stat().st_mtime_ns if (common / "index").exists() else None,
        "refs": [ref for ref in refs if not ref.startswith((mine, b"refs/git-wave/"))],
        "stashes": git_names_line(root, "stash", "list", "--format=%H"),
        "worktrees": worktrees,
    }


def assert_as_before(before: Mapping[str, Any], after: Mapping[str, Any], made: Path | None = None) -> None:
    """Says what differs and nothing else. Directories on the way to `made` may be new."""
    for place, found in after["files"].items():
        for name in {os.path.relpath(folder, place) for folder in made.parents} & found.keys() if made else ():
            found[name] = before["files"].get(place, {}).get(name)
        after["files"][place] = {name: value for name, value in found.items() if value is not None}
    wrong = {key: difference(before[key], after[key]) for key in before if before[key] != after[key]}
    assert not wrong, wrong


def difference(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() | other.keys()
        return {key: difference(one.get(key), other.get(key)) for key in keys if one.get(key) != other.get(key)}
    return one, other


def git_names_line(where: Path, *args: str) -> bytes:
    return subprocess.run([REAL_GIT, *args], cwd=where, capture_output=True, check=True).stdout.removesuffix(b"\n")


def registered(root: Path) -> list[Path]:
    lines = git_names(root, "worktree", "list", "--porcelain", "-z")
    return [Path(os.fsdecode(line.removeprefix(b"worktree "))) for line in lines if line.startswith(b"worktree ")]


def files(root: Path, made: Path | None) -> dict[str, Any]:
    """Relative path to mode, time, inode and content; of a directory, no more than mode and time."""
    found: dict[str, Any] = {}
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = [name for name in folders if here / name != made and not _is_git_directory(here / name)]
        if here != root:
            name, status = here.relative_to(root), here.lstat()
            found[str(name)] = (status.st_mode, None if _may_be_touched(here) else status.st_mtime_ns)
        for path in (here / name for name in [*names, *folders]):
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode):
                found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, status.st_ino, _content(path))
    return found


def _may_be_touched(folder: Path) -> bool:
    """A worktree was made in it, or in a directory that was made in it."""
    return bool(PLACES & {*folder.parts}) or any((folder / name).exists() for name in PLACES)


def _is_git_directory(path: Path) -> bool:
    return path.name == ".git" and path.is_dir()


def git_files(common: Path, made: Path | None, branch: str) -> dict[str, bytes]:
    """The files of a git directory, less objects, our own state and what belongs to the new worktree."""
    skipped = {common / "objects", common / "git-wave", common / "refs/git-wave", common / "logs/refs/git-wave"}
    if made:
        skipped.add(admin_of(common, made))
    ours = {common / f"{where}/{branch}" for where in ("refs/heads", "logs/refs/heads")} if branch else set()
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(common):
        here = Path(folder)
        folders[:] = [name for name in folders if here / name not in skipped]
        paths = [here / name for name in names if here / name not in ours]
        for path in paths:
            # The git of a killed command may still be at work: its lock files come and go.
            with suppress(FileNotFoundError):
                found[str(path.relative_to(common))] = path.read_bytes()
    return found


def admin_of(common: Path, worktree: Path) -> Path:
    """The administrative directory of the worktree at a path, found by what it says of itself."""
    wanted = os.fsencode(worktree / ".git")
    (found,) = [path.parent for path in common.glob("worktrees/*/gitdir") if path.read_bytes().rstrip(b"\n") == wanted]
    return found


def _content(path: Path) -> bytes | str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return path.read_bytes() if path.is_file() else "neither file nor link"
