"""What stands inside a worktree and is not the worktree's to take away, or would go with it unseen."""

from pathlib import Path

import pytest

from support.checks import assert_blocked, offending
from support.killing import calm, kill_when, wave_program
from support.repo import Repo, put
from support.shim import Shim
from support.world import World, files_below

DIRTY = "worktree_dirty"


def test_a_file_system_mounted_inside_blocks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the kernel's list, a bind mount with a space in its name among the lines."""
    agent = world.agent("a")
    put(agent.path / "node_modules/x.js", "shared")
    line = f"36 35 98:0 /shared {agent.path}/node_modules rw - ext4 /dev/root rw\n"
    mounts = put(world.tmp / "mountinfo", "1 2 3:4 / /with\\040space rw - ext4 /dev/root rw\n" + line)
    monkeypatch.setattr("git_wave.git.presence.MOUNTS", mounts)

    run = world.wave(agent)

    assert_blocked(world, run, agent, DIRTY)
    assert offending(run) == [f"mounted inside: {agent.path}/node_modules"]


def test_a_removal_that_was_cut_short_is_finished(world: World, shim: Shim) -> None:
    """Killed inside `git worktree remove`, whichever file went first."""
    agents = [world.agent(name) for name in ("one", "two")]
    for agent, gone in zip(agents, ((".git", "README.md"), ("LICENSE",)), strict=True):
        manifest = world.manifest(agent)
        kill_when(shim, '[ "$sub" = worktree ]')
        wave_program(manifest)
        calm(shim)
        for name in gone:
            (agent.path / name).unlink()

        run = world.wave(agent)

        assert run.outcome() == ("merged_removed", "already_landed"), run.doc
        assert not agent.path.exists()
        assert agent.branch not in world.branches()


def test_a_removal_that_was_cut_short_is_not_finished_over_new_work(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    manifest = world.manifest(agent)
    kill_when(shim, '[ "$sub" = worktree ]')
    wave_program(manifest)
    calm(shim)
    (agent.path / "LICENSE").unlink()
    put(agent.path / "new.txt", "new")

    run = world.wave(agent)

    assert run.outcome()[0] == "blocked"
    assert (agent.path / "new.txt").read_text() == "new"


def test_a_single_ignored_file_beside_tracked_ones_in_a_build_folder_is_kept(world: World) -> None:
    world.commit(write={"build/script.sh": "true\n", ".gitignore": "local.env\n"})
    agent = world.agent("a")
    put(agent.path / "build/local.env", "only here")

    run = world.wave(agent)

    (kept,) = run.warnings(code="ignored_output_kept")
    assert Path(kept["path"]).read_text() == "only here"


def test_ignored_output_of_a_branch_with_a_very_long_name_is_kept(world: World) -> None:
    agent = world.agent("a", branch="worktree-agent-" + "/".join(["part"] * 40), path=world.worktree_dir / "a")
    put(agent.path / "secret.env", "only here")

    run = world.wave(agent)

    (kept,) = run.warnings(code="ignored_output_kept")
    assert Path(kept["path"]).read_text() == "only here"


def test_kept_output_of_a_run_that_was_cut_short_is_named_by_the_next(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    put(agent.path / "secret.env", "only here")
    kill_when(shim, '[ "$sub" = worktree ]')
    wave_program(world.manifest(agent))
    calm(shim)

    run = world.wave(agent)

    (kept,) = run.warnings(code="ignored_output_kept")
    assert Path(kept["path"]).read_text() == "only here"


def test_same_lines_with_another_indentation_are_not_the_same_patch(world: World) -> None:
    world.commit(write={"m.py": "def f():\n    if x:\n        y()\n"})
    agent = world.agent("a", {"m.py": "def f():\n    if x:\n        y()\n        z()\n"})
    world.commit(write={"m.py": "def f():\n    if x:\n        y()\n    z()\n"})

    run = world.wave(agent)

    assert_blocked(world, run, agent, "merge_failed")


@pytest.mark.parametrize("hidden", [False, True])
def test_what_only_a_submodules_files_hold_is_not_lost_with_them(world: World, hidden: bool) -> None:
    library = Repo(world.tmp / "library", world.env)
    library.root.mkdir()
    library.git("init", "-q", "--template=")
    library.commit(write={"lib.txt": "lib\n", ".gitignore": "results.csv\n"})
    world.git("submodule", "--quiet", "add", str(library.root), "vendor/lib")
    world.commit(message="vendor the library")
    agent = world.agent("a")
    world.git("submodule", "--quiet", "update", "--init", cwd=agent.path)
    module = agent.path / "vendor/lib"
    if hidden:
        world.git("update-index", "--skip-worktree", "lib.txt", cwd=module)
        put(module / "lib.txt", "edited\n")
    else:
        put(module / "results.csv", "1,2\n")
    before = files_below(module)

    run = world.wave(agent)

    assert_blocked(world, run, agent, DIRTY)
    assert files_below(module) == before
