"""One agent in a manifest, its worktree in a state that nobody committed, and the verbs about it."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.calling import Answer, call
from support.repo import Repo, put
from support.world import Agent, World, files_below

LEFT: dict[str, str | bytes] = {
    "src/app.py": "edited\n",
    "new/draft.txt": "untracked\n",
    os.fsdecode(b"odd \xff\n name"): "any bytes\n",
}


@dataclass
class One:
    """An agent, its manifest, and somebody else's entry in it that must stay."""

    world: World
    agent: Agent
    other: Agent
    manifest: Path
    named: list[str] = field(default_factory=list)

    def call(self, verb: str, *more: str) -> Answer:
        """The verb on the agent, named by manifest and id; no commit may be lost by it."""
        return self.checked(verb, *self.named, *more)

    def at_path(self, verb: str, *more: str, path: Path | None = None) -> Answer:
        return self.checked(verb, str(path or self.agent.path), "--root", str(self.world.root), *more)

    def restore(self, ref: str, *more: str) -> Answer:
        return self.checked("restore", ref, "--root", str(self.world.root), *more)

    def checked(self, *argv: str) -> Answer:
        before = set(self.world.git("rev-list", "--all").split())
        answer = call(*argv)
        assert before <= set(self.world.git("rev-list", "--all").split()), "commits were lost"
        return answer

    def status(self) -> list[str]:
        out = self.world.git("--no-optional-locks", "status", "--porcelain", "-z", "-uall", cwd=self.agent.path)
        return sorted(out.split("\0")[:-1])

    def tip(self) -> str | None:
        return self.world.branches().get(self.agent.branch)

    def state(self) -> dict[str, Any]:
        """All there is of the worktree that a failed or refused verb must leave as it was."""
        return {
            "tip": self.tip(),
            "head": (self.admin / "HEAD").read_text(),
            "index": self.world.git("ls-files", "--stage", "-v", "-z", cwd=self.agent.path),
            "status": self.status(),
            "files": files_below(self.agent.path),
            "manifest": self.manifest.read_bytes(),
            "user": self.world.snapshot(),
        }

    @property
    def admin(self) -> Path:
        return self.world.root / ".git/worktrees" / self.agent.path.name

    def entries(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.manifest.read_text())["worktrees"]
        return found

    def is_gone(self) -> bool:
        """Directory, registration, branch and entry, and nothing of the other agent's."""
        world = self.world
        assert world.untouched(self.other)
        assert [entry["agent_id"] for entry in self.entries() if entry["agent_id"] == self.other.id]
        mine = [entry for entry in self.entries() if entry["agent_id"] == self.agent.id]
        there = os.path.lexists(self.agent.path) or world.registered(self.agent) or self.tip() or mine
        return not there


def build_one(world: World, *, work: bool = False, **extra: Any) -> One:
    """An agent that has committed something, or nothing."""
    agent = world.agent("one", None if work else {})
    other = world.agent("other")
    manifest = world.manifest(world.entry(agent, **extra), world.entry(other, note={"kept": [1.5, None]}), note="kept")
    return One(world, agent, other, manifest, ["--manifest", str(manifest), "--agent-id", agent.id])


def leave(one: One) -> dict[str, bytes | str]:
    """Every kind of thing that is not committed, staged apart from what is on disk; the files as they are then."""
    tree = one.agent.path
    put(tree / "LICENSE", "staged\n")
    one.world.git("add", "LICENSE", cwd=tree)
    put(tree / "LICENSE", "staged, then edited\n")
    for path, content in LEFT.items():
        put(tree / path, content)
    (tree / "README.md").unlink()
    (tree / "setup.cfg").rename(tree / "moved.cfg")
    (tree / "src/core/engine.py").chmod(0o755)
    (tree / "link").symlink_to("nowhere")
    put(tree / "tests/test_app.py", "hidden\n")
    one.world.git("update-index", "--assume-unchanged", "tests/test_app.py", cwd=tree)
    return files_below(tree)


def tree_of(one: One, commit: str) -> dict[str, bytes | str]:
    """The files of a commit, as plain git writes them to an empty place."""
    place = one.world.tmp / f"tree-{commit[:12]}"
    place.mkdir(exist_ok=True)
    scratch = str(one.world.tmp / "scratch-index")
    env = {**one.world.env, "GIT_INDEX_FILE": scratch}
    reader = Repo(one.world.root, env)
    reader.git("read-tree", commit)
    reader.git("checkout-index", "-a", "-f", f"--prefix={place}/")
    return files_below(place)
