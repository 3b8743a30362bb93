"""Whatever a user did to their checkout, a replay shows the same, and the checkout is as it was."""

import errno
import itertools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.creating import create, made_by
from support.dirt import prepare
from support.replaying import assert_as_before, assert_same, git_names, standing
from support.repo import put
from support.world import World

FEW, MANY = 8, 400
ALWAYS = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate, Phase.shrink],
}
PATHS = [b"LICENSE", b"src/app.py", b"src/core/engine.py", b"src/core/wheel.py", b"tool.sh", b"link", b"folder-link"]
PATHS += [b"kept/new\nline", b"kept/latin\xe9", b"kept/-dash", b"photo.bin", b"empty.txt", b"dos.raw", b"docs/guide.md"]
PATHS += [
    b"new.txt",
    b"new",
    b"src/core",
    b"src",
    b"deep/er/new",
    b"deep/er",
    b"o\xffdd/:(top)*",
    b"LICENSE/inner",
    b" x ",
]
CONTENTS = [b"", b"one\n", b"two\n", b"no end", b"\0\xff\r\n", b"x" * 9000, b"#!/bin/sh\n"]
MODES = [0o644, 0o755, 0o600, 0o700, 0o664, 0o444]
TARGETS = ["src/app.py", "nowhere", "src", "LICENSE", "new\nline"]
CHANGES = ["write", "write", "write", "delete", "delete", "chmod", "link", "rename", "stage", "stage", "stage all"]
CHANGES += ["intend", "forget", "assume", "skip", "ignore", "touch", "same size"]
picks = st.integers(0, 999)
changes = st.lists(st.tuples(st.sampled_from(CHANGES), picks, picks), min_size=1, max_size=14)


@dataclass
class Hands:
    """A user at work: each change is made where it can be, and nothing where it cannot."""

    world: World

    def path(self, pick: int) -> Path:
        return self.world.root / os.fsdecode(PATHS[pick % len(PATHS)])

    def make(self, change: str, one: int, other: int) -> None:
        action: Callable[[Path, int], None] = getattr(self, "do_" + change.replace(" ", "_"))
        action(self.path(one), other)

    def free(self, path: Path) -> Path:
        """Whatever is in the way goes: a file where a directory must be, a directory where a file must be."""
        for parent in reversed(path.parents):
            if parent.is_relative_to(self.world.root) and (parent.is_symlink() or parent.is_file()):
                parent.unlink()
        self.clear(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def clear(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path) and self.is_direct(path):
            path.unlink()

    def is_direct(self, path: Path) -> bool:
        """Not through a link: that would be another path."""
        return not any(parent.is_symlink() for parent in path.parents)

    def is_file(self, path: Path) -> bool:
        return self.is_direct(path) and path.is_file() and not path.is_symlink()

    def git(self, *args: str | bytes | Path) -> None:
        """It may well be refused."""
        self.world.git("--literal-pathspecs", *args, check=False)

    def do_write(self, path: Path, detail: int) -> None:
        put(self.free(path), CONTENTS[detail % len(CONTENTS)])

    def do_delete(self, path: Path, detail: int) -> None:
        self.clear(path)

    def do_chmod(self, path: Path, detail: int) -> None:
        if self.is_file(path):
            path.chmod(MODES[detail % len(MODES)])

    def do_link(self, path: Path, detail: int) -> None:
        depth = len(path.relative_to(self.world.root).parts) - 1
        self.free(path).symlink_to("../" * depth + TARGETS[detail % len(TARGETS)])
        self.drop_loop(path)

    def do_rename(self, path: Path, detail: int) -> None:
        if self.is_direct(path) and (path.is_symlink() or path.is_file()):
            held = path.rename(self.world.root / "held")
            self.drop_loop(held.rename(self.free(self.path(detail))))

    def drop_loop(self, path: Path) -> None:
        """In the place of a directory with tracked files, a link to itself is beyond git's own status."""
        try:
            path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                path.unlink()

    def do_stage(self, path: Path, detail: int) -> None:
        self.git("add", "-A", "--", path)

    def do_stage_all(self, path: Path, detail: int) -> None:
        self.git("add", "-A")

    def do_intend(self, path: Path, detail: int) -> None:
        self.git("add", "-N", "--", path)

    def do_forget(self, path: Path, detail: int) -> None:
        self.git("rm", "-q", "-r", "--cached", "--", path)

    def do_assume(self, path: Path, detail: int) -> None:
        self.git("update-index", "--assume-unchanged", "--", path)

    def do_skip(self, path: Path, detail: int) -> None:
        if self.is_file(path):
            self.git("update-index", "--skip-worktree", "--", path)

    def do_ignore(self, path: Path, detail: int) -> None:
        with (self.world.root / ".gitignore").open("ab") as stream:
            stream.write([b"deep/er/\n", b"*.tmp\n", b"new.txt\n", b"!*.log\n"][detail % 4])

    def do_touch(self, path: Path, detail: int) -> None:
        if self.is_file(path):
            os.utime(path, (detail, detail))

    def do_same_size(self, path: Path, detail: int) -> None:
        if self.is_file(path):
            path.write_bytes(path.read_bytes()[::-1])


def has_hidden(world: World) -> bool:
    """Files that git was told not to look at, or to add one day: `git status` does not tell all."""
    tags = git_names(world.root, "ls-files", "-v", "-z")
    meant = git_names(world.root, "diff", "--name-only", "--diff-filter=A", "-z")
    return bool(meant) or any(tag[:1] in b"hsS" for tag in tags)


def index_of(where: Path) -> list[bytes]:
    return git_names(where, "ls-files", "--stage", "-z")


def untracked(where: Path) -> list[bytes]:
    names = git_names(where, "ls-files", "-z", "--others", "--exclude-standard")
    return [name for name in names if not name.startswith(b".claude/worktrees/")]


def check(world: World, made: list[tuple[str, int, int]], baseline: str) -> None:
    user = Hands(world)
    for one in made:
        user.make(*one)
    world.manifest()
    before = standing(world.root)

    result = made_by(world, create(world, "--replay-dirty", f"--baseline={baseline}"))

    assert_as_before(before, standing(world.root, result.path, result.branch), result.path)
    assert_same(world.root, result.path)
    if baseline == "none" and not has_hidden(world):
        assert index_of(result.path) == index_of(world.root)
        assert untracked(result.path) == untracked(world.root)
    elif baseline == "commit":
        assert world.git("status", "--porcelain", "-z", cwd=result.path) == ""
        assert world.git("rev-parse", "HEAD^" if result.baseline else "HEAD", cwd=result.path) == world.head()


def explore(place: Path, template: Path, examples: int) -> None:
    place.mkdir()
    first = World(place / "first", template, dict(os.environ))
    prepare(first)
    first.git("gc", "-q")
    numbers = itertools.count()

    @settings(max_examples=examples, **ALWAYS)  # type: ignore[arg-type]
    @given(changes, st.sampled_from(["commit", "none"]))
    def run(made: list[tuple[str, int, int]], baseline: str) -> None:
        home = place / str(next(numbers))
        try:
            check(World(home, first.root, dict(os.environ)), made, baseline)
        finally:
            shutil.rmtree(home)

    run()


def test_any_dirt_is_replayed_as_it_is(tmp_path: Path, template: Path) -> None:
    explore(tmp_path / "runs", template, FEW)


@pytest.mark.deep
def test_any_of_many_kinds_of_dirt_is_replayed_as_it_is(tmp_path: Path, template: Path) -> None:
    explore(tmp_path / "runs", template, MANY)
