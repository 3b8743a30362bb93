"""Kinds of uncommitted state, each a change to a checkout that its user might have made."""

import os
from collections.abc import Callable
from pathlib import Path

from support.repo import prose, put
from support.world import World

Dirt = Callable[[World], object]
ODD_NAMES = [b"a b", b"new\nline", b"tab\t", b'q"uote', b"back\\slash", b" lead", b"trail ", b"-dash", b"caf\xc3\xa9"]
ODD_NAMES += [
    b"latin\xe9",
    b"*",
    b"[a]",
    b":(top)x",
    b"#x",
    b"!x",
    b"~",
    b"$(x)",
    b"\x1b[31m",
    b"odd/\xff/\xfe",
    b"...x",
]


def odd(world: World, *folder: str) -> list[Path]:
    return [world.root.joinpath(*folder, os.fsdecode(name)) for name in ODD_NAMES]


def prepare(world: World) -> None:
    """What the kinds below need to be committed: links, an executable, odd names, binary, attributes."""
    for path in odd(world, "kept"):
        put(path, "as committed\n")
    put(world.root / "tool.sh", "#!/bin/sh\n").chmod(0o755)
    put(world.root / "photo.bin", bytes(range(256)))
    put(world.root / "empty.txt", "")
    put(world.root / ".gitattributes", "*.crlf text eol=crlf\n*.raw -text\n*.auto text=auto\n")
    put(world.root / "dos.crlf", "one\r\ntwo\r\n")
    put(world.root / "dos.raw", "one\r\ntwo\r\n")
    (world.root / "link").symlink_to("src/app.py")
    (world.root / "folder-link").symlink_to("src")
    world.commit(message="things to change")


def staged(change: Dirt, *paths: str) -> Dirt:
    """The same change, and `git add` of it."""

    def make(world: World) -> None:
        change(world)
        world.git("add", "-A", "--", *paths or ["."])

    return make


def edit(path: str, content: str | bytes = "edited\n") -> Dirt:
    return lambda world: put(world.root / path, content)


def gone(path: str) -> Dirt:
    return lambda world: (world.root / path).unlink()


def linked(path: str, target: str) -> Dirt:
    def make(world: World) -> None:
        (world.root / path).unlink(missing_ok=True)
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).symlink_to(target)

    return make


def moved(old: str, new: str) -> Dirt:
    def make(world: World) -> None:
        (world.root / new).parent.mkdir(parents=True, exist_ok=True)
        (world.root / old).rename(world.root / new)

    return make


def mode(path: str, bits: int, content: str | None = None) -> Dirt:
    def make(world: World) -> None:
        if content is not None:
            put(world.root / path, content)
        (world.root / path).chmod(bits)

    return make


def both(*changes: Dirt) -> Dirt:
    """One after the other."""

    def make(world: World) -> None:
        for change in changes:
            change(world)

    return make


def plain(*args: str) -> Dirt:
    return lambda world: world.git(*args)


