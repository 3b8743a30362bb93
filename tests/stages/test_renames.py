"""A rename takes its old path away: told in the result, and a deletion where the scope does not cover it."""

import pytest

from support.checks import assert_all_landed, assert_blocked, offending
from support.repo import prose
from support.world import World

UNDECLARED = "branch_contains_deletions"
MOVED = {"from": "LICENSE", "to": "src/notes.py"}
RENAME_SETTINGS = ["diff.renames=false", "diff.renames=copies", "diff.renames=true", "diff.renameLimit=1"]
RENAME_SETTINGS += ["merge.renames=false", "merge.renameLimit=1", "diff.orderFile=/dev/null"]


def test_rename_without_a_declared_scope_lands_and_is_told(world: World) -> None:
    agent = world.agent("a", rename={"LICENSE": "src/notes.py"})
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert run.entry()["renames"] == [MOVED]


def test_entry_without_a_rename_tells_none(world: World) -> None:
    run = world.wave(world.agent("a"))
    assert run.entry()["renames"] == []


@pytest.mark.parametrize(
    "declared",
    [
        {"files_modified": ["src", "LICENSE"]},
        {"files_modified": ["src/notes.py", "./LICENSE"]},
        {"files_modified": ["src", "LIC*"]},
        {"files_modified": ["**/*"]},
        {"files_modified": ["src"], "declared_deletions": ["LICENSE"]},
        {"files_modified": [], "declared_deletions": ["LICENSE"]},
        {"files_modified": [], "declared_deletions": ["docs/guide.md"]},
        {"files_modified": [""]},
    ],
)
def test_rename_lands_when_its_old_path_is_covered_or_no_scope_was_declared(
    world: World, declared: dict[str, list[str]]
) -> None:
    agent = world.agent("a", rename={"LICENSE": "src/notes.py"})
    run = world.wave(world.entry(agent, **declared))
    assert_all_landed(world, run, agent)
    assert run.entry()["renames"] == [MOVED]


@pytest.mark.parametrize("scope", [["src"], ["src/notes.py"], ["LICENSE.txt", "src"], ["src/*"], ["lic", "src"]])
def test_licence_renamed_to_something_else_counts_as_deleted_outside_the_declared_scope(
    world: World, scope: list[str]
) -> None:
    agent = world.agent("a", rename={"LICENSE": "src/notes.py"})
    run = world.wave(world.entry(agent, files_modified=scope))
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["LICENSE"]
    assert run.entry()["renames"] == [MOVED]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("setting", RENAME_SETTINGS)
@pytest.mark.parametrize("scope", [[], ["src"]])
def test_users_settings_do_not_decide_what_a_rename_is(world: World, setting: str, scope: list[str]) -> None:
    world.git("config", "--global", *setting.split("=", 1))
    moves = {"LICENSE": "src/l.py", "README.md": "src/r.py", "docs/guide.md": "src/g.py"}
    agent = world.agent("a", rename=moves, write={to: prose(old) + "one more line\n" for old, to in moves.items()})
    run = world.wave(world.entry(agent, files_modified=scope))
    told = {move["from"]: move["to"] for move in run.entry()["renames"]}
    assert told == moves
    if scope:
        assert_blocked(world, run, agent, UNDECLARED)
        assert sorted(offending(run)) == sorted(moves)
    else:
        assert_all_landed(world, run, agent)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("setting", RENAME_SETTINGS)
@pytest.mark.parametrize("scope", [[], ["src", "LICENSE"]])
def test_deletion_beside_an_unlike_new_file_is_no_rename(world: World, setting: str, scope: list[str]) -> None:
    world.git("config", "--global", *setting.split("=", 1))
    agent = world.agent("a", delete=["LICENSE"], write={"src/notes.py": prose("something else")})
    run = world.wave(world.entry(agent, files_modified=scope))
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["LICENSE"]
    assert run.entry()["renames"] == []


def test_copy_is_no_rename_and_hides_no_deletion(world: World) -> None:
    world.git("config", "--global", "diff.renames", "copies")
    copies = {"src/one.py": prose("LICENSE"), "README.md": prose("README.md") + "edited\n"}
    agent = world.agent("a", write=copies, delete=["setup.cfg"])
    run = world.wave(agent)
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["setup.cfg"]
    assert run.entry()["renames"] == []


def test_two_old_files_can_not_both_be_renamed_to_one(world: World) -> None:
    world.commit(write={"twin.txt": prose("LICENSE")})
    agent = world.agent("a", rename={"LICENSE": "src/notes.py"}, delete=["twin.txt"])
    run = world.wave(agent)
    assert_blocked(world, run, agent, UNDECLARED)
    (move,) = run.entry()["renames"]
    assert {move["from"], *offending(run)} == {"LICENSE", "twin.txt"}


def test_renamed_file_and_a_real_deletion_are_told_apart(world: World) -> None:
    agent = world.agent("a", rename={"docs/guide.md": "docs/manual.md"}, delete=["setup.cfg"])
    run = world.wave(world.entry(agent, files_modified=["docs"]))
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["setup.cfg"]
    assert run.entry()["renames"] == [{"from": "docs/guide.md", "to": "docs/manual.md"}]


def test_rename_with_odd_names_is_told_with_its_exact_names(world: World) -> None:
    old, new = 'old "na\tme".txt', "nöw\nname\x1b.txt"
    world.commit(write={old: prose("odd")})
    agent = world.agent("a", rename={old: new})
    run = world.wave(world.entry(agent, files_modified=[old, new]))
    assert_all_landed(world, run, agent)
    assert run.entry()["renames"] == [{"from": old, "to": new}]
    assert "\x1b" not in run.out + run.err


def test_rename_that_the_target_already_made_is_not_the_branchs(world: World) -> None:
    agent = world.agent("a")
    world.commit(rename={"LICENSE": "COPYING"})
    run = world.wave(world.entry(agent, files_modified=["a.txt"]))
    assert_all_landed(world, run, agent)
    assert run.entry()["renames"] == []
