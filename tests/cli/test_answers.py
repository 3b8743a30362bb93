"""What the verbs about worktrees say when they end: one JSON document, or a few lines for people."""

from pathlib import Path

import pytest

from support.calling import call
from support.one import One, build_one
from support.reclaim import record
from support.repo import put
from support.world import World

NOTHING = ["no-such-thing"]
REFUSED = {
    "create": ["--manifest", "m.json", "--agent-id", "1"],
    "finalize": NOTHING,
    "discard": NOTHING,
    "restore": NOTHING,
    "remove": NOTHING,
    "list": ["--cwd", "no-such-thing"],
}


@pytest.fixture
def one(world: World) -> One:
    return build_one(world)


@pytest.mark.parametrize("verb", REFUSED)
def test_a_refusal_says_what_to_do_next_in_json_and_in_text(
    verb: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.root)

    answer, text = call(verb, *REFUSED[verb]), call(verb, *REFUSED[verb], "--format", "text")

    assert (answer.code, text.code, answer.doc["ok"]) == (1, 1, False), answer
    assert answer.doc["next_step"]
    assert f"what to do: {answer.doc['next_step']}\n" in text.out
    assert "{" not in text.out
    assert text.err.startswith(f"{verb}: {answer.doc['reason']} — ")


def test_people_are_told_what_was_committed_kept_and_how_it_comes_back(one: One) -> None:
    put(one.agent.path / "new.txt", "new\n")
    told = one.call("finalize", "--format", "text")
    tip = one.world.git("rev-parse", one.agent.branch)
    assert told.out.splitlines() == [f"ok  {one.agent.branch}  {one.agent.path}", f"committed: {tip}"]

    put(one.agent.path / "more.txt", "more\n")
    told = one.call("discard", "--force", "--format", "text")
    tip_at, wip_at = one.world.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/git-wave").splitlines()
    ref, (wip, commit) = tip_at.split()[0], wip_at.split()
    assert f"commits: {ref}" in told.out
    assert f"what was uncommitted: {commit} at {wip}\n" in told.out
    assert "to bring it back: git wave restore refs/git-wave/" in told.out


def test_a_reap_says_for_each_worktree_what_to_do_and_how_many_ended_how(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.root)
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    clean, dirty = world.agent("clean", {}), world.agent("dirty", {})
    for agent in (clean, dirty):
        record(world, agent, "--parent", "s")
    put(dirty.path / "new.txt", "new\n")

    answer = call("reap", "--session", "s", "--dry-run")
    text = call("reap", "--session", "s", "--format", "text")

    steps = {Path(row["worktree_path"]): row["next_step"] for row in answer.doc["worktrees"]}
    assert steps[clean.path] == ""
    assert f"what to do: {steps[dirty.path]}\n" in text.out
    assert "1 removed, 1 kept\n" in text.out
