"""Branches that somebody brought over by hand: recognised where git can prove it, never guessed."""

import shutil

import pytest

from support.checks import assert_blocked, assert_landed
from support.ours import everything, forget_journals
from support.repo import prose
from support.world import Agent, Run, World

BOTH = {"src/app.py": prose("better"), "new/one.txt": "1\n"}


def two_commits(world: World, name: str = "one") -> Agent:
    """An agent whose branch has two commits."""
    agent = world.agent(name, BOTH)
    tip = world.commit(agent.path, {"new/two.txt": "2\n", "src/util/math.py": prose("sums")}, message="second")
    return Agent(agent.id, agent.path, agent.branch, agent.base, tip)


def squash(world: World, agent: Agent) -> None:
    world.git("merge", "-q", "--squash", agent.branch)
    world.git("commit", "-q", "-m", "all of it")


def cherry_pick(world: World, agent: Agent) -> None:
    world.git("cherry-pick", f"{agent.base}..{agent.branch}")


def rebase(world: World, agent: Agent) -> None:
    """What `git rebase` and a fast-forward leave: the same changes in new commits, the branch where it was."""
    world.git("checkout", "-q", "--detach", agent.branch)
    world.git("rebase", "-q", "main")
    rebased = world.git("rev-parse", "HEAD")
    world.git("checkout", "-q", "main")
    world.git("merge", "-q", "--ff-only", rebased)


def merge(world: World, agent: Agent) -> None:
    world.git("merge", "-q", "--no-ff", "-m", "my own words", agent.branch)


WAYS = [squash, cherry_pick, rebase, merge]


def assert_recognised(world: World, run: Run, agent: Agent, head: str) -> None:
    """Cleared away without a merge, and the branch's own commits are still reachable."""
    entry = run.entry(agent)
    assert (entry["status"], entry["reason"], entry["tip"]) == ("merged_removed", "already_landed", agent.tip), entry
    assert (run.code, world.head()) == (0, head)
    assert agent.branch not in world.branches()
    assert not world.registered(agent)
    assert not agent.path.exists()
    assert world.reachable(agent.tip)
    assert world.fsck() == ""


@pytest.mark.parametrize("by_hand", WAYS)
def test_a_branch_brought_over_by_hand_is_recognised(world: World, by_hand: object) -> None:
    agent = two_commits(world)
    world.commit(write={"main.txt": "main went on\n"})
    by_hand(world, agent)  # type: ignore[operator]
    world.commit(write={"main.txt": "and on\n"})
    head = world.head()
    manifest = world.manifest(agent)

    assert_recognised(world, world.wave(manifest), agent, head)

    before = everything(world)
    assert_recognised(world, world.wave(manifest), agent, head)
    assert everything(world) == before


@pytest.mark.parametrize("by_hand", [squash, *(pytest.param(way, marks=pytest.mark.deep) for way in WAYS[1:])])
def test_a_branch_brought_over_between_two_runs_is_recognised(world: World, by_hand: object) -> None:
    agent = two_commits(world)
    world.commit(write={"src/app.py": prose("in the way")})
    manifest = world.manifest(agent)
    assert world.wave(manifest).outcome(agent) == ("blocked", "merge_failed")
    world.git("revert", "--no-edit", "HEAD")
    by_hand(world, agent)  # type: ignore[operator]

    assert_recognised(world, world.wave(manifest), agent, world.head())


def test_a_fast_forwarded_branch_is_recognised(world: World) -> None:
    agent = two_commits(world)
    world.git("merge", "-q", "--ff-only", agent.branch)

    assert_recognised(world, world.wave(agent), agent, agent.tip)


def test_a_branch_brought_over_whose_worktree_is_gone_is_recognised(world: World) -> None:
    agent = two_commits(world)
    squash(world, agent)
    shutil.rmtree(agent.path)

    assert_recognised(world, world.wave(agent), agent, world.head())


def test_a_picked_commit_is_recognised_when_main_changes_the_same_lines_after_it(world: World) -> None:
    agent = world.agent("one", {"src/app.py": prose("better")})
    cherry_pick(world, agent)
    world.commit(write={"src/app.py": prose("better still")})

    assert_recognised(world, world.wave(agent), agent, world.head())


def test_work_brought_over_with_something_else_left_uncommitted_is_not_cleared(world: World) -> None:
    agent = two_commits(world)
    squash(world, agent)
    (agent.path / "forgotten.txt").write_text("forgotten\n")

    run = world.wave(agent)

    assert run.outcome(agent) == ("blocked", "worktree_dirty")
    assert (agent.path / "forgotten.txt").read_text() == "forgotten\n"
    assert world.branches()[agent.branch] == agent.tip


# -- never guessed


def test_a_branch_of_which_only_one_commit_was_picked_is_merged(world: World) -> None:
    agent = two_commits(world)
    world.git("cherry-pick", f"{agent.branch}~1")

    run = world.wave(agent)

    assert_landed(world, run, agent)
    assert (world.root / "new/two.txt").read_text() == "2\n"


def test_a_branch_of_which_only_some_files_were_taken_is_merged(world: World) -> None:
    agent = two_commits(world)
    world.git("checkout", agent.branch, "--", "new/one.txt", "new/two.txt", "src/app.py")
    world.git("commit", "-q", "-m", "most of it")

    assert_landed(world, world.wave(agent), agent)
    assert (world.root / "src/util/math.py").read_text() == prose("sums")


