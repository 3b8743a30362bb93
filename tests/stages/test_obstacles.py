"""What of the user's stands in a merge's way is found before git is asked to merge: git itself would not spare it."""

import shutil

from support.checks import assert_blocked, offending
from support.repo import prose, put
from support.shim import Shim
from support.unseen import edit_unseen
from support.world import Agent, World

FAILED = "merge_failed"


def test_a_tracked_file_that_the_user_made_a_directory_keeps_what_is_ignored_in_it(world: World) -> None:
    agent = world.agent("a", {"setup.cfg": "better\n"})
    (world.root / "setup.cfg").unlink()
    put(world.root / "setup.cfg/secret.env", "mine")

    run = world.wave(agent)

    assert_blocked(world, run, agent, FAILED)
    assert (world.root / "setup.cfg/secret.env").read_text() == "mine"


def test_a_deletion_of_the_users_is_not_undone_by_a_merge(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    (world.root / "src/app.py").unlink()

    run = world.wave(agent)

    assert_blocked(world, run, agent, FAILED)
    assert "src/app.py" in offending(run)
    assert not (world.root / "src/app.py").exists()


def test_an_edit_hidden_by_assume_unchanged_in_the_checkout_survives(world: World) -> None:
    agent, fine = world.agent("a", {"src/app.py": prose("better")}), world.agent("b")
    world.git("update-index", "--assume-unchanged", "src/app.py")
    put(world.root / "src/app.py", "mine, hidden\n")

    run = world.wave(agent, fine)

    assert_blocked(world, run, agent, FAILED)
    assert (world.root / "src/app.py").read_text() == "mine, hidden\n"
    assert run.outcome(fine) == ("merged_removed", "ok")


def test_a_hidden_edit_in_the_checkout_that_no_size_and_no_time_gives_away_survives(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    edited = edit_unseen(world, world.root, "src/app.py")

    assert_blocked(world, world.wave(agent), agent, FAILED)
    assert (world.root / "src/app.py").read_bytes() == edited


def test_a_mark_without_an_edit_is_in_nobodys_way(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    world.git("update-index", "--refresh")  # for a marked file git looks at times, not at content
    world.git("update-index", "--assume-unchanged", "src/app.py")

    assert world.wave(agent).outcome() == ("merged_removed", "ok")


def test_a_file_monitor_that_lies_hides_no_edit(world: World) -> None:
    agent = world.agent("a", {"src/app.py": prose("better")})
    monitor = put(world.tmp / "monitor", "#!/bin/sh\nprintf 'token\\0'\n")
    monitor.chmod(0o755)
    world.git("config", "core.fsmonitor", str(monitor))
    world.git("status")
    put(world.root / "src/app.py", "mine\n")

    run = world.wave(agent)

    assert_blocked(world, run, agent, FAILED)
    assert (world.root / "src/app.py").read_text() == "mine\n"


def test_an_ignored_file_that_only_one_of_two_bases_lacks_is_not_overwritten(world: World) -> None:
    """Criss-cross: compared with one of its two bases the branch adds nothing, and the merge writes the file."""
    world.commit(write={"own.cfg": "tracked\n"})
    world.git("checkout", "-q", "-b", "side")
    has_it = world.commit(write={"side.txt": "side\n"})
    world.git("checkout", "-q", "main")
    (world.root / "own.cfg").unlink()
    lacks_it = world.commit(message="without")
    world.git("merge", "-q", "--no-edit", "side")
    path, branch = world.worktree_dir / "a", "worktree-agent-a"
    world.git("worktree", "add", "-q", "-b", branch, path, lacks_it)
    world.git("merge", "-q", "--no-edit", has_it, cwd=path)
    tip = world.commit(path, {"own.cfg": "tracked\n"})
    put(world.root / ".git/info/exclude", "own.cfg\n")
    put(world.root / "own.cfg", "mine\n")
    agent = Agent("a", path, branch, has_it, tip)
    assert len(world.git("merge-base", "--all", "main", branch).split()) == 2

    run = world.wave(world.entry(agent, allowed_bases=[lacks_it]))

    assert (world.root / "own.cfg").read_text() == "mine\n"
    assert_blocked(world, run, agent, "would_overwrite")


def test_what_the_user_stages_while_a_hook_runs_is_staged_afterwards(world: World) -> None:
    agent = world.agent("a")
    world.hook(
        "pre-merge-commit",
        "unset GIT_INDEX_FILE; echo mine >>README.md; echo new >mine.txt; git add README.md mine.txt; exit 1",
    )

    run = world.wave(agent)

    assert run.outcome() == ("blocked", FAILED)
    assert world.git("diff", "--cached", "--name-only").split() == ["README.md", "mine.txt"]
    assert (world.root / "README.md").read_text().endswith("mine\n")
    assert (world.root / "mine.txt").read_text() == "new\n"


def test_what_the_user_stages_right_before_the_merge_is_left_alone(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    shim.before("merge", f"cd {world.root} && echo mine >>README.md && git add README.md", nth=1)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", FAILED)
    assert world.git("diff", "--cached", "--name-only").split() == ["README.md"]


def test_a_message_that_begins_with_the_comment_character_is_kept(world: World) -> None:
    agent = world.agent("a")
    world.git("config", "core.commentChar", "c")
    world.git("config", "commit.cleanup", "strip")

    assert world.wave(agent).outcome() == ("merged_removed", "ok")
    assert world.git("log", "-1", "--format=%s") == f"chore: merge executor worktree ({agent.branch})"


def test_a_name_that_git_would_guess_at_is_not_taken_for_the_branch(world: World) -> None:
    agent = world.agent("a")
    decoy = world.git("commit-tree", "-p", "HEAD", "-m", "decoy", "HEAD^{tree}")
    world.git("update-ref", f"refs/tags/refs/heads/{agent.branch}", decoy)
    shutil.rmtree(agent.path)
    world.git("update-ref", "-d", f"refs/heads/{agent.branch}")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "branch_mismatch")
    assert not world.merged(decoy)
