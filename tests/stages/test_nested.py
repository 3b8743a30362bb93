"""Repositories inside a worktree: what only they hold is not lost with it."""

from pathlib import Path

import pytest

from support.checks import assert_blocked, assert_landed
from support.repo import Repo, put
from support.world import Agent, World

DIRTY = "worktree_dirty"


def holds(directory: Path, oid: str, world: World) -> bool:
    """Whether some repository in or below a directory still has the commit."""
    places = [path.parent for path in directory.rglob("objects") if (path.parent / "HEAD").exists()]
    return any(world.git_code("--git-dir", str(place), "cat-file", "-e", oid) == 0 for place in places)


def nested(world: World, place: Path) -> str:
    """A repository with one commit that exists nowhere else."""
    place.mkdir(parents=True)
    repo = Repo(place, world.env)
    repo.git("init", "-q", "--template=")
    return repo.commit(write={"inner.txt": "inner"})


@pytest.mark.parametrize("where", ["vendor/tool", "tool", "docs/tool"])
def test_nested_repository_blocks_and_stays(world: World, where: str) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    only = nested(world, agent.path / where)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, DIRTY)
    assert holds(agent.path, only, world)
    assert_landed(world, run, fine)


def test_empty_nested_repository_with_untracked_files_blocks(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "tool/mine.txt", "mine")
    Repo(agent.path / "tool", world.env).git("init", "-q", "--template=")
    assert_blocked(world, world.wave(agent), agent, DIRTY)
    assert (agent.path / "tool/mine.txt").exists()


@pytest.mark.parametrize("where", ["scratch/tool", "node_modules/tool", "build/deep/er/tool", "node_modules"])
def test_nested_repository_that_git_ignores_is_not_lost(world: World, where: str) -> None:
    put(world.root / ".git/info/exclude", "scratch/\nbuild/\n")
    agent = world.agent("a")
    only = nested(world, agent.path / where)
    run = world.wave(agent)
    assert holds(world.tmp, only, world)
    if run.outcome()[0] == "blocked":
        assert run.outcome() == ("blocked", DIRTY)
        assert world.untouched(agent)
    else:
        (warning,) = run.warnings(agent, "ignored_output_kept")
        assert holds(Path(warning["path"]), only, world)


def test_bare_repository_that_git_ignores_is_not_lost(world: World) -> None:
    put(world.root / ".git/info/exclude", "build/\n")
    agent = world.agent("a")
    world.git("clone", "-q", "--bare", str(world.root), str(agent.path / "build/mirror.git"))
    bare = Repo(agent.path / "build/mirror.git", world.env)
    only = bare.git("commit-tree", "-m", "only here", "HEAD^{tree}")
    bare.git("update-ref", "refs/heads/only", only)
    run = world.wave(agent)
    assert holds(world.tmp, only, world), run.doc


