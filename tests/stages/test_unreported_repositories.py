"""What git passes over because it lies below a `.git`: no verb takes it away with the worktree that it is in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call
from support.reclaim import record
from support.repo import Repo, put
from support.world import Agent, World, files_below

Plant = Callable[[World, Path], None]


def repository(world: World, place: Path) -> Repo:
    """A repository with one commit, and no file beside it."""
    place.mkdir(parents=True)
    repo = Repo(place, world.env)
    repo.git("init", "-q", "--template=")
    repo.commit(write={"precious.txt": "precious\n"})
    (place / "precious.txt").unlink()
    return repo


def without_a_head(world: World, place: Path) -> None:
    repository(world, place)
    put(place / ".git/HEAD", "")


def without_refs(world: World, place: Path) -> None:
    repository(world, place)
    (place / ".git/refs").rename(place / ".git/refs.lost")


def of_a_format_to_come(world: World, place: Path) -> None:
    repository(world, place).git("config", "core.repositoryFormatVersion", "99")


def plain_files(_: World, place: Path) -> None:
    put(place / ".git/notes/precious.txt", "precious\n")


def link_to_nowhere(_: World, place: Path) -> None:
    put(place / ".git", "gitdir: /gone/away\n")


def text(_: World, place: Path) -> None:
    put(place / ".git", "precious\n")


def deep_down(world: World, place: Path) -> None:
    without_a_head(world, place / "a/b/c")


PLANTS: list[Plant] = [without_a_head, without_refs, of_a_format_to_come, plain_files, link_to_nowhere, text, deep_down]
VERBS = {
    "wave": ["cleanup-wave", "--manifest", "{manifest}"],
    "discard": ["discard", "--manifest", "{manifest}", "--agent-id", "{id}", "--force"],
    "remove": ["remove", "{path}"],
    "remove, preserving": ["remove", "{path}", "--preserve"],
    "reap": ["reap", "--session", "s"],
    "finalize, dropping": ["finalize", "--manifest", "{manifest}", "--agent-id", "{id}", "--drop-empty"],
}


@pytest.fixture
def agent(world: World, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """In the managed root and on record, with nothing that keeps it."""
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    monkeypatch.chdir(world.root)
    agent = world.agent("a", {})
    record(world, agent, "--parent", "s")
    return agent


def say(verb: str, world: World, agent: Agent) -> int:
    manifest = world.worktree_dir.parent / "a.json"
    words = [word.format(manifest=manifest, path=agent.path, id=agent.id) for word in VERBS[verb]]
    program, *args = words if words[0] == "cleanup-wave" else ["git-wave", *words]
    return call(*args, prog=program).code


@pytest.mark.sampled(8)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_what_lies_below_a_git_that_git_cannot_read_stays(world: World, agent: Agent, plant: Plant, verb: str) -> None:
    plant(world, agent.path / "nest")
    files = files_below(agent.path)

    say(verb, world, agent)

    assert files_below(agent.path) == files


def test_it_is_named(world: World) -> None:
    agent = world.agent("a")
    plain_files(world, agent.path / "nest")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_dirty")
    assert run.entry()["stderr"] == "a repository that git does not tell of: nest/.git"


@pytest.mark.parametrize("name", ["scratch", "node_modules/pkg"])
def test_among_ignored_files_it_is_kept(world: World, name: str) -> None:
    put(world.root / ".git/info/exclude", "scratch/\n")
    agent = world.agent("a")
    without_a_head(world, agent.path / name)
    files = files_below(agent.path)
    lost = {path: content for path, content in files.items() if path.startswith(name)}

    run = world.wave(agent)

    assert run.code == 0
    (warning,) = run.warnings(code="ignored_output_kept")
    branch_place = Path(
        str(warning["path"]).removesuffix(f"/{str(warning['detail']).removeprefix('was ').rstrip('/')}")
    )
    kept = files_below(branch_place)
    assert {path: kept.get(path) for path in lost} == lost


def test_an_empty_one_is_nothing(world: World) -> None:
    agent = world.agent("a")
    (agent.path / "nest/.git/objects").mkdir(parents=True)
    put(agent.path / "mask/.git", "")

    assert world.wave(agent).code == 0


def test_a_directory_that_cannot_be_listed_is_no_proof_that_nothing_is_in_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    (agent.path / "closed").mkdir()

    def walk(top: str, onerror: Callable[[OSError], None]) -> list[tuple[str, list[str], list[str]]]:
        onerror(PermissionError(13, "Permission denied", f"{top}/closed"))
        return []

    monkeypatch.setattr("git_wave.git.nested.os.walk", walk)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "dirt_check_failed")
    assert run.entry()["stderr"] == f"{agent.path}/closed: Permission denied"


# -- repositories that work only where they stand


def worktree_of_another(world: World, place: Path) -> Repo:
    """A linked worktree of somebody's repository, on a commit that nothing else leads to; that repository."""
    other = world.tmp / "other"
    other.mkdir()
    repo = Repo(other, world.env)
    repo.git("init", "-q", "--template=")
    repo.commit(write={"a.txt": "a\n"})
    repo.git("worktree", "add", "-q", "--detach", place)
    repo.commit(place, write={"only-here.txt": "precious\n"})
    return repo


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("setting", ["keep", "discard"])
def test_a_worktree_of_another_repository_among_ignored_files_stays(
    world: World, agent: Agent, verb: str, setting: str
) -> None:
    world.git("config", "wave.ignoredOutput", setting)
    other = worktree_of_another(world, agent.path / "node_modules/checkout")
    tip = other.git("rev-parse", "HEAD", cwd=agent.path / "node_modules/checkout")

    say(verb, world, agent)

    assert (agent.path / "node_modules/checkout/only-here.txt").exists()
    other.git("worktree", "prune")
    assert other.git("rev-parse", "HEAD", cwd=agent.path / "node_modules/checkout") == tip


def test_a_repository_with_linked_worktrees_among_ignored_files_stays(world: World, agent: Agent) -> None:
    repo = repository(world, agent.path / "node_modules/tool")
    repo.git("worktree", "add", "-q", world.tmp / "linked")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_dirty")
    assert repo.git("rev-parse", "HEAD", cwd=world.tmp / "linked") == repo.git("rev-parse", "HEAD")


def test_a_repository_with_submodules_of_its_own_moves_whole(world: World) -> None:
    library = repository(world, world.tmp / "library")
    agent = world.agent("a")
    repo = repository(world, agent.path / "node_modules/tool")
    repo.git("submodule", "--quiet", "add", str(library.root), "lib")

    run = world.wave(agent)

    assert run.code == 0
    (place,) = [Path(warning["path"]) for warning in run.warnings(code="ignored_output_kept")]
    (inside,) = place.rglob("tool")
    assert repo.git("rev-parse", "HEAD", cwd=inside / "lib") == library.git("rev-parse", "HEAD")
