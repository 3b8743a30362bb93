"""Calls of `git wave create`, what an answer promises, and what must not change when it is a refusal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.calling import Answer, call
from support.recording import entries_of
from support.replaying import assert_as_before, standing
from support.world import Agent, World


@dataclass(frozen=True)
class Made:
    """A worktree that was created; `doc` is the whole answer."""

    path: Path
    branch: str
    base: str
    baseline: str | None
    doc: dict[str, Any]

    def codes(self) -> list[str]:
        return [warning["code"] for warning in self.doc["warnings"]]


def create_argv(world: World, *more: str, agent: str = "a1", root: Path | None = None) -> list[str]:
    """The words after `git-wave`; the manifest is `wave.json` beside the checkout."""
    named = ["--manifest", str(world.tmp / "wave.json"), f"--agent-id={agent}", f"--root={root or world.root}"]
    return ["create", *named, *more]


def create(world: World, *more: str, agent: str = "a1", root: Path | None = None) -> Answer:
    """Call it in this process; makes an empty manifest where there is none."""
    if not (world.tmp / "wave.json").exists():
        world.manifest()
    return call(*create_argv(world, *more, agent=agent, root=root))


def made_by(world: World, answer: Answer) -> Made:
    """Fails unless branch, worktree and entry are there and the answer says of each what plain git says."""
    assert answer.code == 0, answer
    doc = answer.doc
    made = Made(Path(doc["worktree_path"]), doc["branch"], doc["base"], doc["baseline"], doc)
    listed = world.worktrees()[str(made.path)]
    tip = made.baseline or made.base
    assert (doc["ok"], doc["reason"] in ("ok", "already_created")) == (True, True), doc
    assert (listed["branch"], listed["HEAD"]) == (f"refs/heads/{made.branch}", tip), listed
    assert world.branches()[made.branch] == tip, world.branches()
    assert made.path == Path(os.path.realpath(made.path)), made.path
    assert doc["entry"] in entries_of(Path(doc["manifest_path"])), doc["entry"]
    assert [doc["entry"][key] for key in ("worktree_path", "branch")] == [str(made.path), made.branch], doc
    assert (doc["entry"]["expected_base"], doc["entry"].get("baseline")) == (made.base, made.baseline), doc
    assert doc["locked"] or "locked" not in listed, listed
    assert Path(doc["cwd"]).is_dir(), doc["cwd"]
    return made


def created(world: World, *more: str, agent: str = "a1", root: Path | None = None) -> Made:
    return made_by(world, create(world, *more, agent=agent, root=root))


def as_agent(made: Made, tip: str | None = None) -> Agent:
    """For the questions that a `World` answers about agents."""
    return Agent(made.doc["entry"]["agent_id"], made.path, made.branch, made.base, tip or made.baseline or made.base)


def assert_refused(answer: Answer, *reasons: str) -> str:
    """A refusal with one of these reasons, as its contract says, on both streams; gives the hint."""
    assert answer.code == 1, answer
    doc = answer.doc
    assert (doc["ok"], doc["reason"] in reasons) == (False, True), doc
    assert doc["hint"].strip(), doc
    assert f"create: {doc['reason']} — " in answer.err, answer.err
    assert "Traceback" not in answer.err, answer.err
    hint: str = doc["hint"]
    return hint


@contextmanager
def nothing_made(world: World) -> Iterator[None]:
    """Everything but our own state is as it was: files, refs, registrations, the manifest byte for byte."""
    manifest = world.tmp / "wave.json"
    if not manifest.exists():
        world.manifest()
    before, text = standing(world.root), manifest.read_bytes()
    yield
    assert manifest.read_bytes() == text, "the manifest changed"
    assert_as_before(before, standing(world.root))
    assert_nothing_pending(world)


def assert_nothing_pending(world: World) -> None:
    """Our own state says nothing any more of creates that are under way."""
    left = sorted(path.name for path in (world.root / ".git/git-wave/creating").glob("*"))
    assert not left, left


def assert_no_record(world: World) -> None:
    """The same, but for what a killed process may leave of a file that it was writing."""
    left = sorted(path.name for path in (world.root / ".git/git-wave/creating").glob("[!.]*.json"))
    assert not left, left
