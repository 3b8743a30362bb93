"""Worktrees with owners and locks, processes that are in them, and the verbs that take them away."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.calling import Answer, call
from support.contract import assert_lines_published
from support.world import Agent, World

AN_HOUR = 3600


def record(
    world: World, agent: Agent, *flags: str, manifest: Path | None = None, agent_id: str | None = None
) -> Answer:
    """`record-agent` for an agent's worktree, into a manifest of its own unless one is given."""
    manifest = manifest or world.manifest(name=f"{agent.path.name}.json")
    said = ["--agent-id", agent_id or agent.id, "--path", str(agent.path), "--branch", agent.branch]
    return call("--manifest", str(manifest), *said, "--base", agent.base, *flags, prog="record-agent")


def admin(world: World, agent: Agent) -> Path:
    return Path(world.git("rev-parse", "--absolute-git-dir", cwd=agent.path))


def owner(world: World, agent: Agent) -> dict[str, object] | None:
    record = admin(world, agent) / "git-wave-owner.json"
    return json.loads(record.read_text()) if record.exists() else None


def lock(world: World, agent: Agent, reason: str, age: float = AN_HOUR) -> Path:
    """Lock a worktree, as if so many seconds ago."""
    world.git("worktree", "lock", f"--reason={reason}", agent.path)
    locked = admin(world, agent) / "locked"
    then = locked.stat().st_mtime - age
    os.utime(locked, (then, then))
    return locked


def dead_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


@contextmanager
def process(cwd: Path, holding: Path | None = None) -> Iterator[int]:
    """A process that stands in a directory, or holds a file open, until the block ends."""
    script = "import sys; f = open(sys.argv[1]) if sys.argv[1:] else None; print('ready', flush=True); sys.stdin.read()"
    args = [sys.executable, "-c", script, *([str(holding)] if holding else [])]
    with subprocess.Popen(args, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        yield child.pid
        assert child.stdin is not None
        child.stdin.close()


def remove(target: str | Path, *flags: str) -> Answer:
    return call("remove", str(target), "--format", "json", *flags)


def reap(session: str, *flags: str) -> Answer:
    return call("reap", "--session", session, "--format", "json", *flags)


def reap_orphans(*flags: str) -> Answer:
    return call("reap-orphans", "--format", "json", *flags)


def fates(answer: Answer) -> dict[str, tuple[str, str]]:
    """Outcome and reason of every worktree, by its directory's name."""
    return {Path(one["worktree_path"]).name: (one["outcome"], one["reason"]) for one in answer.doc["worktrees"]}


def journals(world: World) -> list[list[dict[str, object]]]:
    """The lines of each journal, oldest first, each as published."""
    return [assert_lines_published(path) for path in sorted(world.root.glob(".git/git-wave/waves/*.jsonl"))]


def untouched(world: World, agent: Agent) -> bool:
    """Directory, registration and branch as they were."""
    return agent.path.is_dir() and world.registered(agent) and world.branches().get(agent.branch) == agent.tip


def taken(world: World, agent: Agent) -> bool:
    """Directory and registration are gone, and the branch is where it was."""
    gone = not os.path.lexists(agent.path) and not world.registered(agent)
    return gone and world.branches().get(agent.branch) == agent.tip
