"""What refuses a whole wave before anything is touched."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call
from support.repo import put
from support.world import Run, World


def assert_refused(world: World, run: Run, reason: str, before: dict[str, object]) -> None:
    assert run.code == 1
    assert (run.doc["ok"], run.doc["reason"]) == (False, reason), run.doc
    assert world.snapshot() == before


def another(world: World, name: str = "other") -> World:
    """Another repository, with the same commits."""
    (world.tmp / name).mkdir()
    return World(world.tmp / name, world.root, world.env)


# -- operations in progress


def diverge(world: World) -> str:
    """A commit on a side branch that conflicts with the checkout's; its name."""
    world.git("switch", "-q", "-c", "side")
    world.commit(write={"src/app.py": "side\n"})
    world.git("switch", "-q", "main")
    world.commit(write={"src/app.py": "main\n"})
    return "side"


def in_a_merge(world: World) -> None:
    world.git("merge", "-q", diverge(world), check=False)


def in_a_merge_that_is_resolved(world: World) -> None:
    in_a_merge(world)
    world.git("checkout", "-q", "--ours", "src/app.py")
    world.git("add", "src/app.py")


def in_a_rebase(world: World) -> None:
    world.git("rebase", "-q", diverge(world), check=False)


def in_an_edited_rebase(world: World) -> None:
    world.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "HEAD~1")


def in_a_cherry_pick(world: World) -> None:
    world.git("cherry-pick", diverge(world), check=False)


def in_a_revert(world: World) -> None:
    world.commit(write={"src/app.py": "one\n"})
    old = world.head()
    world.commit(write={"src/app.py": "two\n"})
    world.git("revert", "--no-edit", old, check=False)


def in_a_bisect(world: World) -> None:
    world.git("bisect", "start")


def in_a_bisect_that_moved(world: World) -> None:
    world.git("bisect", "start", "HEAD", "HEAD~4")


BUSY = [in_a_merge, in_a_merge_that_is_resolved, in_a_rebase, in_an_edited_rebase]
BUSY += [in_a_cherry_pick, in_a_revert, in_a_bisect, in_a_bisect_that_moved]


