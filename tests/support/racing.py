"""Somebody who does something in the middle of a wave, at any of its git calls, and what must be true afterwards."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from support.repo import put
from support.shim import Shim
from support.world import Agent, Run, World, files_below

MINE = {"LICENSE": "edited by the user\n", "scratch.txt": "the user's\n"}


@dataclass
class Scene:
    """Two agents of a wave, with a bystander, a stale registration that waits for its disk, and edits of the user's."""

    world: World
    agent: Agent
    second: Agent
    bystander: Agent
    unplugged: Agent
    strays: dict[Path, str] = field(default_factory=dict)

    @property
    def manifest(self) -> Path:
        return self.world.manifest(self.agent, self.second)


def build_scene(world: World) -> Scene:
    agent, second = world.agent("one", {"src/app.py": "new\n"}), world.agent("two")
    bystander = world.agent("bystander")
    put(bystander.path / "README.md", "half an idea\n")
    unplugged = world.agent("unplugged", path=world.tmp / "disk/unplugged")
    shutil.move(world.tmp / "disk", world.tmp / "disk-in-a-drawer")
    for path, text in MINE.items():
        put(world.root / path, text)
    return Scene(world, agent, second, bystander, unplugged)


def at_call(shim: Shim, number: int, script: Path) -> None:
    """Run the script before the git call of this number."""
    (shim.state / "calls-so-far").unlink(missing_ok=True)
    shim.rules[:] = [f'if count calls-so-far && [ "$n" = {number} ]; then aside {script} "$@"; fi\n']
    shim.install()


def calm(shim: Shim) -> None:
    shim.rules.clear()
    shim.install()


def assert_others_untouched(scene: Scene, *, pruned: bool = False) -> None:
    """The bystander, the unplugged disk and the user's own edits. `pruned`: somebody else ran `worktree prune`."""
    world = scene.world
    assert (scene.bystander.path / "README.md").read_text() == "half an idea\n", "the bystander's edit is gone"
    assert world.branches().get(scene.bystander.branch) == scene.bystander.tip, "the bystander's branch moved"
    assert world.registered(scene.bystander), "the bystander is no longer registered"
    assert pruned or world.registered(scene.unplugged), "the registration on the unplugged disk is gone"
    assert world.branches().get(scene.unplugged.branch) == scene.unplugged.tip, "the unplugged branch is gone"
    assert (world.tmp / "disk-in-a-drawer/unplugged/unplugged.txt").exists()
    changed = [path for path, text in MINE.items() if (world.root / path).read_text() != text]
    assert not changed, f"edits of the user's changed: {changed}"
    assert world.fsck() == "", world.fsck()


def assert_kept_somewhere(scene: Scene, text: str) -> None:
    """Content that nobody committed: in a file, anywhere in the scene, or in what HEAD holds."""
    found = [place for place, content in files_below(scene.world.tmp).items() if content == text.encode()]
    ours = (scene.world.root / ".git/git-wave").rglob("*")
    found += [str(path) for path in ours if path.is_file() and path.read_bytes() == text.encode()]
    assert found, f"lost: {text!r}"


def assert_honest(scene: Scene, run: Run) -> None:
    """What the result says of each entry is what plain git says."""
    world, target = scene.world, run.doc["wave"]["target"]
    for agent in (scene.agent, scene.second):
        told = [entry for entry in run.entries if entry["branch"] == agent.branch]
        if not told:
            assert agent.branch in [entry["branch"] for entry in run.doc["result"]["pending"]], (
                "an entry is not told of"
            )
            continue
        (entry,) = told
        if entry["status"] in ("merged_removed", "warning"):
            assert world.git_code("merge-base", "--is-ancestor", agent.tip, target) == 0, f"not merged: {entry}"
        if entry["status"] == "merged_removed":
            left = agent.branch in world.branches() or world.registered(agent)
            assert not left, f"not cleared away: {entry}"
        if entry["merge_commit"]:
            assert world.reachable(entry["merge_commit"]), f"its merge commit is gone: {entry}"
    assert run.doc["ok"] == (run.code == 0)
    if run.code == 0:
        assert all(entry["status"] == "merged_removed" for entry in run.entries), run.doc
