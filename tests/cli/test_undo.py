"""`git wave undo`: a wave taken back, and that taken back too."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.calling import Answer, call
from support.ours import everything, journals
from support.repo import prose, put
from support.world import Agent, World, files_below


def undo(world: World, *more: str) -> Answer:
    """`git wave undo` on the main checkout; no commit may be lost by it."""
    before = set(world.git("rev-list", "--all").split())
    answer = call("undo", "--root", str(world.root), *more)
    assert before <= set(world.git("rev-list", "--all").split())
    assert world.fsck() == ""
    return answer


def two_agents(world: World) -> list[Agent]:
    return [world.agent("one", {"src/app.py": prose("better"), "new/one.txt": "1\n"}), world.agent("two")]


def standing(world: World) -> dict[str, Any]:
    """What an undo must bring back: target, files, branches, worktrees and their files."""
    wanted = ("HEAD", "refs", "index", "status", "files")
    found = {name: value for name, value in world.snapshot().items() if name in wanted}
    found["worktrees"] = {path: (one["HEAD"], one.get("branch")) for path, one in world.worktrees().items()}
    found["their files"] = {path: files_below(Path(path)) for path in found["worktrees"]}
    return found


def landed_wave(world: World, *agents: Agent) -> str:
    """Land them all; the wave's id."""
    run = world.wave(*agents)
    assert run.code == 0, run.doc
    wave_id: str = run.doc["wave"]["id"]
    return wave_id


def assert_undone(answer: Answer, wave: str) -> str:
    """Exit 0 and a document that says so; the undo's id."""
    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (0, True, "undone"), answer
    assert answer.doc["undoes"] == wave
    undo_id: str = answer.doc["undo"]
    return undo_id


def assert_refused(world: World, answer: Answer, before: dict[str, Any], *says: str) -> None:
    """Exit 1, nothing was touched, and the detail names what is in the way."""
    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, "undo_blocked"), answer
    assert everything(world) == before
    for words in says:
        assert words in "\n".join(answer.doc["detail"]), answer


def test_a_wave_taken_back_leaves_everything_as_it_was(world: World) -> None:
    agents = two_agents(world)
    before = standing(world)
    wave = landed_wave(world, *agents)

    assert_undone(undo(world), wave)

    assert standing(world) == before
    assert all(world.untouched(agent) for agent in agents)
    assert world.git("symbolic-ref", "HEAD", cwd=agents[0].path) == f"refs/heads/{agents[0].branch}"
    assert world.git("status", "--porcelain", cwd=agents[0].path) == ""


def test_a_wave_taken_back_can_land_again(world: World) -> None:
    agents = two_agents(world)
    landed_wave(world, *agents)
    undo(world)

    run = world.wave(*agents)

    assert (run.code, [run.entry(agent)["reason"] for agent in agents]) == (0, ["ok", "ok"])
    assert all(world.landed(agent) for agent in agents)


def test_an_undo_taken_back_leaves_everything_as_the_wave_did(world: World) -> None:
    wave = landed_wave(world, *two_agents(world))
    after_wave = standing(world)
    first = assert_undone(undo(world), wave)

    assert_undone(undo(world, first), first)

    assert standing(world) == after_wave


def test_an_undo_of_an_undo_taken_back_leaves_everything_as_before_the_wave(world: World) -> None:
    agents = two_agents(world)
    before = standing(world)
    wave = landed_wave(world, *agents)
    first = assert_undone(undo(world), wave)
    second = assert_undone(undo(world, first), first)

    assert_undone(undo(world, second), second)

    assert standing(world) == before


def test_after_an_undo_was_taken_back_the_wave_can_be_taken_back_again(world: World) -> None:
    agents = two_agents(world)
    before = standing(world)
    wave = landed_wave(world, *agents)
    first = assert_undone(undo(world), wave)
    assert_undone(undo(world, first), first)

    assert_undone(undo(world), wave)

    assert standing(world) == before


def test_two_waves_are_taken_back_newest_first(world: World) -> None:
    one, two = two_agents(world)
    before = standing(world)
    first, second = landed_wave(world, one), landed_wave(world, two)

    assert_undone(undo(world), second)
    assert_undone(undo(world), first)

    assert standing(world) == before
    assert undo(world).doc["reason"] == "nothing_to_undo"