@pytest.mark.parametrize("busy", BUSY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dry", [False, True])
def test_an_operation_in_progress_refuses_the_wave_and_stays(
    world: World, busy: Callable[[World], None], dry: bool
) -> None:
    agent = world.agent("a")
    busy(world)
    before = world.snapshot()
    own = {p.name for p in (world.root / ".git").iterdir()} - {"git-wave"}

    run = world.wave(agent, args=["--dry-run"] if dry else [])

    assert_refused(world, run, "repo_busy", before)
    assert {p.name for p in (world.root / ".git").iterdir()} - {"git-wave"} == own
    assert world.untouched(agent)


def test_unmerged_paths_without_a_merge_stay_as_they_are(world: World) -> None:
    put(world.root / "src/app.py", "stashed\n")
    world.git("stash")
    world.commit(write={"src/app.py": "main\n"})
    agent = world.agent("a")
    world.git("stash", "pop", check=False)
    before = world.snapshot()

    run = world.wave(agent)

    assert run.code == 1
    assert world.snapshot() == before
    assert world.untouched(agent)


# -- HEAD


def test_a_detached_head_refuses_the_wave(world: World) -> None:
    agent = world.agent("a")
    world.git("checkout", "-q", "--detach")
    before = world.snapshot()

    assert_refused(world, world.wave(agent), "detached_head", before)


def test_an_unborn_head_refuses_the_wave(world: World) -> None:
    agent = world.agent("a")
    world.git("switch", "-q", "--orphan", "empty")
    before = {"HEAD": (world.root / ".git/HEAD").read_text(), "branches": world.branches()}

    run = world.wave(agent)

    assert (run.code, run.doc["reason"]) == (1, "unborn_head")
    assert before == {"HEAD": (world.root / ".git/HEAD").read_text(), "branches": world.branches()}


# -- the root and the branch


def test_a_root_of_another_repository_refuses_the_wave(world: World) -> None:
    agent, other = world.agent("a"), another(world)
    before, elsewhere = world.snapshot(), other.snapshot()

    run = world.wave(agent, args=["--root", str(other.root)])

    assert_refused(world, run, "root_mismatch", before)
    assert other.snapshot() == elsewhere


def test_a_root_of_the_same_repository_beats_the_manifests(world: World) -> None:
    target = world.tmp / "integration"
    world.git("worktree", "add", "-q", "-b", "integration", target)
    agent, old = world.agent("a"), world.head()

    run = world.wave(agent, args=["--root", str(target)])

    assert run.code == 0, run.doc
    assert world.head() == old
    assert world.git("rev-parse", "integration^2") == agent.tip


@pytest.mark.parametrize("place", [".", "src/core"])
def test_a_relative_root_and_one_below_the_checkout_are_found(
    world: World, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    agent = world.agent("a")
    monkeypatch.chdir(world.root)

    assert world.wave(agent, args=["--root", place]).code == 0
    assert world.landed(agent)


def test_a_checkout_on_another_branch_than_expected_refuses_the_wave(world: World) -> None:
    agent = world.agent("a")
    world.git("branch", "release")
    before = world.snapshot()

    run = world.wave(agent, args=["--expect-branch", "release"])

    assert_refused(world, run, "unexpected_branch", before)
    assert "main" in run.out


def test_a_checkout_on_the_expected_branch_is_fine(world: World) -> None:
    assert world.wave(world.agent("a"), args=["--expect-branch", "main"]).code == 0


def bare_repository(world: World) -> Path:
    world.git("clone", "-q", "--bare", ".", world.tmp / "bare.git")
    return world.tmp / "bare.git"


def plain_directory(world: World) -> Path:
    (world.tmp / "plain").mkdir()
    return world.tmp / "plain"


def nothing_at_all(world: World) -> Path:
    return world.tmp / "nothing"


def git_directory(world: World) -> Path:
    return world.root / ".git"


@pytest.mark.parametrize("place", [bare_repository, plain_directory, nothing_at_all], ids=lambda f: f.__name__)
@pytest.mark.parametrize("by_flag", [False, True])
def test_a_root_that_is_no_checkout_refuses_the_wave(
    world: World, place: Callable[[World], Path], by_flag: bool
) -> None:
    root = str(place(world))
    before = world.snapshot()

    if by_flag:
        run = world.wave(world.manifest({}, orchestrator_root=None), args=["--root", root])
    else:
        run = world.wave(world.manifest({}, orchestrator_root=root))

    assert_refused(world, run, "not_a_checkout", before)


def test_no_root_at_all_outside_a_repository_refuses_the_wave(world: World) -> None:
    run = world.wave(world.manifest(world.agent("a"), orchestrator_root=None))

    assert (run.code, run.doc["reason"]) == (1, "not_a_checkout")


# -- git itself


def test_a_git_that_is_too_old_refuses_the_wave(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = put(world.tmp / "old/git", "#!/bin/sh\necho git version 2.37.9\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    agent, before = world.agent("a"), world.snapshot()

    run = world.wave(agent)

    assert_refused(world, run, "git_too_old", before)
    assert "2.38" in run.out
    assert "2.37" in run.out


def test_no_git_refuses_the_wave(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, before = world.agent("a"), world.snapshot()
    (world.tmp / "empty").mkdir()
    monkeypatch.setenv("PATH", str(world.tmp / "empty"))

    assert_refused(world, world.wave(agent), "git_missing", before)


# -- usage


@pytest.mark.parametrize(
    "argv",
    [[], ["--manifest"], ["--manifest", "m", "--nope"], ["--manifest", "m", "--format", "yaml"], ["m"]],
)
def test_wrong_usage_exits_2_and_says_nothing_on_stdout(argv: list[str]) -> None:
    answer = call(*argv, prog="cleanup-wave")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.strip()


def test_the_command_is_the_same_under_its_other_name(world: World) -> None:
    agent = world.agent("a")

    answer = call("cleanup-wave", "--manifest", str(world.manifest(agent)), "--format", "json")

    assert answer.code == 0, answer
    assert answer.doc["ok"] is True
    assert world.landed(agent)
