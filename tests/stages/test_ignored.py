"""Ignored files: a build's own go with the worktree and are counted, every other one is kept."""

import os
import stat
from pathlib import Path

import pytest

from support.checks import assert_all_landed, assert_blocked
from support.repo import put
from support.shim import Shim
from support.world import Agent, Run, World, files_below

KEPT = "ignored_output_kept"
BUILT = [
    "node_modules/left-pad/index.js",
    "src/node_modules/x.js",
    "target/debug/app",
    "build/out.o",
    "dist/app.whl",
    "src/__pycache__/app.cpython-311.pyc",
    "src/app.pyc",
    ".venv/bin/python",
    "venv/bin/python",
    ".pytest_cache/v",
    ".mypy_cache/3.11/x.json",
    ".ruff_cache/x",
    ".tox/py311/x",
    ".gradle/x",
    ".next/x",
    ".cache/x",
]


def ignore(world: World, *patterns: str) -> None:
    put(world.root / ".git/info/exclude", "\n".join(patterns) + "\n")


def kept(run: Run, agent: Agent) -> dict[str, bytes | str]:
    """Name within the worktree's tree to content, of all that the warnings say was kept."""
    found: dict[str, bytes | str] = {}
    for warning in run.warnings(agent, KEPT):
        place = Path(warning["path"])
        content = files_below(place) if place.is_dir() else {"": place.read_bytes()}
        found |= {f"{place}/{name}".rstrip("/"): data for name, data in content.items()}
    return found


def ends(found: dict[str, bytes | str], name: str) -> list[bytes | str]:
    return [content for path, content in found.items() if path.endswith("/" + name)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", BUILT)
def test_what_a_build_makes_again_goes_with_the_worktree_and_is_counted(world: World, path: str) -> None:
    ignore(world, path.split("/")[0] if not path.startswith("src/") else "/" + "/".join(path.split("/")[:2]))
    agent = world.agent("a")
    put(agent.path / path, "x")
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert run.entry()["regenerable_dropped"] >= 1
    assert run.codes() == []


def test_entry_without_ignored_files_counts_none(world: World) -> None:
    assert world.wave(world.agent("a")).entry()["regenerable_dropped"] == 0


@pytest.mark.parametrize(
    "path",
    [
        "secret.env",
        "run.log",
        "deep/er/run.log",
        "new\nline.log",
        "größe.log",
        "-rf.log",
        ' "q" .log',
        "\udce9.log",
    ],
)
def test_other_ignored_output_is_kept_where_the_result_says(world: World, path: str) -> None:
    agent = world.agent("a")
    put(agent.path / path, "output")
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    found = kept(run, agent)
    assert list(found.values()) == [b"output"]
    if path.isascii():
        assert ends(found, path) == [b"output"]
    common = world.root / ".git/git-wave/kept"
    assert all(common in Path(place).parents for place in found)


def test_users_own_ignore_file_makes_output_not_rubbish(world: World) -> None:
    world.git("config", "--global", "core.excludesFile", str(put(world.tmp / "ignore", "*.result\nnotes/\n")))
    agent = world.agent("a")
    put(agent.path / "a.result", "1")
    put(agent.path / "notes/deep/b.txt", "2")
    put(agent.path / "notes/c.txt", "3")
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    found = kept(run, agent)
    assert [ends(found, name) for name in ("a.result", "notes/deep/b.txt", "notes/c.txt")] == [
        [b"1"],
        [b"2"],
        [b"3"],
    ]
    assert len(found) == 3


def test_kept_files_of_two_entries_and_two_waves_do_not_meet(world: World) -> None:
    first, second = world.agent("a"), world.agent("b")
    for agent in (first, second):
        put(agent.path / "run.log", agent.id)
    run = world.wave(first, second)
    assert_all_landed(world, run, first, second)
    again = world.agent("a")
    put(again.path / "run.log", "again")
    rerun = world.wave(again)
    logs = kept(run, first) | kept(run, second) | kept(rerun, again)
    assert sorted(logs.values()) == [b"again", b"agent-a", b"agent-b"]


def test_kept_file_keeps_its_mode_and_a_kept_link_stays_a_link(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "secret.env", "s").chmod(0o600)
    (agent.path / "link.log").symlink_to("/etc/passwd")
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    places = [Path(warning["path"]) for warning in run.warnings(agent, KEPT)]
    tops = {place if place.is_dir() and not place.is_symlink() else place.parent for place in places}
    found = {path.name: os.lstat(path) for top in tops for path in top.rglob("*")}
    assert stat.S_IMODE(found["secret.env"].st_mode) == 0o600
    assert stat.S_ISLNK(found["link.log"].st_mode)


@pytest.mark.parametrize("name", ["build", "target", "node_modules"])
def test_tracked_files_in_a_build_directory_are_judged_as_any_other(world: World, name: str) -> None:
    ignore(world, f"{name}/")
    put(world.root / name / "kept.txt", "tracked\n")
    world.git("add", "-f", f"{name}/kept.txt")
    world.git("commit", "-q", "-m", "track")
    agent = world.agent("a")
    put(agent.path / name / "kept.txt", "edited\n")
    run = world.wave(agent)
    assert_blocked(world, run, agent, "worktree_dirty")


def test_untracked_build_directory_that_nothing_ignores_is_dirt(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "build/out.o", "x")
    assert_blocked(world, world.wave(agent), agent, "worktree_dirty")


def test_blocked_entry_keeps_its_ignored_files_where_they_are(world: World) -> None:
    agent = world.agent("a", delete=["setup.cfg"])
    put(agent.path / "run.log", "output")
    put(agent.path / "node_modules/x/y.js", "x")
    before = files_below(agent.path)
    run = world.wave(agent)
    assert_blocked(world, run, agent, "branch_contains_deletions")
    assert files_below(agent.path) == before


def test_dry_run_moves_no_ignored_file(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "run.log", "output")
    before = files_below(agent.path), world.snapshot()
    run = world.wave(agent, args=["--dry-run"])
    assert run.outcome() == ("would_land", "ok")
    assert (files_below(agent.path), world.snapshot()) == before


def test_ignored_output_is_never_in_the_way_of_the_main_checkouts_own(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "secret.env", "agent's")
    mine = put(world.root / "secret.env", "mine")
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert mine.read_text() == "mine"
    assert list(kept(run, agent).values()) == [b"agent's"]


@pytest.mark.parametrize("name", ["pipe.log", "pipe", "node_modules/pipe"])
def test_pipe_in_the_worktree_is_not_waited_for(world: World, name: str) -> None:
    agent = world.agent("a")
    put(agent.path / "run.log", "output")
    (agent.path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(agent.path / name)
    run = world.wave(agent)
    if run.outcome()[0] == "blocked":
        assert (agent.path / "run.log").read_text() == "output"
    else:
        assert_all_landed(world, run, agent)


def test_ignored_output_that_cannot_be_kept_keeps_the_worktree(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "run.log", "output")
    put(world.root / ".git/git-wave/kept", "a file stands where the directory would be")
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert (agent.path / "run.log").read_text() == "output"
    assert world.branches()[agent.branch] == agent.tip


def test_ignored_output_written_during_the_merge_is_kept(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.after("merge", f"echo late >{agent.path}/late.log", nth=1)
    run = world.wave(agent)
    if run.outcome()[0] == "blocked":
        assert (agent.path / "late.log").read_text() == "late\n"
    else:
        assert list(kept(run, agent).values()) == [b"late\n"]