def test_a_wave_of_which_an_entry_was_blocked_is_taken_back_without_touching_it(world: World) -> None:
    one, two = two_agents(world)
    put(two.path / "scratch.txt", "not committed\n")
    before = standing(world)
    wave = world.wave(one, two).doc["wave"]["id"]

    assert_undone(undo(world), wave)

    assert standing(world) == before


def test_a_worktree_that_was_gone_comes_back_at_its_tip(world: World) -> None:
    (one,) = two_agents(world)[:1]
    shutil.rmtree(one.path)
    wave = landed_wave(world, one)

    assert_undone(undo(world), wave)

    assert world.branches()[one.branch] == one.tip
    assert not world.merged(one.tip)


def test_ignored_output_that_was_kept_goes_back_to_its_worktree(world: World) -> None:
    one = world.agent("one")
    put(one.path / "run.log", "output\n")
    wave = landed_wave(world, one)

    assert_undone(undo(world), wave)

    kept = [*Path(world.root / ".git/git-wave").rglob("run.log"), *one.path.glob("run.log")]
    assert [path.read_text() for path in kept] == ["output\n"]


def test_edits_elsewhere_in_the_checkout_stay_as_they_are(world: World) -> None:
    wave = landed_wave(world, *two_agents(world))
    put(world.root / "LICENSE", "edited\n")
    put(world.root / "scratch.txt", "untracked\n")

    assert_undone(undo(world), wave)

    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.git("status", "--porcelain") == " M LICENSE\n?? scratch.txt"


def test_a_dry_run_changes_nothing_and_tells_the_same(world: World) -> None:
    wave = landed_wave(world, *two_agents(world))
    before, known = everything(world), journals(world)

    answer = undo(world, "--dry-run")

    assert (answer.code, answer.doc["reason"], answer.doc["undoes"]) == (0, "undone", wave)
    assert (everything(world), journals(world)) == (before, known)
    assert answer.doc["detail"] == undo(world).doc["detail"]


def test_a_dry_run_of_a_refused_undo_refuses(world: World) -> None:
    landed_wave(world, *two_agents(world))
    world.commit(write={"more.txt": "more\n"})
    before = everything(world)

    assert_refused(world, undo(world, "--dry-run"), before)


# -- refusals


def test_something_landed_on_top_refuses_with_reverts_that_work(world: World) -> None:
    agents = two_agents(world)
    start = world.git("rev-parse", "HEAD^{tree}")
    landed_wave(world, *agents)
    merges = world.git("rev-list", "--first-parent", "-2", "HEAD").split()
    world.commit(write={"more.txt": "more\n"})
    before = everything(world)

    answer = undo(world)

    assert_refused(world, answer, before, "on top")
    assert answer.doc["revert"] == [f"git revert -m 1 {merge}" for merge in merges]
    for line in answer.doc["revert"]:
        env = world.env | {"GIT_EDITOR": "true"}
        subprocess.run(shlex.split(line), cwd=world.root, env=env, check=True, capture_output=True)
    (world.root / "more.txt").unlink()
    world.git("commit", "-q", "-a", "-m", "without it")
    assert world.git("rev-parse", "HEAD^{tree}") == start


def test_an_older_wave_below_a_newer_one_refuses_with_its_own_reverts(world: World) -> None:
    one, two = two_agents(world)
    first = landed_wave(world, one)
    merge = world.head()
    landed_wave(world, two)
    before = everything(world)

    answer = undo(world, first)

    assert_refused(world, answer, before)
    assert answer.doc["revert"] == [f"git revert -m 1 {merge}"]


@pytest.mark.parametrize("stage", [False, True])
def test_an_edit_where_the_undo_would_write_refuses(world: World, stage: bool) -> None:
    landed_wave(world, *two_agents(world))
    put(world.root / "src/app.py", "edited\n")
    if stage:
        world.git("add", "src/app.py")
    before = everything(world)

    assert_refused(world, undo(world), before, "src/app.py")

    assert (world.root / "src/app.py").read_text() == "edited\n"


