"""The places where waves keep ignored files: listed, put back, and deleted when somebody says so.

Below `git-wave/kept/<run id>/` each branch has a directory of its own, and `.origin/<branch>/` says of which worktree.
The latter is written before the first file arrives, so that a branch's directory can be told from a part of its name.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from git_wave.state.atomic import replace_file, sync_directory
from git_wave.state.expiry import begun_at
from git_wave.state.kept import carry_across, is_same
from git_wave.state.named_files import read_regular

ORIGIN, RESIDUE = ".origin", ".residue"
RECORD = "origin.json"
ELSEWHERE = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK)
"""What says that a file has to be copied."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one run kept of one branch's worktree. `name` is the branch, or `.residue/<branch>` for what a merge left
    half-written in the checkout. `worktree` is where the files were, None when that is not on record.
    """

    run_id: str
    name: str
    path: Path
    files: int
    size: int
    worktree: Path | None

    @property
    def id(self) -> str:
        return f"{self.run_id}/{self.name}"

    @property
    def is_residue(self) -> bool:
        return self.name.startswith(f"{RESIDUE}/")

    @property
    def branch(self) -> str:
        return self.name.removeprefix(f"{RESIDUE}/")

    @property
    def since(self) -> datetime | None:
        return begun_at(self.run_id)


def kept_dir(home: Path) -> Path:
    """Where all of it is; `home` is our own directory under the common one."""
    return home / "kept"


def write_origin(home: Path, place: Path, worktree: Path) -> None:
    """Note whose files `place` is about to get. Raises OSError."""
    run_id, *branch = place.relative_to(kept_dir(home)).parts
    record = kept_dir(home) / run_id / ORIGIN / Path(*branch) / RECORD
    if not os.path.lexists(record):
        record.parent.mkdir(parents=True, exist_ok=True)
        replace_file(record, json.dumps({"v": 1, "worktree_path": str(worktree)}).encode() + b"\n")


def list_kept(home: Path) -> list[Kept]:
    """Everything that is kept, oldest first. Raises OSError when it cannot be looked through."""
    try:
        runs = sorted(entry.name for entry in os.scandir(kept_dir(home)) if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    return [kept for run in runs for kept in kept_by(kept_dir(home) / run)]


def kept_by(run: Path) -> Iterator[Kept]:
    origins = {str(record.parent.relative_to(run / ORIGIN)): record for record in run.glob(f"{ORIGIN}/**/{RECORD}")}
    for name in sorted({*origins, *unrecorded(run, set(origins))}):
        place = run / name
        if not os.path.lexists(place):
            continue
        files, size = measure(place)
        if files:
            yield Kept(run.name, name, place, files, size, origin_of(origins.get(name)))


def unrecorded(run: Path, recorded: set[str]) -> Iterator[str]:
    """Directories without a record: a branch each, as far as can be told from their names."""
    above = {str(parent) for name in recorded for parent in Path(name).parents}
    tops = [entry.name for entry in os.scandir(run) if entry.name not in (ORIGIN, RESIDUE)]
    if (run / RESIDUE).is_dir():
        tops += [f"{RESIDUE}/{entry.name}" for entry in os.scandir(run / RESIDUE)]
    yield from (name for name in tops if name not in recorded and name not in above)


def origin_of(record: Path | None) -> Path | None:
    if record is None:
        return None
    try:
        return Path(json.loads(read_regular(record))["worktree_path"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def measure(place: Path) -> tuple[int, int]:
    """Files and bytes. Raises OSError."""
    files = size = 0
    for path in walk(place):
        files, size = files + 1, size + os.lstat(path).st_size
    return files, size


def walk(place: Path) -> Iterator[Path]:
    """Everything but directories; links are not followed."""

    def fail(error: OSError) -> None:
        raise error

    if not place.is_dir() or place.is_symlink():
        yield place
    for directory, names, files in os.walk(place, onerror=fail):
        links = [name for name in names if os.path.islink(os.path.join(directory, name))]
        yield from (Path(directory, name) for name in [*files, *links])


def in_the_way(source: Path, target: Path) -> Iterator[Path]:
    """What stands where files below `source` would be put below `target`, their own copies aside. Raises OSError."""
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        return
    if is_same(source, target):
        return
    if not stat.S_ISDIR(found.st_mode) or source.is_symlink() or not source.is_dir():
        yield target
        return
    for name in sorted(os.listdir(source)):
        yield from in_the_way(source / name, target / name)


def put_back(source: Path, target: Path) -> None:
    """Move all below `source` to the same place below `target`, by rename where the file system allows.

    Raises OSError, with FileExistsError where something stands: what was moved by then is there, the rest is not. A
    copy that was made before is taken for moved.
    """
    if os.path.lexists(target) and source.is_dir() and not source.is_symlink() and not target.is_symlink():
        for name in sorted(os.listdir(source)):
            put_back(source / name, target / name)
        os.rmdir(source)
        return
    if os.path.lexists(target):
        if not is_same(source, target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.unlink(source)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if source.is_dir() and not source.is_symlink():
            os.rename(source, target)
        else:
            # A rename would replace what somebody puts there right now; a link fails.
            os.link(source, target, follow_symlinks=False)
            os.unlink(source)
    except OSError as error:
        if error.errno not in ELSEWHERE or os.path.lexists(target):
            raise
        carry_across(source, target)
    sync_directory(target.parent)


def delete_kept(kept: Kept) -> None:
    """Delete the files for good. Raises OSError; what is left then can be deleted again."""
    if kept.path.is_dir() and not kept.path.is_symlink():
        shutil.rmtree(kept.path)
    else:
        kept.path.unlink()
    forget(kept)


def forget_emptied(home: Path, place: Path) -> None:
    """Take away what is left of a place once every file has gone from it. Raises OSError."""
    run_id, *name = place.relative_to(kept_dir(home)).parts
    if os.path.lexists(place) and any(True for _ in walk(place)):
        return
    for directory, _, _ in os.walk(place, topdown=False):
        os.rmdir(directory)
    forget(Kept(run_id, "/".join(name), place, 0, 0, None))


def forget(kept: Kept) -> None:
    """Take away the record and the directories that nothing is left in."""
    run = kept.path
    for _ in Path(kept.name).parts:
        run = run.parent
    record = run / ORIGIN / kept.name / RECORD
    record.unlink(missing_ok=True)
    for directory in (record.parent, kept.path):
        while directory != run.parent:
            try:
                os.rmdir(directory)
            except FileNotFoundError:
                pass
            except OSError:
                break
            directory = directory.parent
