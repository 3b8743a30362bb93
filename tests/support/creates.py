"""One create beside a peer and a user at work, built once and copied to be struck; and what must hold after it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.calling import Answer, call
from support.creating import Made, assert_no_record, create_argv, made_by
from support.recording import entries_of
from support.replaying import assert_as_before, assert_same, standing
from support.repo import put
from support.world import World, build_template

REPLAY = ("--replay-dirty",)
PEER = ".claude/worktrees/peer"


@dataclass(frozen=True)
class Scene:
    world: World
    before: dict[str, Any]

    def argv(self, *more: str) -> list[str]:
        return create_argv(self.world, "--format=json", *more)

    def assert_others_untouched(self) -> None:
        """The user's checkout and the peer's worktree, however much of the new one there is."""
        after = standing(self.world.root, branch="agent-a1")
        after["worktrees"] = [path for path in after["worktrees"] if path.name != "agent-a1"]
        after["files"] = {place: theirs(found) for place, found in after["files"].items() if place[-9:] != "/agent-a1"}
        after["git"] = theirs(after["git"])
        assert_as_before(self.before, after)

    def unmanaged(self) -> list[str]:
        """Worktrees, directories and branches that no manifest names."""
        world = self.world
        named = entries_of(world.tmp / "wave.json")
        paths = {str(world.root), str(world.root / PEER), *(entry["worktree_path"] for entry in named)}
        branches = {"main", "worktree-agent-peer", *(entry["branch"] for entry in named)}
        there = {*world.worktrees(), *(str(path) for path in (world.root / ".claude/worktrees").iterdir())}
        return sorted(there - paths) + sorted(world.branches().keys() - branches)

    def finish(self, *more: str) -> Made:
        """The same command again: it succeeds, and then there is one worktree more, and an entry for it."""
        is_done = not self.has_record() and bool(entries_of(self.world.tmp / "wave.json"))
        answer = call(*self.argv(*more))
        # Killed when only the answer was left to give, a create is done, and to start it again is to start it twice.
        is_twice = is_done and answer.doc["reason"] == "duplicate_entry"
        made = self.made() if is_twice else made_by(self.world, answer)
        self.assert_complete(made, *more)
        return made

    def has_record(self) -> bool:
        return any((self.world.root / ".git/git-wave/creating").glob("[!.]*.json"))

    def made(self) -> Made:
        """What a create that ended well, and whose answer nobody read, has made."""
        (entry,) = entries_of(self.world.tmp / "wave.json")
        branch, base, baseline = entry["branch"], entry["expected_base"], entry.get("baseline")
        return Made(Path(entry["worktree_path"]), branch, base, baseline, {})

    def assert_complete(self, made: Made, *more: str) -> None:
        world = self.world
        assert [entry["branch"] for entry in entries_of(world.tmp / "wave.json")] == ["agent-a1"], "not one entry"
        assert self.unmanaged() == [], self.unmanaged()
        assert_as_before(self.before, standing(world.root, made.path, made.branch), made.path)
        assert_no_record(world)
        if more == REPLAY:
            assert_same(world.root, made.path)
            assert world.git("rev-parse", f"{made.baseline}^") == world.head(), "not on the base"
        assert world.git("status", "--porcelain", cwd=made.path) == "", "not clean"
        assert made.doc.get("locked") or "locked" not in world.worktrees()[str(made.path)], "still locked"

    def assert_told(self, answer: Answer, *more: str) -> None:
        """It ended well and all is there, or said why not and left nothing that no manifest names."""
        assert "Traceback" not in answer.err, answer.err
        assert answer.doc["reason"] != "internal_error", answer.doc
        if answer.code == 0:
            self.assert_complete(made_by(self.world, answer), *more)
            return
        assert (answer.doc["ok"], answer.code) == (False, 1), answer
        assert answer.doc["hint"].strip(), answer.doc
        assert self.unmanaged() == [], (self.unmanaged(), answer.doc)
        self.assert_others_untouched()


def theirs(found: dict[str, Any]) -> dict[str, Any]:
    """Without the files of the new worktree, its registration and its branch, lock files included."""
    return {name: value for name, value in found.items() if "/agent-a1" not in name}


def build_scene(place: Path, env: Mapping[str, str]) -> World:
    """A user with edits of every sort and a peer with some of its own, beside which the new worktree is to stand."""
    build_template(place / "template", env)
    world = World(place / "scene", place / "template", env)
    peer = world.agent("peer", path=world.root / PEER)
    put(peer.path / "half.txt", "half an idea\n")
    put(world.root / "LICENSE", "staged\n")
    world.git("add", "LICENSE")
    put(world.root / "LICENSE", "edited\n")
    (world.root / "setup.cfg").unlink()
    put(world.root / "notes/tool.sh", "#!/bin/sh\n").chmod(0o755)
    (world.root / "notes/link").symlink_to("../LICENSE")
    world.git("stash", "store", "-m", "an old one", world.git("stash", "create"))
    return world


def copy_scene(built: World, place: Path, env: Mapping[str, str]) -> Scene:
    """A copy at another place; the peer is linked to it."""
    world = World(place, built.root, env)
    for link in (*world.root.glob(".git/worktrees/*/gitdir"), world.root / PEER / ".git"):
        link.write_text(link.read_text().replace(str(built.tmp), str(place)))
    world.manifest()
    return Scene(world, standing(world.root))


def forget(scene: Scene) -> None:
    shutil.rmtree(scene.world.tmp)
