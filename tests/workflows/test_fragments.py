"""The commands in `workflows/*.md`, taken out of their fences and run as they stand."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.calling import SCHEMAS, program
from support.repo import put
from support.world import World

WORKFLOWS = SCHEMAS.parent / "workflows"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRAGMENTS = [path.name for path in sorted(WORKFLOWS.glob("*.md")) if path.name != "README.md"]


def commands(name: str) -> list[str]:
    """Each fenced block of shell, in order."""
    return [body for language, body in FENCE.findall((WORKFLOWS / name).read_text()) if language == "sh"]


def run(
    world: World, script: str, cwd: Path, shell: str = "dash", **variables: str
) -> subprocess.CompletedProcess[str]:
    path = f"{Path(program('git-wave')).parent}:{os.environ['PATH']}"
    variables = {"WAVE_WORKTREE_MANIFEST": str(world.tmp / "wave.json"), "EXPECTED_BRANCH": "main", **variables}
    return subprocess.run(
        [shell, "-c", script],
        cwd=cwd,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("name", FRAGMENTS)
def test_every_fence_is_shell_that_satisfies_shellcheck(name: str) -> None:
    text = "\n".join(commands(name))

    check = [program("shellcheck"), "--shell=sh", "-"]
    done = subprocess.run(check, input=f"#!/bin/sh\n{text}", capture_output=True, text=True, check=False)

    assert len(commands(name)) == len(FENCE.findall((WORKFLOWS / name).read_text()))
    assert done.returncode == 0, done.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_the_orchestrators_commands_land_what_the_agents_commands_committed(world: World, shell: str) -> None:
    *before, validate_and_land = commands("orchestrate.md")
    agent = "\n".join(commands("agent.md"))

    made = run(world, "\n".join(before), world.root, shell)
    trees = [Path(path) for path in world.worktrees() if path != str(world.root)]
    for tree in trees:
        put(tree / f"{tree.name}.txt", "work")
        worked = run(world, agent, tree, shell)
        assert worked.returncode == 0, worked.stderr
    landed = run(world, validate_and_land, world.root, shell)

    assert (made.returncode, len(trees)) == (0, 2), made.stderr
    assert landed.returncode == 0, landed.stdout
    assert all((world.root / f"{tree.name}.txt").exists() for tree in trees)
    assert list(world.worktrees()) == [str(world.root)]


@pytest.mark.parametrize(
    "variables", [{"WAVE_WORKTREE_MANIFEST": ""}, {"EXPECTED_BRANCH": ""}, {"EXPECTED_BRANCH": "x"}]
)
def test_the_orchestrators_first_block_stops_what_follows(world: World, variables: dict[str, str]) -> None:
    before = world.snapshot()

    done = run(world, "\n".join(commands("orchestrate.md")), world.root, **variables)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr
    assert world.snapshot() == before


def test_an_agent_that_is_not_where_it_should_be_is_stopped(world: World) -> None:
    put(world.root / "mine.txt", "mine")

    in_main = run(world, "\n".join(commands("agent.md")), world.root)
    begin, end = commands("agent.md")
    moved = run(world, f"{begin}\ngit switch -q -c other\n{end}", world.agent("a").path)

    assert (in_main.returncode, moved.returncode) == (1, 1)
    assert "no linked worktree" in in_main.stderr
    assert "no longer" in moved.stderr
    assert world.git("status", "--porcelain") == "?? mine.txt"


def test_the_commands_after_a_blocked_wave_work(world: World) -> None:
    good, bad = world.agent("good"), world.agent("bad", {}, ["LICENSE"])
    manifest = world.manifest(good, bad)
    assert world.wave(manifest).code == 1
    look, explain, again, back = commands("recover.md")

    looked = run(world, f"{look}\n{explain}", world.root, WAVE_WORKTREE_MANIFEST=str(manifest))
    world.commit(bad.path, write={"LICENSE": "back"})
    landed = run(world, f"{again}\n{back}", world.root, WAVE_WORKTREE_MANIFEST=str(manifest))

    assert looked.returncode == 0, looked.stderr
    assert "branch_contains_deletions" in looked.stdout
    assert "worktree_dirty" in looked.stdout
    assert landed.returncode == 0, landed.stderr