def test_agents_worktree_inside_anothers_is_not_lost_with_it(world: World) -> None:
    outer = world.agent("outer")
    inner = world.agent("inner", path=outer.path / "inner")
    put(inner.path / "mine.txt", "mine")
    run = world.wave(outer)
    assert run.outcome() == ("blocked", DIRTY)
    assert world.untouched(outer)
    assert (inner.path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("place", [".claude/worktrees/inner", "node_modules/inner", "inner"])
def test_ignored_agents_worktree_inside_anothers_stays_whole(world: World, place: str) -> None:
    put(world.root / ".git/info/exclude", ".claude/\nnode_modules/\n/inner\n")
    outer = world.agent("outer")
    inner = world.agent("inner", path=outer.path / place)
    put(inner.path / "mine.txt", "mine")
    run = world.wave(outer)
    assert run.outcome() == ("blocked", DIRTY)
    assert (inner.path / "mine.txt").read_text() == "mine"
    assert world.untouched(inner)
    assert "prunable" not in world.worktrees()[str(inner.path)]


@pytest.fixture
def vendored(world: World) -> Agent:
    """An agent in whose worktree a submodule is checked out."""
    library = Repo(world.tmp / "library", world.env)
    library.root.mkdir()
    library.git("init", "-q", "--template=")
    library.commit(write={"lib.txt": "lib\n"})
    world.git("submodule", "--quiet", "add", str(library.root), "vendor/lib")
    world.commit(message="vendor the library")
    agent = world.agent("a")
    world.git("submodule", "--quiet", "update", "--init", cwd=agent.path)
    return agent


SUBMODULE_DIRT = {
    "modified": {"lib.txt": "edited"},
    "untracked": {"new.txt": "new"},
}


@pytest.mark.parametrize("kind", SUBMODULE_DIRT)
@pytest.mark.parametrize("setting", [None, "diff.ignoreSubmodules", "submodule.vendor/lib.ignore"])
def test_dirty_submodule_blocks_whatever_the_user_ignores(
    world: World, vendored: Agent, kind: str, setting: str | None
) -> None:
    if setting:
        world.git("config", setting, "all")
    ((name, text),) = SUBMODULE_DIRT[kind].items()
    put(vendored.path / "vendor/lib" / name, text)
    run = world.wave(vendored)
    assert_blocked(world, run, vendored, DIRTY)
    assert (vendored.path / "vendor/lib" / name).read_text() == text


def test_commit_that_only_a_submodule_of_a_submodule_holds_is_not_lost(world: World) -> None:
    innermost, middle = (Repo(world.tmp / name, world.env) for name in ("innermost", "middle"))
    for repo in (innermost, middle):
        repo.root.mkdir()
        repo.git("init", "-q", "--template=")
        repo.commit(write={"lib.txt": "lib\n"})
    middle.git("submodule", "--quiet", "add", str(innermost.root), "in")
    middle.commit()
    world.git("submodule", "--quiet", "add", str(middle.root), "vendor/lib")
    world.commit()
    agent = world.agent("a")
    world.git("submodule", "--quiet", "update", "--init", "--recursive", cwd=agent.path)
    deep = Repo(agent.path / "vendor/lib/in", world.env)
    start = deep.git("rev-parse", "HEAD")
    deep.git("switch", "-q", "-c", "side")
    only = deep.commit(write={"side.txt": "side"})
    deep.git("checkout", "-q", "--detach", start)
    assert world.git("status", "--porcelain", cwd=agent.path) == ""
    world.wave(agent)
    assert holds(world.tmp, only, world)


@pytest.mark.parametrize("recorded", [False, True])
def test_commit_that_only_the_worktrees_submodule_holds_is_not_lost(
    world: World, vendored: Agent, recorded: bool
) -> None:
    library = Repo(vendored.path / "vendor/lib", world.env)
    only = library.commit(write={"lib.txt": "better\n"})
    if recorded:
        world.commit(vendored.path, message="use the better library")
        assert world.git("status", "--porcelain", cwd=vendored.path) == ""
    run = world.wave(vendored)
    assert run.outcome() == ("blocked", DIRTY)
    assert library.git("rev-parse", "HEAD") == only


def test_commit_on_a_branch_or_stash_of_the_submodule_is_not_lost(world: World, vendored: Agent) -> None:
    library = Repo(vendored.path / "vendor/lib", world.env)
    start = library.git("rev-parse", "HEAD")
    put(library.root / "lib.txt", "stashed")
    library.git("stash")
    stash = library.git("rev-parse", "refs/stash")
    library.git("switch", "-q", "-c", "side")
    only = library.commit(write={"side.txt": "side"})
    library.git("checkout", "-q", "--detach", start)
    assert world.git("status", "--porcelain", cwd=vendored.path) == ""
    world.wave(vendored)
    assert holds(world.tmp, only, world)
    assert holds(world.tmp, stash, world)


def test_deinitialized_submodule_that_still_has_its_commits_is_not_lost(world: World, vendored: Agent) -> None:
    library = Repo(vendored.path / "vendor/lib", world.env)
    start = library.git("rev-parse", "HEAD")
    only = library.commit(write={"lib.txt": "better\n"})
    library.git("branch", "keep")
    library.git("checkout", "-q", start)
    world.git("submodule", "--quiet", "deinit", "-f", "vendor/lib", cwd=vendored.path)
    world.wave(vendored)
    assert holds(world.tmp, only, world)


def test_submodule_that_was_never_checked_out_is_no_obstacle(world: World, vendored: Agent) -> None:
    plain = world.agent("plain")
    run = world.wave(plain)
    assert_landed(world, run, plain)
