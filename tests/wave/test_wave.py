"""A wave as a whole: what it answers, when it halts, and that one bad entry never stops the others."""

import subprocess

import pytest

from support.arming import armed
from support.repo import prose, put
from support.shim import Shim
from support.waiting import still_alive
from support.world import World

PLAN = {"action", "discovery", "reason", "entries"}
RESULT = {"ok", "action", "reason", "entries", "pending", "warnings"}
WAVE = {"id", "head_before", "head_after"}
GIVEN = {"agent_id", "worktree_path", "branch", "expected_base", "allowed_bases", "files_modified"}
FOUND = {"status", "reason", "stderr", "warnings", "tip", "merge_commit", "renames", "rescued", "stage"}


# -- the document


def test_the_document_has_the_agreed_keys(world: World) -> None:
    good, bad = world.agent("good"), world.agent("bad", {}, ["LICENSE"])
    old = world.head()

    doc = world.wave(good, bad).doc

    assert {"ok", "reason", "plan", "result", "wave"} <= doc.keys()
    assert doc["plan"].keys() >= PLAN
    assert doc["result"].keys() >= RESULT
    assert doc["wave"].keys() >= WAVE
    assert all(entry.keys() >= GIVEN | FOUND | {"declared_deletions"} for entry in doc["result"]["entries"])
    assert (doc["wave"]["head_before"], doc["wave"]["head_after"]) == (old, world.head())
    assert doc["plan"] | {"entries": 2} == doc["plan"]
    assert (doc["plan"]["action"], doc["plan"]["discovery"]) == ("cleanup_wave", "manifest")
    assert doc["plan"]["reason"] == "manifest_entries_present"
    assert doc["result"]["action"] == "cleanup_wave"


def test_a_wave_in_which_all_land_is_ok_and_exits_0(world: World) -> None:
    run = world.wave(*(world.agent(name) for name in ("a", "b")))

    assert run.code == 0
    assert (run.doc["ok"], run.doc["result"]["ok"]) == (True, True)
    assert (run.doc["reason"], run.doc["result"]["reason"]) == ("ok", "ok")
    assert run.doc["result"]["pending"] == []
    assert [(entry["status"], entry["stage"]) for entry in run.entries] == [("merged_removed", None)] * 2


def test_a_wave_with_a_blocked_entry_is_not_ok_and_exits_1(world: World) -> None:
    run = world.wave(world.agent("a"), world.agent("b", {}, ["LICENSE"]))

    assert run.code == 1
    assert (run.doc["ok"], run.doc["result"]["ok"]) == (False, False)
    assert run.doc["result"]["reason"] == "cleanup_blocked"


def test_every_warning_stands_at_its_entry_and_in_the_list_of_all(world: World) -> None:
    agents = [world.agent(name) for name in ("a", "b")]

    run = world.wave(*(world.entry(agent, files_modified=["elsewhere"]) for agent in agents))

    every = [warning for entry in run.entries for warning in entry["warnings"]]
    assert [warning["code"] for warning in every] == ["scope_out_of_declared"] * 2
    assert [warning.keys() for warning in every] == [{"code", "branch", "path", "detail"}] * 2
    assert run.doc["result"]["warnings"] == every
    assert run.code == 0


def test_entries_are_answered_in_the_order_of_the_manifest(world: World) -> None:
    agents = [world.agent(name) for name in ("c", "a", "b")]

    run = world.wave(agents[0], "no entry", agents[1], world.entry(agents[2], expected_base="1" * 40))

    assert [entry["branch"] for entry in run.entries] == [
        agents[0].branch,
        None,
        agents[1].branch,
        agents[2].branch,
    ]


def test_each_wave_has_an_id_of_its_own(world: World) -> None:
    one, two = world.wave(world.agent("a")), world.wave(world.agent("b"))

    assert one.doc["wave"]["id"] != two.doc["wave"]["id"]


# -- one bad entry never stops the others


