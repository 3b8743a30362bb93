"""The merge: does it merge, into what, and is the user's checkout as it was when it does not?"""

import pytest

from support.repo import prose, put
from support.shim import Shim
from support.world import World

REFUSE_FIRST = 'if [ ! -e "$HOME/refused" ]; then touch "$HOME/refused"; echo "the hook says no"; exit 1; fi'


def conflict(world: World, name: str = "late", path: str = "src/app.py") -> None:
    """Commit something in the main checkout that the agent of this name will disagree with."""
    world.commit(write={path: f"the user's {name}\n"}, message=f"user's {name}")


# -- what is made


def test_a_merge_is_a_commit_of_its_own_with_the_agreed_subject(world: World) -> None:
    agent, old = world.agent("a"), world.head()

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok")
    assert world.git("log", "-1", "--format=%s") == f"chore: merge executor worktree ({agent.branch})"
    assert world.git("rev-parse", "HEAD^1", "HEAD^2").split() == [old, agent.tip]
    assert run.entry()["merge_commit"] == world.head()
    assert run.entry()["tip"] == agent.tip
    assert world.git("status", "--porcelain") == ""


def test_each_entry_merges_on_top_of_the_one_before(world: World) -> None:
    agents = [world.agent(name) for name in ("a", "b", "c")]

    run = world.wave(*agents)

    assert run.code == 0, run.doc
    firsts = world.git("log", "--first-parent", "--format=%H", "-3").splitlines()
    assert firsts == [run.entry(agent)["merge_commit"] for agent in reversed(agents)]
    assert world.fsck() == ""