def cleared(folder: str) -> Dirt:
    def make(world: World) -> None:
        for path in sorted((world.root / folder).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        (world.root / folder).rmdir()

    return make


def same_size_at_once(world: World) -> None:
    """Edited right after it was staged: its size and the second of its time tell nothing."""
    put(world.root / "LICENSE", "one\n")
    world.git("add", "LICENSE")
    put(world.root / "LICENSE", "two\n")


def odd_names_everywhere(world: World) -> None:
    kept = odd(world, "kept")
    for path in kept[::3]:
        put(path, "edited\n")
    world.git("add", "-A")
    for path in kept[1::3]:
        path.unlink()
    for path in kept[::6]:
        put(path, "edited again\n")
    for path in odd(world, "fresh", "new\nfolder"):
        put(path, os.fsencode(path.name))


DIRT: dict[str, Dirt] = {
    "an unstaged edit": edit("src/app.py"),
    "a staged edit": staged(edit("src/app.py")),
    "a staged edit under an unstaged one": both(staged(edit("src/app.py")), edit("src/app.py", "edited again\n")),
    "a staged edit that was taken back on disk": lambda world: both(
        staged(edit("src/app.py")), edit("src/app.py", prose("src/app.py"))
    )(world),
    "a file of the same size in the same second": same_size_at_once,
    "a file that was only touched": lambda world: os.utime(world.root / "src/app.py", (1, 1)),
    "a new file": edit("notes/deep/er/new.txt"),
    "a new file, staged": staged(edit("notes/new.txt")),
    "a new file, staged and edited": both(staged(edit("new.txt")), edit("new.txt", "more\n")),
    "a new file, staged and deleted": both(staged(edit("new.txt")), gone("new.txt")),
    "a new file, meant to be added": both(edit("new.txt"), plain("add", "-N", "new.txt")),
    "a file meant to be added and deleted": both(edit("new.txt"), plain("add", "-N", "new.txt"), gone("new.txt")),
    "a deletion": gone("LICENSE"),
    "a staged deletion": plain("rm", "-q", "LICENSE"),
    "a staged deletion, and the file again": both(plain("rm", "-q", "LICENSE"), edit("LICENSE", "again\n")),
    "a file that git was told to forget": plain("rm", "-q", "--cached", "LICENSE"),
    "a whole directory deleted": cleared("src/core"),
    "a rename": moved("src/app.py", "src/deep/renamed.py"),
    "a staged rename": plain("mv", "src/app.py", "renamed.py"),
    "a staged rename, edited": both(
        plain("mv", "src/app.py", "renamed.py"), edit("renamed.py", prose("src/app.py") + "x")
    ),
    "two files that changed places": both(
        moved("LICENSE", "tmp"), moved("setup.cfg", "LICENSE"), moved("tmp", "setup.cfg")
    ),
    "a file made executable": mode("src/app.py", 0o755),
    "a file made executable, staged": staged(mode("src/app.py", 0o755)),
    "a file no longer executable": mode("tool.sh", 0o644),
    "a staged mode under an edit": both(staged(mode("tool.sh", 0o644)), edit("tool.sh", "#!/bin/bash\n")),
    "new files of many modes": both(
        mode("new/private", 0o600, "p"), mode("new/tool", 0o755, "t"), mode("new/read-only", 0o444, "r"),
        mode("new/all", 0o666, "a"), mode("new/group", 0o750, "g"),
    ),
    "a new link": linked("new-link", "src/app.py"),
    "a new link from below": linked("docs/api/up", "../../src"),
    "a new link, staged": staged(linked("new-link", "src/app.py")),
    "a new link to nothing yet": linked("new-link", "src/not-yet.py"),
    "a new link to something ignored": both(edit("run.log"), linked("new-link", "run.log")),
    "a new link to itself": linked("new-link", "new-link"),
    "a link to elsewhere in here": linked("link", "LICENSE"),
    "a link that became a file": both(gone("link"), edit("link", "a file now\n")),
    "a file that became a link": linked("LICENSE", "README.md"),
    "a file that became a link, staged": staged(linked("LICENSE", "README.md")),
    "a directory link that became a directory": both(gone("folder-link"), edit("folder-link/file", "x")),
    "a file that became a directory": both(gone("LICENSE"), edit("LICENSE/inner/file.txt", "x\n")),
    "a file that became a directory, staged": staged(both(gone("LICENSE"), edit("LICENSE/inner/file.txt", "x\n"))),
    "a directory that became a file": both(cleared("src/core"), edit("src/core", "x\n")),
    "a directory that became a file, staged": staged(both(cleared("src/core"), edit("src/core", "x\n"))),
    "a directory that became a link": both(cleared("src/core"), linked("src/core", "util")),
    "odd names": odd_names_everywhere,
    "an emptied file and a filled one": both(edit("LICENSE", ""), edit("empty.txt", "full\n"), edit("new-empty", "")),
    "binary": both(edit("photo.bin", bytes(range(255, -1, -1)) * 9), edit("new.bin", b"\0\xff\0\r\n\n\r")),
    "a file without a last newline": both(edit("LICENSE", "no end"), edit("new.txt", "no end")),
    "line ends, as the attributes say": edit("dos.crlf", "one\r\ntwo\r\nthree\r\n"),
    "line ends, left alone": both(edit("dos.raw", "one\ntwo\r\n"), edit("new.raw", "a\r\nb\n")),
    "an edit that git was told to assume away": both(
        plain("update-index", "--assume-unchanged", "LICENSE"), edit("LICENSE", "hidden\n")
    ),
    "an edit that git was told to skip": both(
        plain("update-index", "--skip-worktree", "LICENSE"), edit("LICENSE", "hidden\n")
    ),
    "a staged edit under one that git skips": both(
        staged(edit("LICENSE")), plain("update-index", "--skip-worktree", "LICENSE"), edit("LICENSE", "hidden\n")
    ),
    "other ignore rules": both(
        edit(".gitignore", "*.log\nmade/\n"), edit("made/x"), edit("node_modules/y"), edit("a.log")
    ),
    "ignore rules in a new directory": both(edit("new/.gitignore", "*.tmp\n"), edit("new/a.tmp"), edit("new/b.txt")),
    "other attributes": both(edit(".gitattributes", "*.raw -text\n"), edit("new.raw", "a\r\n")),
    "a harness's files outside its sidecars": both(edit(".claude/settings.json", "{}"), edit(".multica.txt", "x")),
    "names like ours": both(edit("x.git-wave/a"), edit("worktrees/a"), edit("claude/worktrees/b")),
}  # fmt: skip

TOGETHER = [
    "a staged edit under an unstaged one",
    "a new file",
    "a new file, staged and edited",
    "a whole directory deleted",
]
TOGETHER += ["a new file, staged and deleted", "a file made executable, staged", "new files of many modes", "odd names"]
TOGETHER += [
    "a link to elsewhere in here",
    "a new link from below",
    "binary",
    "line ends, left alone",
    "other ignore rules",
]
TOGETHER += ["a file that became a directory", "a directory link that became a directory", "names like ours"]
"""Kinds that do not touch the same paths, so that they can be made all at once."""