def test_one_bad_entry_of_every_kind_stops_no_other(world: World) -> None:
    bad = {
        "dirty": world.agent("dirty"),
        "base": world.agent("base"),
        "deleting": world.agent("deleting", {}, ["LICENSE"]),
        "conflict": world.agent("conflict", {"src/app.py": "the agent's\n"}),
    }
    world.commit(write={"src/app.py": "the user's\n"})
    put(bad["dirty"].path / "left.txt", "left")
    good = [world.agent(f"good{number}") for number in range(5)]
    entries = [*bad.values()]
    mixed = [
        good[0],
        entries[0],
        good[1],
        world.entry(entries[1], expected_base="1" * 40),
        good[2],
        entries[2],
    ]

    run = world.wave(*mixed, good[3], entries[3], "no entry", good[4])

    assert run.code == 1
    assert all(world.landed(agent) for agent in good)
    assert all(world.untouched(agent) for agent in bad.values())
    assert {name: run.outcome(agent)[1] for name, agent in bad.items()} == {
        "dirty": "worktree_dirty",
        "base": "base_mismatch",
        "deleting": "branch_contains_deletions",
        "conflict": "merge_failed",
    }
    assert world.git("status", "--porcelain") == ""
    assert world.fsck() == ""


def test_every_entry_that_did_not_land_says_what_to_do_next(world: World) -> None:
    dirty, deleting = world.agent("dirty"), world.agent("deleting", {}, ["LICENSE"])
    put(dirty.path / "left.txt", "left")

    run = world.wave(dirty, deleting, "no entry", world.agent("good"))

    assert [bool(entry["next_step"]) for entry in run.entries] == [True, True, True, False]


# -- git that does not answer


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("merge-base", "base_check_failed"),
        ("diff-tree", "deletion_check_failed"),
        ("ls-files", "dirt_check_failed"),
        ("merge-tree", "merge_failed"),
    ],
)
def test_a_git_that_hangs_is_ended_and_blocks_only_its_entry(world: World, shim: Shim, words: str, reason: str) -> None:
    pids = world.tmp / "hanging"
    shim.before(words, f"echo $$ >>{pids}; sleep 600", nth=1)
    bad, good = world.agent("bad"), world.agent("good")

    run = world.wave(bad, good, args=["--git-timeout", "2"])

    assert run.outcome(bad) == ("blocked", reason), run.doc
    assert still_alive(pids) == []
    assert world.untouched(bad)
    assert world.landed(good)


# -- nothing to merge, and a second time


def test_a_branch_without_a_commit_of_its_own_is_cleared_and_nothing_merged(world: World) -> None:
    agent, old = world.agent("a", {}), world.head()

    run = world.wave(agent)

    assert run.code == 0
    assert run.outcome() == ("merged_removed", "already_landed")
    assert run.entry()["merge_commit"] is None
    assert world.landed(agent)
    assert world.head() == old


def test_a_finished_wave_run_again_says_so_and_exits_0(world: World) -> None:
    agents = [world.agent("a"), world.agent("b", {})]
    manifest = world.manifest(*agents)
    assert world.wave(manifest).code == 0
    before = world.snapshot()

    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert {entry["reason"] for entry in run.entries} == {"already_landed"}
    assert world.snapshot() == before


def test_an_entry_that_never_existed_is_not_taken_for_one_that_landed(world: World) -> None:
    agent = world.agent("a")
    entry = world.entry(agent)
    world.git("worktree", "remove", agent.path)
    world.git("branch", "-q", "-D", agent.branch)

    run = world.wave(entry)

    assert run.code == 1
    assert run.outcome() == ("blocked", "branch_mismatch")


# -- the halt


def test_a_checkout_left_in_the_middle_of_a_merge_halts_the_wave(world: World, shim: Shim) -> None:
    def no_way_back(shim: Shim) -> None:
        shim.fail("merge --abort", 128, "fatal: no\n")
        shim.fail("reset", 128, "fatal: no\n")
        shim.fail("read-tree", 128, "fatal: no\n")

    world.hook("pre-merge-commit", f"{armed(shim, no_way_back)}\nexit 1")
    first, bad, rest = world.agent("first", {}), world.agent("bad"), [world.agent(name) for name in "xy"]
    put(world.root / "LICENSE", "edited\n")

    run = world.wave(first, bad, *rest)

    assert run.code == 1
    assert run.outcome(first)[0] == "merged_removed"
    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert [entry["branch"] for entry in run.doc["result"]["pending"]] == [agent.branch for agent in rest]
    assert len(run.entries) == 2
    assert (world.root / ".git/MERGE_HEAD").read_text().strip() == bad.tip
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert all(world.untouched(agent) for agent in [bad, *rest])


