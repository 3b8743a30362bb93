"""The gates about what is uncommitted: dirt, hidden_edits, operation_in_progress, submodules, ignored_output.

What each finds, in its many kinds, is tried through the wave in tests/stages; here is each of their answers.
"""

import pytest

from git_wave.gates import Gate, dirt, hidden_edits, ignored_output, operation_in_progress, submodules
from support.asking import CLEAR, ask, told
from support.repo import Repo, put
from support.shim import Shim
from support.world import Agent, World

DIRTY = ("blocks", "worktree_dirty")
FIVE = [dirt.GATE, hidden_edits.GATE, operation_in_progress.GATE, submodules.GATE, ignored_output.GATE]


@pytest.mark.parametrize("gate", FIVE, ids=lambda gate: gate.name)
def test_a_worktree_as_committed_is_clear(world: World, gate: Gate) -> None:
    agent = world.agent("a")
    put(agent.path / "node_modules/x.js", "made again")

    assert told(ask(gate, world, agent)) == CLEAR


@pytest.mark.parametrize("gate", FIVE, ids=lambda gate: gate.name)
def test_git_that_fails_is_no_answer(world: World, shim: Shim, gate: Gate) -> None:
    agent = world.agent("a")
    for command in ("status", "ls-files"):
        shim.fail(command, code=128, stderr="fatal: boom\n")
    answer = ask(gate, world, agent)

    assert answer.kind == "cannot_tell"
    assert answer.why == ("fatal: boom",)


def test_edits_and_untracked_files_are_dirt_unless_they_are_safe(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "setup.cfg", "edited")
    put(agent.path / "new.txt", "x")
    answer = ask(dirt.GATE, world, agent)

    assert told(answer) == DIRTY
    assert answer.why == (" M setup.cfg", "?? new.txt")
    assert ask(dirt.GATE, world, agent, safe=frozenset({"new.txt", "setup.cfg"})).why == (" M setup.cfg",)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edits_that_git_overlooks_are_hidden_edits(world: World, flag: str) -> None:
    agent = world.agent("a")
    world.git("update-index", flag, "setup.cfg", "src/app.py", cwd=agent.path)
    assert told(ask(hidden_edits.GATE, world, agent)) == CLEAR
    put(agent.path / "setup.cfg", "hidden")

    answer = ask(hidden_edits.GATE, world, agent)
    assert (told(answer), answer.why) == (DIRTY, ("hidden edit: setup.cfg",))
    assert told(ask(dirt.GATE, world, agent)) == CLEAR


def test_a_bisect_and_an_unmerged_path_are_half_done(world: World) -> None:
    agent = world.agent("a", {"setup.cfg": "one"})
    world.git("bisect", "start", cwd=agent.path)
    put(agent.path / "setup.cfg", "two")
    world.git("stash", cwd=agent.path)
    world.commit(agent.path, {"setup.cfg": "three"})
    world.git("stash", "pop", cwd=agent.path, check=False)

    answer = ask(operation_in_progress.GATE, world, agent)
    assert told(answer) == ("blocks", "operation_in_progress")
    assert answer.why == ("unmerged: setup.cfg", "bisect in progress")


def test_a_ref_of_the_worktree_alone_is_half_done(world: World) -> None:
    agent = world.agent("a")
    world.git("update-ref", "refs/worktree/mine", "HEAD", cwd=agent.path)

    assert ask(operation_in_progress.GATE, world, agent).why == ("ref of this worktree alone: refs/worktree/mine",)


@pytest.fixture
def vendored(world: World) -> Agent:
    """An agent in whose worktree a submodule is checked out, with nothing in it that is not elsewhere."""
    library = Repo(world.tmp / "library", world.env)
    library.root.mkdir()
    library.git("init", "-q", "--template=")
    library.commit(write={"lib.txt": "lib\n", ".gitignore": "*.log\n"})
    world.git("submodule", "--quiet", "add", str(library.root), "vendor/lib")
    world.git("commit", "-q", "-m", "vendor")
    agent = world.agent("a")
    world.git("submodule", "--quiet", "update", "--init", cwd=agent.path)
    return agent


def test_a_submodule_that_is_only_checked_out_blocks_harmlessly(world: World, vendored: Agent) -> None:
    answer = ask(submodules.GATE, world, vendored)

    assert told(answer) == ("blocks", "submodules_initialized")
    assert answer.harmless
    assert answer.why[0] == f"initialized submodule: {vendored.path}/vendor/lib"


@pytest.mark.parametrize("what", ["commit", "ignored file"])
def test_what_only_a_submodule_has_is_dirt(world: World, vendored: Agent, what: str) -> None:
    if what == "commit":
        world.commit(vendored.path / "vendor/lib", {"lib.txt": "only here"})
    else:
        put(vendored.path / "vendor/lib/run.log", "output")
    answer = ask(submodules.GATE, world, vendored)

    assert told(answer) == DIRTY
    assert not answer.harmless


def test_ignored_files_that_the_main_worktree_has_too_are_no_output(world: World) -> None:
    agent = world.agent("a")
    for root in (world.root, agent.path):
        put(root / "secret.env", "key")
        put(root / "node_modules_of_mine.log", "a")
        (root / "link.log").symlink_to("nowhere")
    assert told(ask(ignored_output.GATE, world, agent)) == CLEAR

    (agent.path / "link.log").unlink()
    (agent.path / "link.log").symlink_to("elsewhere")
    put(agent.path / "secret.env", "kez")
    assert ask(ignored_output.GATE, world, agent).why == ("link.log and 1 more",)


def test_an_ignored_directory_is_a_copy_when_all_in_it_is(world: World) -> None:
    world.commit(write={".gitignore": "config/\n"})
    agent = world.agent("a")
    put(world.root / "config/a", "a")
    put(world.root / "config/only-here", "b")
    put(agent.path / "config/a", "a")
    assert told(ask(ignored_output.GATE, world, agent)) == CLEAR

    put(agent.path / "config/more/c", "c")
    assert told(ask(ignored_output.GATE, world, agent)) == ("blocks", "ignored_output_blocks")


def test_ignored_output_is_named_once_and_counted(world: World) -> None:
    agent = world.agent("a")
    for name in ("a.log", "b.log", "node_modules/x.js", "c.log"):
        put(agent.path / name, "x")
    answer = ask(ignored_output.GATE, world, agent)

    assert told(answer) == ("blocks", "ignored_output_blocks")
    assert answer.why == ("a.log and 2 more",)


def test_directories_that_a_setting_calls_regenerable_are_no_output(world: World) -> None:
    put(world.root / ".git/info/exclude", "generated/\nmade/*.bin\n")
    agent = world.agent("a")
    put(agent.path / "generated/deep/x", "x")
    put(agent.path / "made/x.bin", "x")

    assert ask(ignored_output.GATE, world, agent).why == ("generated/ and 1 more",)
    assert told(ask(ignored_output.GATE, world, agent, regenerable=frozenset({"generated", "made"}))) == CLEAR


def test_ignored_files_that_cannot_be_looked_into_are_no_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent("a")
    put(agent.path / "node_modules/x.js", "x")

    def refuse(root: object, onerror: object = None) -> object:
        raise PermissionError(13, "Permission denied", str(root))

    monkeypatch.setattr("git_wave.state.kept.os.walk", refuse)
    assert told(ask(ignored_output.GATE, world, agent)) == ("cannot_tell", "cannot_tell")
