"""The tests' own tools do what the other tests rely on."""

import os
import subprocess
from pathlib import Path

from support.shim import Shim
from support.world import World


def git(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True, check=False)


def test_environment_holds_no_git_variable_but_the_sealed_ones(world: World) -> None:
    assert {name for name in os.environ if name.startswith("GIT_")} == {
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_GLOBAL",
        "GIT_EDITOR",
        "GIT_ALLOW_PROTOCOL",
        "GIT_TERMINAL_PROMPT",
    }
    assert git("rev-parse", "--git-dir", cwd=Path.cwd()).returncode == 128


def test_world_starts_with_five_commits_and_fifteen_files(world: World) -> None:
    assert len(world.git("rev-list", "HEAD").split()) == 5
    assert len(world.git("ls-files").split()) == 15
    assert world.git("status", "--porcelain") == ""


def test_agent_commits_on_its_own_branch_and_plain_git_can_land_it(world: World) -> None:
    agent = world.agent("a", write={"new.txt": "x"}, delete=["setup.cfg"], rename={"LICENSE": "COPYING"})
    assert world.untouched(agent)
    assert world.git("diff", "--name-status", "-M", f"{agent.base}..{agent.tip}").split() == [
        *("R100", "LICENSE", "COPYING"),
        *("A", "new.txt"),
        *("D", "setup.cfg"),
    ]
    world.git("merge", "-q", "--no-ff", "-m", "m", agent.branch)
    world.git("worktree", "remove", str(agent.path))
    world.git("branch", "-d", agent.branch)
    assert world.landed(agent)


def test_snapshot_sees_a_change_of_each_kind(world: World) -> None:
    before = world.snapshot()
    assert world.snapshot() == before
    (world.root / "secret.env").write_text("x")
    assert {key for key, value in world.snapshot().items() if value != before[key]} == {"status", "files"}
    world.git("add", "-f", "secret.env")
    world.git("stash")
    world.git("config", "a.b", "c")
    world.git("checkout", "-q", "-b", "other")
    changed = {key for key, value in world.snapshot().items() if value != before[key]}
    assert changed == {"HEAD", "refs", "stash", "config", "worktrees"}


def test_shim_logs_every_argument_whole(world: World, shim: Shim) -> None:
    git("-C", str(world.root), "log", "-1", "--grep=a b\nc", cwd=world.root)
    git("status", "", cwd=world.root)
    assert shim.calls() == [["-C", str(world.root), "log", "-1", "--grep=a b\nc"], ["status", ""]]
    assert shim.calls("log -1") == [shim.calls()[0]]
    assert shim.calls("log -2") == []


def test_shim_acts_before_after_and_instead_only_where_its_rule_matches(world: World, shim: Shim) -> None:
    shim.before("rev-parse", 'touch "before $2"', nth=2)
    shim.after("log", "git branch made-after", arg="-1")
    shim.fail("merge --abort", code=7, stderr="it's", stdout="no")
    shim.rewrite("status", "sed s/x/y/")
    git("-c", "a.b=c", "rev-parse", "HEAD", cwd=world.root)
    assert not (world.root / "before a.b=c").exists()
    assert git("-c", "a.b=c", "rev-parse", "HEAD", cwd=world.root).stdout.strip() == world.head()
    assert (world.root / "before a.b=c").exists()
    git("log", cwd=world.root)
    assert "made-after" not in world.branches()
    assert "add tests/data/sample.txt" in git("log", "-1", cwd=world.root).stdout
    assert "made-after" in world.branches()
    refused = git("merge", "--abort", cwd=world.root)
    assert (refused.returncode, refused.stdout, refused.stderr) == (7, "no", "it's")
    assert git("merge", "made-after", cwd=world.root).returncode == 0
    (world.root / "x").touch()
    assert "?? y" in git("status", "--porcelain", cwd=world.root).stdout
    assert shim.chatter() == ""
