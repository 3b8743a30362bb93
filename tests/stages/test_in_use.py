"""A wave leaves alone what somebody is still in, before the merge and before the removal."""

import shlex
import subprocess

import pytest

from git_wave.state import census
from support.calling import program
from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.killing import KILLED, calm, kill_when, wave_program
from support.repo import put
from support.shim import Shim
from support.standing import holding, standing_in
from support.world import World, files_below


def test_a_worktree_that_somebody_stands_in_is_not_merged(world: World) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    with standing_in(agent.path / "src") as pid:
        run = world.wave(agent, fine)

    assert_blocked(world, run, agent, "worktree_in_use")
    assert run.entry(agent)["stderr"] == f"pid {pid}: working directory {agent.path}/src"
    assert run.entry(agent)["stage"] == "dirt"
    assert_landed(world, run, fine)
    assert_all_landed(world, world.wave(agent), agent)


def test_a_dry_run_says_so_too(world: World) -> None:
    agent = world.agent("a")
    with standing_in(agent.path):
        run = world.wave(agent, args=["--dry-run"])

    assert run.outcome() == ("blocked", "worktree_in_use")


def test_what_is_uncommitted_is_told_as_well(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "new.txt", "x")
    with standing_in(agent.path):
        run = world.wave(agent)

    assert_blocked(world, run, agent, "worktree_in_use")
    assert "?? new.txt" in run.entry(agent)["stderr"].splitlines()


def test_who_comes_while_it_is_merged_keeps_worktree_and_branch(world: World, shim: Shim) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    put(agent.path / "run.log", "output")
    pids = world.tmp / "pids"
    shim.after("merge", f"(cd {agent.path} && exec sleep 600 >/dev/null 2>&1) & echo $! >{pids}", nth=1)
    before = files_below(agent.path)
    try:
        run = world.wave(agent, fine)
    finally:
        subprocess.run(["kill", pids.read_text().strip()], check=True)

    assert run.outcome(agent) == ("blocked", "worktree_in_use")
    assert run.entry(agent)["stage"] == "teardown"
    assert run.entry(agent)["merge_commit"]
    assert world.merged(agent.tip)
    assert world.branches()[agent.branch] == agent.tip
    assert files_below(agent.path) == before
    assert_landed(world, run, fine)


def test_an_open_file_does_not_stop_the_merge_but_the_removal(world: World) -> None:
    agent = world.agent("a")
    with holding(agent.path / "README.md") as pid:
        run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_in_use")
    assert run.entry()["stderr"] == f"pid {pid}: open file {agent.path}/README.md"
    assert world.merged(agent.tip)
    again = world.wave(agent)
    assert again.outcome() == ("merged_removed", "already_landed")
    assert world.landed(agent)


def test_the_shell_that_called_us_counts_and_we_do_not(world: World) -> None:
    agent = world.agent("a")
    command = [program("cleanup-wave"), "--manifest", str(world.manifest(agent)), "--format", "json"]
    shell = f"{shlex.join(command)}; exit $?"
    asked = subprocess.run(["sh", "-c", shell], cwd=agent.path, capture_output=True, text=True, check=False)

    assert asked.returncode == 1
    assert "worktree_in_use" in asked.stdout
    assert world.untouched(agent)
    done = subprocess.run(command, cwd=agent.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert world.landed(agent)


def test_processes_that_cannot_be_listed_block_with_a_reason_of_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    monkeypatch.setattr(census, "sees_itself", lambda pids: False)

    assert_blocked(world, world.wave(agent), agent, "holders_check_failed")


def test_a_removal_cut_short_is_not_finished_over_somebody_who_is_in_there(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    manifest = world.manifest(agent)
    kill_when(shim, '[ "$sub" = worktree ] && has remove "$@"')
    assert wave_program(manifest).code == KILLED
    calm(shim)
    with standing_in(agent.path):
        assert world.wave(manifest).outcome() == ("blocked", "worktree_in_use")
        assert agent.path.exists()
    assert world.wave(manifest).code == 0
    assert world.landed(agent)
