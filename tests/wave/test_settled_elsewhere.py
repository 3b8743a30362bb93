"""A merge that a killed wave left half-made in one checkout, settled by a run that works from another."""

from support.calling import call
from support.killing import KILLED, calm, kill_when, wave_program
from support.shim import Shim
from support.world import World


def test_a_half_made_merge_is_put_back_where_it_was_begun(world: World, shim: Shim) -> None:
    agent, idle = world.agent("one", {"src/app.py": "better\n"}), world.agent("idle", {})
    landing = world.tmp / "landing"
    world.git("worktree", "add", "-q", "-b", "landing", landing)
    hook = world.hook("pre-merge-commit", "kill -9 $PPID")
    kill_when(shim, '[ "$sub" = merge ]', "after")
    manifest = world.manifest(agent, idle)
    assert wave_program(manifest, "--root", str(landing)).code == KILLED
    assert world.git("status", "--porcelain", cwd=landing) != ""
    hook.unlink()
    calm(shim)

    answer = call("discard", "--manifest", str(manifest), "--agent-id", idle.id)

    assert (answer.code, answer.doc["reason"]) == (0, "discarded"), answer
    assert world.git("status", "--porcelain", cwd=landing) == ""
    assert world.git_code("rev-parse", "--verify", "-q", "MERGE_HEAD", cwd=landing) == 1