CONFIGS = [
    ("merge.ff", "only"),
    ("merge.ff", "true"),
    ("pull.twohead", "ours"),
    ("branch.main.mergeOptions", "--squash"),
    ("branch.main.mergeOptions", "--no-commit"),
    ("branch.main.mergeOptions", "--ff-only"),
    ("branch.main.mergeOptions", "-s ours"),
    ("branch.main.mergeOptions", "-X ours"),
    ("branch.main.mergeOptions", "--allow-unrelated-histories --autostash"),
    ("merge.autoStash", "true"),
    ("merge.renames", "false"),
    ("merge.log", "true"),
    ("merge.verbosity", "0"),
    ("merge.stat", "false"),
    ("commit.template", "/nowhere"),
    ("commit.cleanup", "scissors"),
    ("core.editor", "false"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("key", "value"), CONFIGS)
def test_the_users_config_does_not_change_what_a_merge_is(world: World, key: str, value: str) -> None:
    agent = world.agent("a", {"src/app.py": prose("better"), "new.txt": "new\n"})
    world.git("config", key, value)
    old = world.head()

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc
    assert world.git("rev-parse", "HEAD^1", "HEAD^2").split() == [old, agent.tip]
    assert world.git("rev-parse", "HEAD^{tree}") == world.git("rev-parse", f"{agent.tip}^{{tree}}")
    assert world.git("log", "-1", "--format=%s") == f"chore: merge executor worktree ({agent.branch})"
    assert world.landed(agent)


def test_a_tag_with_the_branchs_name_is_not_what_is_merged_and_stays(world: World) -> None:
    agent = world.agent("a")
    other = world.git("commit-tree", "-m", "tagged", "HEAD^{tree}")
    world.git("tag", agent.branch, other)
    world.git("tag", "main", other)

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc
    assert world.git("rev-parse", "HEAD^2") == agent.tip
    assert world.git("rev-parse", f"refs/tags/{agent.branch}") == other
    assert world.landed(agent)


def test_edits_of_the_users_that_are_in_nobodys_way_stay_through_a_merge(world: World) -> None:
    agent = world.agent("a")
    world.git("config", "merge.autoStash", "true")
    put(world.root / "LICENSE", "edited\n")
    put(world.root / "scratch.txt", "untracked\n")

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc
    assert world.git("status", "--porcelain") == " M LICENSE\n?? scratch.txt"
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert world.git("stash", "list") == ""
    assert world.landed(agent)


# -- what does not merge


def test_a_conflict_is_isolated_and_the_checkout_is_clean_again(world: World) -> None:
    bad, good = world.agent("bad", {"src/app.py": "the agent's\n"}), world.agent("good")
    conflict(world)
    world.git("worktree", "lock", "--reason", "kept", bad.path)

    run = world.wave(bad, good)

    assert run.code == 1
    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert "src/app.py" in run.entry(bad)["stderr"]
    assert run.entry(bad)["merge_commit"] is None
    assert run.entry(bad)["stage"] == "merge"
    assert run.doc["result"]["pending"] == []
    assert world.untouched(bad)
    assert world.worktrees()[str(bad.path)]["locked"] == "kept"
    assert world.landed(good)
    assert world.git("status", "--porcelain") == ""
    assert not (world.root / ".git/MERGE_HEAD").exists()


def test_a_conflict_leaves_the_users_edits_and_stash_alone(world: World) -> None:
    bad = world.agent("bad", {"src/app.py": "the agent's\n"})
    conflict(world)
    put(world.root / "LICENSE", "stashed\n")
    world.git("stash")
    put(world.root / "LICENSE", "edited\n")
    put(world.root / "debug.log", "ignored\n")
    world.git("config", "merge.autoStash", "true")
    before = world.snapshot()

    run = world.wave(bad)

    assert run.outcome() == ("blocked", "merge_failed")
    assert world.snapshot() == before


def test_a_merge_that_unstaged_edits_forbid_leaves_them_and_the_next_lands(world: World) -> None:
    bad, good = world.agent("bad", {"src/app.py": prose("better")}), world.agent("good")
    put(world.root / "src/app.py", "the user's own\n")

    run = world.wave(bad, good)

    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert "src/app.py" in run.entry(bad)["stderr"]
    assert world.untouched(bad)
    assert (world.root / "src/app.py").read_text() == "the user's own\n"
    assert world.landed(good)
    assert world.git("status", "--porcelain") == " M src/app.py"


def test_a_staged_edit_of_the_file_that_a_merge_changes_stays_as_it_is(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    put(world.root / "src/app.py", "the user's own\n")
    world.git("add", "src/app.py")
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert "src/app.py" in run.entry()["stderr"]
    assert world.snapshot() == before


def test_something_staged_that_is_in_nobodys_way_is_not_committed_into_a_merge(world: World) -> None:
    agent = world.agent("a")
    put(world.root / "LICENSE", "staged\n")
    world.git("add", "LICENSE")
    put(world.root / "LICENSE", "edited after that\n")
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert world.snapshot() == before
    assert world.untouched(agent)


def test_a_resolution_that_rerere_remembers_does_not_land_by_itself(world: World) -> None:
    bad = world.agent("bad", {"src/app.py": "the agent's\n"})
    conflict(world)
    for key in ("rerere.enabled", "rerere.autoUpdate"):
        world.git("config", key, "true")
    world.git("merge", "-q", bad.tip, check=False)
    put(world.root / "src/app.py", "agreed\n")
    world.git("rerere")
    world.git("merge", "--abort")
    before = world.snapshot()

    run = world.wave(bad)

    assert run.outcome() == ("blocked", "merge_failed")
    assert world.snapshot() == before
    assert world.untouched(bad)


def test_histories_that_have_nothing_in_common_do_not_merge(world: World) -> None:
    agent = world.agent("a")
    orphan = world.git("commit-tree", "-m", "orphan", f"{agent.tip}^{{tree}}")
    world.git("reset", "-q", "--hard", orphan, cwd=agent.path)
    before = world.snapshot()

    run = world.wave(agent)

    assert run.code == 1
    assert run.outcome()[0] == "blocked"
    assert run.outcome()[1] in {"base_mismatch", "base_check_failed"}
    assert world.snapshot() == before


# -- identity of the committer


def test_an_unset_identity_is_said_and_none_invented(world: World) -> None:
    agent = world.agent("a")
    for key in ("user.name", "user.email"):
        world.git("config", "--global", "--unset", key)
    world.git("config", "user.useConfigOnly", "true")
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert "user.email" in run.entry()["stderr"]
    assert world.snapshot() == before
    assert world.untouched(agent)


# -- hooks and filters


@pytest.mark.parametrize("name", ["pre-merge-commit", "commit-msg", "prepare-commit-msg"])
def test_a_hook_that_refuses_leaves_the_checkout_alone_and_the_next_lands(world: World, name: str) -> None:
    bad, good = world.agent("bad", {"src/app.py": prose("better")}), world.agent("good")
    world.hook(name, REFUSE_FIRST)
    put(world.root / "LICENSE", "edited\n")

    run = world.wave(bad, good)

    assert run.outcome(bad) == ("blocked", "merge_failed")
    assert "the hook says no" in run.entry(bad)["stderr"]
    assert world.untouched(bad)
    assert world.landed(good)
    assert world.git("status", "--porcelain") == " M LICENSE"
    assert (world.root / "LICENSE").read_text() == "edited\n"
    assert (world.root / "src/app.py").read_text() == prose("src/app.py")


def test_a_refusing_hook_leaves_exactly_the_state_before(world: World) -> None:
    world.hook("pre-merge-commit", "exit 1")
    agent = world.agent("a", {"src/app.py": prose("better"), "new.txt": "new"}, ["LICENSE"])
    put(world.root / "README.md", "edited\n")
    before = world.snapshot()

    run = world.wave(world.entry(agent, declared_deletions=["LICENSE"]))

    assert run.outcome() == ("blocked", "merge_failed")
    assert world.snapshot() == before


def test_a_hook_that_commits_on_top_of_the_merge_keeps_worktree_and_branch(world: World) -> None:
    """HEAD moved, but not by exactly the merge: nothing is removed on the strength of that."""
    world.hook("post-merge", "git commit -q --allow-empty -m extra")
    agent = world.agent("a")

    run = world.wave(agent)

    assert run.code == 1
    assert run.outcome()[0] == "blocked"
    assert world.branches()[agent.branch] == agent.tip
    assert agent.path.is_dir()


def test_a_hook_that_undoes_the_merge_keeps_worktree_and_branch(world: World) -> None:
    world.hook("post-merge", "git reset -q --hard HEAD^1")
    agent = world.agent("a")

    run = world.wave(agent)

    assert run.outcome()[0] == "blocked"
    assert world.untouched(agent)


def test_a_merge_that_says_it_merged_and_did_not_keeps_worktree_and_branch(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.fail("merge", 0, stdout="Merge made by the 'ort' strategy.\n")
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert world.snapshot() == before
    assert world.untouched(agent)


def test_a_smudge_filter_that_fails_leaves_the_checkout_as_it_was(world: World) -> None:
    world.commit(write={".gitattributes": "*.bin filter=picky\n", "data.bin": "good\n"})
    script = put(world.tmp / "picky", "#!/bin/sh\nt=$(cat)\ncase $t in *bad*) exit 1;; esac\nprintf '%s\\n' \"$t\"\n")
    script.chmod(0o755)
    for key, value in (("smudge", str(script)), ("clean", "cat"), ("required", "true")):
        world.git("config", f"filter.picky.{key}", value)
    bad, good = world.agent("bad", {"LICENSE": prose("mine"), "data.bin": "old\n"}), world.agent("good")
    blob = world.git("hash-object", "-w", "--stdin", stdin="bad\n")
    world.git("update-index", "--cacheinfo", f"100644,{blob},data.bin", cwd=bad.path)
    put(bad.path / "data.bin", "bad\n")
    world.git("commit", "-q", "-m", "bad data", cwd=bad.path)
    before = world.snapshot()

    run = world.wave(bad)

    assert run.outcome() == ("blocked", "merge_failed"), run.doc
    assert world.snapshot() == before
    assert bad.path.is_dir()
    assert world.wave(good).code == 0
    assert (world.root / "data.bin").read_text() == "good\n"


# -- the target


def test_a_target_that_somebody_switched_is_not_merged_into(world: World, shim: Shim) -> None:
    one, two = world.agent("one"), world.agent("two")
    world.git("branch", "other")
    shim.after("worktree remove", f"git -C {world.root} switch -q other", nth=1)

    run = world.wave(one, two)

    assert run.code == 1
    assert run.outcome(one) == ("merged_removed", "ok")
    assert run.outcome(two) == ("blocked", "target_moved")
    assert "other" in run.entry(two)["stderr"]
    assert world.branches()["other"] == one.base
    assert world.git("symbolic-ref", "HEAD") == "refs/heads/other"
    assert world.untouched(two)


def test_a_target_that_was_detached_is_not_merged_into(world: World, shim: Shim) -> None:
    one, two = world.agent("one"), world.agent("two")
    shim.after("worktree remove", f"git -C {world.root} checkout -q --detach", nth=1)

    run = world.wave(one, two)

    assert run.outcome(two) == ("blocked", "target_moved")
    assert world.untouched(two)


def test_a_commit_of_the_users_between_two_entries_is_merged_onto(world: World, shim: Shim) -> None:
    one, two = world.agent("one"), world.agent("two")
    mine = world.git("commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}")
    shim.after("worktree remove", f"git -C {world.root} merge -q --no-edit {mine}", nth=1)

    run = world.wave(one, two)

    assert run.outcome(one) == ("merged_removed", "ok")
    assert world.merged(mine)
    assert world.reachable(two.tip)
    assert run.code == 0 or world.untouched(two)