@pytest.mark.parametrize("by_hand", [squash, cherry_pick, rebase])
def test_work_brought_over_and_reverted_is_not_taken_for_landed(world: World, by_hand: object) -> None:
    agent = two_commits(world)
    start = world.head()
    by_hand(world, agent)  # type: ignore[operator]
    if world.head() == agent.tip:  # rebased onto where it forked: the same commits
        world.git("reset", "-q", "--hard", start)
        world.commit(write={"main.txt": "main went on\n"})
        by_hand(world, agent)  # type: ignore[operator]
        start = world.git("rev-parse", "HEAD~2")
    world.git("revert", "--no-edit", f"{start}..HEAD")
    assert not (world.root / "new/one.txt").exists()

    run = world.wave(agent)

    assert run.entry(agent)["reason"] != "already_landed", run.doc
    assert_landed(world, run, agent)
    assert (world.root / "new/one.txt").exists()


def test_work_picked_then_reverted_then_overwritten_is_not_taken_for_landed(world: World) -> None:
    """Its patch is in the history, its change is not in the target, and it does not merge any more."""
    agent = world.agent("one", {"src/app.py": prose("better")})
    cherry_pick(world, agent)
    world.git("revert", "--no-edit", "HEAD")
    world.commit(write={"src/app.py": prose("another way")})

    run = world.wave(agent)

    assert_blocked(world, run, agent, "merge_failed")


def test_work_of_which_one_file_was_reverted_is_not_taken_for_landed(world: World) -> None:
    agent = two_commits(world)
    squash(world, agent)
    world.git("rm", "-q", "new/two.txt")
    world.git("commit", "-q", "-m", "not this one")

    run = world.wave(agent)

    assert run.entry(agent)["reason"] != "already_landed", run.doc


# -- names and paths that are used again


def landed_once(world: World) -> Agent:
    agent = world.agent("one")
    assert world.wave(agent).code == 0
    return agent


@pytest.mark.parametrize("journal", ["journal kept", "journal lost"])
def test_a_new_agent_of_the_same_name_and_path_lands_on_its_own(world: World, journal: str) -> None:
    old = landed_once(world)
    new = world.agent("one", {"second.txt": "2\n"})
    if journal == "journal lost":
        forget_journals(world)

    run = world.wave(new)

    assert_landed(world, run, new)
    assert (run.code, new.base != old.base) == (0, True)
    assert (world.root / "second.txt").read_text() == "2\n"


@pytest.mark.parametrize("journal", ["journal kept", "journal lost"])
def test_a_new_agent_that_vanished_is_not_taken_for_the_old_one(world: World, journal: str) -> None:
    landed_once(world)
    new = world.agent("one", {"second.txt": "2\n"})
    world.git("worktree", "remove", new.path)
    world.git("branch", "-q", "-D", new.branch)
    if journal == "journal lost":
        forget_journals(world)

    run = world.wave(new)

    assert (run.code, run.outcome(new)) == (1, ("blocked", "branch_mismatch"))


def test_a_new_agent_with_nothing_committed_yet_keeps_its_files(world: World) -> None:
    landed_once(world)
    new = world.agent("one", {"second.txt": "2\n"}, commit=False)

    run = world.wave(new)

    assert run.outcome(new) == ("blocked", "worktree_dirty")
    assert (new.path / "second.txt").read_text() == "2\n"


def test_the_old_manifest_does_not_clear_a_new_agent_away(world: World) -> None:
    old = landed_once(world)
    new = world.agent("one", {"second.txt": "2\n"})

    run = world.wave(old)

    assert run.entry(old)["reason"] != "already_landed", run.doc
    assert world.untouched(new)


@pytest.mark.parametrize("change", ["path", "branch", "base"])
def test_an_entry_that_shares_only_a_part_with_a_landed_one_is_not_landed(world: World, change: str) -> None:
    old = landed_once(world)
    other = {
        "path": {"worktree_path": f"{old.path}-2"},
        "branch": {"branch": f"{old.branch}-2"},
        "base": {"expected_base": world.head()},
    }[change]

    run = world.wave({**world.entry(old), **other})

    assert (run.code, run.outcome(0)) == (1, ("blocked", "branch_mismatch")), run.doc


def test_an_agent_that_never_existed_is_not_landed(world: World) -> None:
    landed_once(world)
    path = world.worktree_dir / "never"
    never = Agent("agent-never", path, "worktree-agent-never", world.head(), world.head())

    run = world.wave(never)

    assert (run.code, run.outcome(0)) == (1, ("blocked", "branch_mismatch"))


def test_a_branch_deleted_by_hand_before_it_landed_is_not_landed(world: World) -> None:
    agent = two_commits(world)
    world.git("worktree", "remove", agent.path)
    world.git("branch", "-q", "-D", agent.branch)

    run = world.wave(agent)

    assert (run.code, run.outcome(0)) == (1, ("blocked", "branch_mismatch"))


def test_a_landing_that_was_reset_away_is_not_taken_for_landed(world: World) -> None:
    """The journal says landed; the target does not hold it any more."""
    agent = world.agent("one")
    manifest = world.manifest(agent)
    start = world.head()
    assert world.wave(manifest).code == 0
    world.git("reset", "-q", "--hard", start)

    run = world.wave(manifest)

    assert (run.code, run.outcome(0)[0]) == (1, "blocked"), run.doc
    assert world.reachable(agent.tip)