def test_an_untracked_file_where_a_deleted_one_comes_back_refuses(world: World) -> None:
    one = world.agent("one", delete=["LICENSE"])
    assert world.wave(world.entry(one, declared_deletions=["LICENSE"])).code == 0
    put(world.root / "LICENSE", "my own\n")
    before = everything(world)

    assert_refused(world, undo(world), before, "LICENSE")

    assert (world.root / "LICENSE").read_text() == "my own\n"


def test_a_branch_of_that_name_elsewhere_refuses(world: World) -> None:
    one, two = two_agents(world)
    landed_wave(world, one, two)
    world.git("branch", one.branch, "HEAD~1")
    before = everything(world)

    assert_refused(world, undo(world), before, one.branch)


def test_a_directory_at_the_path_refuses(world: World) -> None:
    one, two = two_agents(world)
    landed_wave(world, one, two)
    put(one.path / "notes.txt", "a person's\n")
    before = everything(world)

    assert_refused(world, undo(world), before, str(one.path))

    assert (one.path / "notes.txt").read_text() == "a person's\n"


def test_another_branch_checked_out_refuses(world: World) -> None:
    landed_wave(world, *two_agents(world))
    world.git("checkout", "-q", "-b", "elsewhere")
    before = everything(world)

    assert_refused(world, undo(world), before, "elsewhere")


def test_a_checkout_in_the_middle_of_a_merge_refuses(world: World) -> None:
    landed_wave(world, *two_agents(world))
    side = world.git("commit-tree", "-m", "side", "-p", "HEAD~2", "HEAD~2^{tree}")
    world.git("merge", "-q", "--no-ff", "--no-commit", side)
    before = everything(world)

    answer = undo(world)

    assert (answer.code, answer.doc["ok"]) == (1, False)
    assert everything(world) == before


@pytest.mark.parametrize("change", ["a commit", "an edit", "an untracked file"])
def test_an_undo_is_not_taken_back_over_work_done_since(world: World, change: str) -> None:
    one, two = two_agents(world)
    landed_wave(world, one, two)
    first = undo(world).doc["undo"]
    if change == "a commit":
        world.commit(one.path, {"late.txt": "late\n"})
    else:
        put(one.path / ("src/app.py" if change == "an edit" else "late.txt"), "late\n")
    before = everything(world)

    assert_refused(world, undo(world, first), before)


def test_nothing_on_record_is_nothing_to_undo(world: World) -> None:
    answer = undo(world)

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, "nothing_to_undo")


def test_a_wave_that_was_taken_back_is_not_taken_back_twice(world: World) -> None:
    wave = landed_wave(world, *two_agents(world))
    undo(world)
    before = everything(world)

    assert undo(world, wave).doc["reason"] == "nothing_to_undo"
    assert undo(world).doc["reason"] == "nothing_to_undo"
    assert everything(world) == before


def test_an_id_that_is_no_wave_is_refused(world: World) -> None:
    landed_wave(world, *two_agents(world))
    before = everything(world)

    for name in ("20200101T000000000000Z", "../../HEAD", "", "-x", "no such wave"):
        answer = undo(world, "--", name)
        assert (answer.code, answer.doc["reason"]) == (1, "unknown_wave"), name

    assert everything(world) == before


def test_an_ignored_file_above_a_restored_path_stops_an_undo(world: World) -> None:
    world.commit(write={"out/readme": "read me\n"})
    agent = world.agent("a", delete=["out/readme"])
    world.wave(world.entry(agent, declared_deletions=["out/readme"]))
    put(world.root / ".git/info/exclude", "out\n")
    put(world.root / "out", "mine")

    answer = undo(world)

    assert answer.doc["reason"] == "undo_blocked"
    assert "in the way: out" in answer.doc["detail"]
    assert (world.root / "out").read_text() == "mine"


def test_a_commit_of_the_users_between_two_merges_stops_an_undo(world: World) -> None:
    one, two = two_agents(world)
    world.hook(
        "post-merge", f"[ -e {world.tmp}/once ] || {{ touch {world.tmp}/once; git commit -q --allow-empty -m mine; }}"
    )
    world.wave(one, two)
    head = world.git("rev-parse", "HEAD")

    answer = undo(world)

    assert answer.doc["reason"] == "undo_blocked"
    assert any("not a merge of this wave" in line for line in answer.doc["detail"])
    assert world.git("rev-parse", "HEAD") == head