@pytest.mark.parametrize("code", [2, 127, 128])
def test_not_knowing_whether_a_merge_is_in_progress_halts_the_wave(world: World, shim: Shim, code: int) -> None:
    def cannot_tell(shim: Shim) -> None:
        shim.fail("rev-parse --verify MERGE_HEAD", code, "fatal: cannot tell\n")

    world.hook("pre-merge-commit", f"{armed(shim, cannot_tell)}\nexit 1")
    bad, rest = world.agent("bad"), world.agent("rest")

    run = world.wave(bad, rest)

    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert [entry["branch"] for entry in run.doc["result"]["pending"]] == [rest.branch]
    assert world.untouched(bad)
    assert world.untouched(rest)


def test_a_merge_that_never_started_halts_nothing_whatever_abort_says(world: World, shim: Shim) -> None:
    shim.fail("merge --abort", 128, "fatal: There is no merge to abort\n")
    bad, good = world.agent("bad", {"src/app.py": prose("better")}), world.agent("good")
    put(world.root / "src/app.py", "the user's\n")

    run = world.wave(bad, good)

    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert run.doc["result"]["pending"] == []
    assert world.landed(good)


def test_after_the_halt_is_cleared_up_the_same_command_finishes(world: World, shim: Shim) -> None:
    def no_way_back(shim: Shim) -> None:
        for command in ("merge --abort", "reset", "read-tree"):
            shim.fail(command, 128)

    hook = world.hook("pre-merge-commit", f"{armed(shim, no_way_back)}\nexit 1")
    agents = [world.agent("a"), world.agent("b")]
    assert world.wave(*agents).code == 1
    shim.rules.clear()
    shim.install()
    hook.unlink()
    world.git("merge", "--abort")

    run = world.wave(*agents)

    assert run.code == 0, run.doc
    assert all(world.landed(agent) for agent in agents)


# -- where it runs


def test_a_wave_lands_into_a_linked_worktree_too(world: World) -> None:
    target = world.tmp / "integration"
    world.git("worktree", "add", "-q", "-b", "integration", target)
    agents = [world.agent("a"), world.agent("b")]
    old = world.head()

    run = world.wave(world.manifest(*agents, orchestrator_root=str(target)))

    assert run.code == 0, run.doc
    assert world.head() == old
    assert world.git("rev-parse", "integration^2") == agents[1].tip
    assert (target / "a.txt").is_file()
    assert not any(agent.path.exists() or agent.branch in world.branches() for agent in agents)


@pytest.mark.parametrize("name", ["with space", "é", 'q"uote', "-dash", "[x]*"])
def test_a_wave_runs_in_a_checkout_of_any_name(world: World, name: str) -> None:
    moved = world.tmp / name
    world.root.rename(moved)
    world.root = moved
    world.worktree_dir = world.tmp / f"trees {name}"
    agent, absent = world.agent("a"), world.agent("absent")
    subprocess.run(["rm", "-rf", "--", absent.path], check=True)

    run = world.wave(agent, absent)

    assert run.code == 0, run.doc
    assert world.landed(agent)
    assert world.landed(absent)


def test_a_checkout_with_a_line_feed_in_its_name_is_landed_into_or_refused(world: World) -> None:
    moved = world.tmp / "new\nline"
    world.root.rename(moved)
    world.root = moved
    agent = world.agent("a")

    run = world.wave(agent)

    assert world.landed(agent) if run.code == 0 else world.untouched(agent)
    assert run.code == 0 or run.doc["reason"] == "not_a_checkout"
