"""A removal that was cut short, and what the next run does with what is left of the worktree.

Nothing may go that a removal would have kept: whatever came while nobody was looking is found as if the worktree had
never been touched. And what git deleted is never taken for somebody's work.
"""

from collections.abc import Callable

import pytest

from support.calling import call_program
from support.killing import KILLED, calm
from support.repo import Repo, put
from support.shim import Shim
from support.standing import standing_in
from support.world import Agent, World, files_below

NOTHING_YET = ":"
SOME_FILES = "rm -rf docs setup.cfg"
FILES_AND_LINK = "rm -rf .git docs setup.cfg"
DELETED = {"nothing": NOTHING_YET, "some files": SOME_FILES, "some files and its link": FILES_AND_LINK}


def hidden_edit(world: World, agent: Agent) -> None:
    world.git("update-index", "--assume-unchanged", "README.md", cwd=agent.path)
    put(agent.path / "README.md", "precious\n")


def ignored_file(_: World, agent: Agent) -> None:
    put(agent.path / "secret.env", "precious\n")


def repository_in_build_output(world: World, agent: Agent) -> None:
    inner = Repo(agent.path / "node_modules/inner", world.env)
    inner.root.mkdir(parents=True)
    inner.git("init", "-q", "--template=")
    inner.commit(write={"precious.txt": "precious\n"})


def untracked_file(_: World, agent: Agent) -> None:
    put(agent.path / "late.txt", "precious\n")


def edit(_: World, agent: Agent) -> None:
    put(agent.path / "README.md", "precious\n")


def staged_file(world: World, agent: Agent) -> None:
    put(agent.path / "late.txt", "precious\n")
    world.git("add", "late.txt", cwd=agent.path)


LATE: list[Callable[[World, Agent], None]] = [
    hidden_edit,
    ignored_file,
    repository_in_build_output,
    untracked_file,
    edit,
    staged_file,
]
VERBS = {
    "wave": ["cleanup-wave", "--manifest", "{manifest}"],
    "remove": ["git-wave", "remove", "{path}"],
    "discard": ["git-wave", "discard", "--manifest", "{manifest}", "--agent-id", "{id}"],
}


def said(verb: str, world: World, agent: Agent) -> list[str]:
    return [word.format(manifest=world.tmp / "wave.json", path=agent.path, id=agent.id) for word in VERBS[verb]]


def cut_short(verb: str, world: World, agent: Agent, shim: Shim, deleting: str) -> None:
    """A command killed together with the git that removes its worktree, and has deleted only that."""
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    world.manifest(agent)
    strike = f"cd {agent.path} && {deleting}; kill -9 $PPID; exit 1"
    shim.rules.append(f'if [ "$sub" = worktree ] && has remove "$@"; then {strike}; fi\n')
    shim.install()
    program, *args = said(verb, world, agent)
    assert call_program(program, *args, cwd=world.root).code == KILLED
    calm(shim)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("deleted", DELETED)
@pytest.mark.parametrize("late", LATE, ids=lambda late: late.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_what_came_after_a_removal_was_cut_short_is_not_lost(
    world: World, shim: Shim, verb: str, late: Callable[[World, Agent], None], deleted: str
) -> None:
    agent = world.agent("a", {} if verb == "discard" else None)
    cut_short(verb, world, agent, shim, DELETED[deleted])
    if deleted == "some files and its link" and late in (hidden_edit, staged_file):
        put(agent.path / ".git", f"gitdir: {world.root}/.git/worktrees/a\n")
    late(world, agent)
    (precious,) = [path for path in files_below(agent.path) if b"precious\n" in (agent.path / path).read_bytes()]

    program, *args = said(verb, world, agent)
    call_program(program, *args, cwd=world.root)

    kept = [agent.path / precious, *world.root.glob(f".git/git-wave/kept/*/*/{precious}")]
    assert any(path.exists() and b"precious\n" in path.read_bytes() for path in kept)


@pytest.mark.parametrize("verb", VERBS)
def test_what_git_deleted_is_never_taken_for_work(world: World, shim: Shim, verb: str) -> None:
    agent = world.agent("a", {} if verb == "discard" else None)
    cut_short(verb, world, agent, shim, FILES_AND_LINK)

    program, *args = said(verb, world, agent)
    again = call_program(program, *args, cwd=world.root)

    assert again.code == 0, again
    assert not agent.path.exists()


def test_a_worktree_that_is_kept_has_all_its_files_again(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    files = files_below(agent.path)
    cut_short("wave", world, agent, shim, SOME_FILES)
    untracked_file(world, agent)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_dirty")
    assert run.entry()["stderr"] == "?? late.txt"
    assert files_below(agent.path) == {**files, "late.txt": b"precious\n"}


def test_a_git_that_was_killed_while_the_wave_lived_has_left_no_work_either(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.rules.append(
        f'if [ "$sub" = worktree ] && has remove "$@"; then cd {agent.path} && {SOME_FILES}; kill -9 $$; fi\n'
    )
    shim.install()
    assert world.wave(agent).outcome() == ("blocked", "worktree_remove_failed")
    calm(shim)

    assert world.wave(agent).outcome() == ("merged_removed", "already_landed")


def test_a_deletion_made_after_a_worktree_was_made_whole_stays_one(world: World, shim: Shim) -> None:
    """It is made whole once: what is deleted later, somebody deleted."""
    agent = world.agent("a")
    cut_short("wave", world, agent, shim, SOME_FILES)
    untracked_file(world, agent)
    world.wave(agent)
    (agent.path / "late.txt").unlink()
    (agent.path / "LICENSE").unlink()

    assert world.wave(agent).entry()["stderr"] == " D LICENSE"


def test_a_worktree_that_somebody_was_in_is_made_whole_by_a_later_run(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    cut_short("wave", world, agent, shim, SOME_FILES)
    with standing_in(agent.path):
        assert world.wave(agent).outcome() == ("blocked", "worktree_in_use")
        assert not (agent.path / "setup.cfg").exists()

    assert world.wave(agent).outcome() == ("merged_removed", "already_landed")
