"""What only looks writes nothing: not into an index, an administrative directory, a ref or the object store.

Everything in the repository and in every worktree is compared byte for byte, whatever state they are in.
"""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call
from support.killing import wave_program
from support.reclaim import dead_pid, lock, record
from support.repo import Repo, put
from support.unseen import edit_unseen
from support.world import Agent, World

LOOKS = {
    "wave": ["cleanup-wave", "--manifest", "{manifest}", "--dry-run", "--format", "json"],
    "record-agent --check": [
        "record-agent",
        "--check",
        "--manifest",
        "{new}",
        "--agent-id",
        "n",
        "--path",
        "{path}",
        "--branch",
        "{branch}",
        "--base",
        "{base}",
    ],
    "discard": ["git-wave", "discard", "{path}", "--force", "--dry-run"],
    "remove": ["git-wave", "remove", "{path}", "--dry-run"],
    "remove, preserving": ["git-wave", "remove", "{path}", "--preserve", "--dry-run"],
    "reap": ["git-wave", "reap", "--session", "s", "--dry-run"],
    "reap-orphans": ["git-wave", "reap-orphans", "--dry-run"],
    "undo": ["git-wave", "undo", "--dry-run"],
    "gc": ["git-wave", "gc", "--older-than", "1h", "--dry-run"],
    "list": ["git-wave", "list"],
    "doctor": ["git-wave", "doctor"],
    "log": ["git-wave", "log"],
    "show": ["git-wave", "show", "{run}"],
    "kept": ["git-wave", "kept"],
    "validate": ["git-wave", "validate", "--manifest", "{manifest}"],
    "hooks status": ["git-wave", "hooks", "status"],
}


def staged(world: World, agent: Agent) -> None:
    put(agent.path / "staged.txt", "staged\n")
    world.git("add", "staged.txt", cwd=agent.path)


def gone_with_something_staged(world: World, agent: Agent) -> None:
    staged(world, agent)
    shutil.rmtree(agent.path)


def touched(world: World, agent: Agent) -> None:
    """Sizes and times in the index are not those on disk, so that git would like to refresh it."""
    for path in (agent.path / "setup.cfg", world.root / "setup.cfg"):
        os.utime(path, (1, 1))


def edited_unseen(world: World, agent: Agent) -> None:
    edit_unseen(world, agent.path)


def unmerged(world: World, agent: Agent) -> None:
    world.commit(agent.path, write={"setup.cfg": "theirs\n"})
    world.git("branch", "side", agent.base)
    tree = world.tmp / "side"
    world.git("worktree", "add", "-q", tree, "side")
    world.commit(tree, write={"setup.cfg": "ours\n"})
    world.git_code("merge", "side", cwd=agent.path)


def with_a_submodule(world: World, agent: Agent) -> None:
    library = Repo(world.tmp / "library", world.env)
    library.root.mkdir()
    library.git("init", "-q", "--template=")
    library.commit(write={"lib.txt": "lib\n"})
    world.git("submodule", "--quiet", "add", str(library.root), "lib", cwd=agent.path)
    world.commit(agent.path, message="add a library")


def killed_in_its_removal(world: World, agent: Agent) -> None:
    fake = put(
        world.tmp / "bin/git",
        '#!/bin/sh\nfor w; do [ "$w" != remove ] || { kill -9 $PPID; exit 1; }; done\nexec git "$@"\n',
    )
    fake.chmod(0o755)
    path = os.environ["PATH"]
    put(fake, fake.read_text().replace("exec git", f'PATH="{path}" exec git'))
    wave_program(world.tmp / "wave.json", env={**os.environ, "PATH": f"{fake.parent}:{path}"})
    (agent.path / "LICENSE").unlink()


STATES: list[Callable[[World, Agent], None]] = [
    lambda world, agent: None,
    staged,
    gone_with_something_staged,
    touched,
    edited_unseen,
    unmerged,
    with_a_submodule,
    killed_in_its_removal,
]
NAMES = ["as committed", *(state.__name__ for state in STATES[1:])]


def everything(world: World) -> dict[str, tuple[int, bytes | str | None]]:
    """Every file, link and directory below the world, with its mode and content; the verbs' own lock left out."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for at, folders, files in os.walk(world.tmp):
        for name in (*folders, *files):
            path = Path(at) / name
            mode = path.lstat().st_mode
            if path.parent.match(".git/git-wave") and name in ("lock", "holder.json"):
                continue
            content = path.read_bytes() if stat.S_ISREG(mode) else os.readlink(path) if stat.S_ISLNK(mode) else None
            found[str(path.relative_to(world.tmp))] = (mode, content)
    return found


@pytest.mark.sampled(16)
@pytest.mark.parametrize("state", STATES, ids=NAMES)
@pytest.mark.parametrize("look", LOOKS)
def test_a_look_writes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, look: str, state: Callable[[World, Agent], None]
) -> None:
    monkeypatch.chdir(world.root)
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    agent, other, third = world.agent("a"), world.agent("b"), world.agent("c")
    run = world.wave(third).doc["wave"]["id"]
    manifest = world.manifest(agent, other)
    record(world, agent, "--parent", "s")
    lock(world, other, f"pid {dead_pid()}")
    put(other.path / "secret.env", "only here\n")
    state(world, agent)
    new = world.tmp / "new.json"
    program, *args = [
        word.format(manifest=manifest, new=new, path=agent.path, branch=agent.branch, base=agent.base, run=run)
        for word in LOOKS[look]
    ]
    before = everything(world)

    answer = call(*args, prog=program)

    assert answer.code in (0, 1), answer
    after = everything(world)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == set()


def test_after_a_dry_run_over_a_worktree_that_is_gone_git_can_still_collect(world: World) -> None:
    agent = world.agent("a")
    gone_with_something_staged(world, agent)

    world.wave(agent, args=["--dry-run"])

    world.git("gc", "--quiet", "--prune=now")
    assert world.fsck() == ""
