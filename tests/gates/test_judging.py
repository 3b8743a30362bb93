"""Which verb asks which gate how strictly, and how the answers make a verdict."""

import re
from pathlib import Path

import pytest

from git_wave import gates
from git_wave.gates import DEMANDS, GATES, TABLE, VERBS, Demand, Inspection, Terms, Verb, judge
from support.asking import reads_of
from support.repo import Repo, put
from support.shim import Shim, subcommand
from support.standing import standing_in
from support.world import World

DOCUMENT = Path(__file__).parents[2] / "docs/GATES.md"
FOLDER = Path(str(gates.__file__)).parent


def test_every_file_is_a_gate_in_both_tables_and_begins_with_its_question() -> None:
    files = {path.stem for path in FOLDER.glob("[!_]*.py")}

    assert files == {gate.name for gate in GATES} == set(TABLE)
    for gate in GATES:
        assert (FOLDER / f"{gate.name}.py").read_text().startswith(f'"""{gate.question}')


def test_the_document_has_the_same_table() -> None:
    header = f"| gate | {' | '.join(f'`{verb}`' for verb in VERBS)} |\n"
    _, found, rest = DOCUMENT.read_text().partition(header)
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", rest.partition("\n\n")[0], re.MULTILINE)

    assert found
    assert {name: tuple(cells.split(" | ")) for name, cells in rows} == TABLE


def test_no_verb_leaves_out_what_would_lose_work() -> None:
    always = {"containment", "operation_in_progress", "dirt", "hidden_edits", "submodules", "ignored_output", "holders"}
    for verb in Verb:
        assert not [name for name in always if DEMANDS[verb][name] is Demand.NOT_ASKED], verb


def test_everything_is_asked_before_anything_is_said(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "new.txt", "x")
    put(agent.path / "run.log", "x")
    world.git("worktree", "lock", str(agent.path))
    with reads_of(world) as reads, standing_in(agent.path):
        verdict = judge(Inspection(reads, Terms(claims={})).subject(agent.path), Verb.REMOVE)

    assert not verdict.may_go
    assert list(verdict.against) == ["lock", "dirt", "ignored_output", "holders"]
    assert verdict.reason == "lock_owner_unknown"
    assert [one["gate"] for one in verdict.as_json()] == list(verdict.against)


def test_a_clean_worktree_may_go_and_nothing_is_read_twice(world: World, shim: Shim) -> None:
    agent = world.agent("a", write={})
    with reads_of(world) as reads:
        shim.forget()
        inspection = Inspection(reads, Terms(claims={}), (agent.path,))
        verdict = judge(inspection.subject(agent.path), Verb.REMOVE)

    assert verdict.may_go
    assert (verdict.reason, verdict.as_json()) == ("ok", [])
    calls = [subcommand(call) for call in shim.calls()]
    assert sorted(calls) == sorted(set(calls))


def test_preserving_lets_dirt_pass_and_nothing_that_git_could_not_say(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    put(agent.path / "new.txt", "x")
    with reads_of(world) as reads:
        inspection = Inspection(reads, Terms(claims={}))
        assert list(judge(inspection.subject(agent.path), Verb.REMOVE).against) == ["dirt"]
        assert judge(inspection.subject(agent.path), Verb.REMOVE, preserve=True).may_go
        assert list(judge(inspection.subject(agent.path), Verb.REAP_ORPHANS, preserve=True).against) == ["dirt"]
        shim.fail("status", code=128, stderr="fatal: boom\n")
        assert "dirt" in judge(inspection.again().subject(agent.path), Verb.REMOVE, preserve=True).unknown


def test_a_submodule_that_is_only_checked_out_keeps_it_from_a_verb_and_not_from_a_wave(world: World) -> None:
    library = Repo(world.tmp / "library", world.env)
    library.root.mkdir()
    library.git("init", "-q", "--template=")
    library.commit(write={"lib.txt": "lib\n"})
    world.git("submodule", "--quiet", "add", str(library.root), "vendor/lib")
    world.git("commit", "-q", "-m", "vendor")
    agent = world.agent("a")
    world.git("submodule", "--quiet", "update", "--init", cwd=agent.path)
    with reads_of(world) as reads:
        subject = Inspection(reads, Terms(claims={}, ignored_blocks=False)).subject(agent.path)

        assert list(judge(subject, Verb.REMOVE).against) == ["submodules"]
        assert judge(subject, Verb.WAVE).may_go


@pytest.mark.parametrize("verb", list(Verb))
def test_what_cannot_be_told_keeps_it_from_every_verb(world: World, verb: Verb) -> None:
    agent = world.agent("a")
    agent.path.rename(world.tmp / "elsewhere")
    with reads_of(world) as reads:
        verdict = judge(Inspection(reads).subject(agent.path), verb)

    assert not verdict.may_go
    assert "dirt" in verdict.unknown
