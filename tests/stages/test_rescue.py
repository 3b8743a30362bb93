"""Is every uncommitted SUMMARY safe in the main checkout?"""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import put
from support.shim import Shim
from support.world import World, files_below

FAILED = "summary_rescue_failed"
SUMMARY = ".planning/phases/01/01-SUMMARY.md"
TEXT = "what was done\r\n\x00\xff and no newline".encode("latin-1")


@pytest.mark.parametrize(
    "path",
    [
        SUMMARY,
        ".planning/SUMMARY.md",
        ".planning/a/b/c/d/x-SUMMARY.md",
        ".planning/-SUMMARY.md",
        ".planning/new\nline SUMMARY.md",
        '.planning/größe "q"/SUMMARY.md',
        os.fsdecode(b".planning/\xe9-SUMMARY.md"),
    ],
)
def test_uncommitted_summary_is_copied_to_the_same_place(world: World, path: str) -> None:
    agent = world.agent("a")
    put(agent.path / path, TEXT)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert (world.root / path).read_bytes() == TEXT
    assert world.git("ls-files", "--", ".planning") == ""
    (warning,) = run.warnings(agent, "summary_rescued")
    if path.isascii():
        assert run.entry()["rescued"] == [path]
        assert warning["path"] in (path, str(world.root / path))


def test_staged_but_uncommitted_summary_is_copied(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    world.git("add", SUMMARY, cwd=agent.path)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert (world.root / SUMMARY).read_bytes() == TEXT
    assert world.git("diff", "--cached", "--name-only") == ""


@pytest.mark.parametrize("ignored", [".planning/", "*SUMMARY.md", ".planning/phases/01"])
def test_summary_that_git_ignores_is_copied_too(world: World, ignored: str) -> None:
    put(world.root / ".git/info/exclude", ignored + "\n")
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert (world.root / SUMMARY).read_bytes() == TEXT


def test_rescued_summary_keeps_its_bytes_whatever_line_endings_the_user_wants(world: World) -> None:
    world.git("config", "--global", "core.autocrlf", "true")
    agent = world.agent("a")
    put(agent.path / SUMMARY, "one\ntwo\r\n")
    run = world.wave(agent)
    assert run.outcome() == ("merged_removed", "ok")
    assert (world.root / SUMMARY).read_bytes() == b"one\ntwo\r\n"


def test_several_summaries_are_all_copied_and_told(world: World) -> None:
    agent = world.agent("a")
    paths = [f".planning/phases/{n}/{n}-SUMMARY.md" for n in range(3)]
    for path in paths:
        put(agent.path / path, path)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert sorted(run.entry()["rescued"]) == paths
    assert [(world.root / path).read_text() for path in paths] == paths


def test_identical_summary_already_there_lands_and_is_left_alone(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    there = put(world.root / SUMMARY, TEXT)
    os.utime(there, (1, 1))
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert (there.read_bytes(), there.stat().st_mtime) == (TEXT, 1)


@pytest.mark.parametrize("tracked", [False, True])
def test_different_summary_already_there_is_not_overwritten(world: World, tracked: bool) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    put(agent.path / SUMMARY, "theirs")
    there = put(world.root / SUMMARY, "mine")
    if tracked:
        world.commit()
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, FAILED)
    assert there.read_text() == "mine"
    assert (agent.path / SUMMARY).read_text() == "theirs"
    assert SUMMARY in run.entry(agent)["stderr"]
    assert_landed(world, run, fine)


def test_two_agents_with_different_summaries_at_one_path_keep_both(world: World) -> None:
    first, second = world.agent("a"), world.agent("b")
    put(first.path / SUMMARY, "first")
    put(second.path / SUMMARY, "second")
    run = world.wave(first, second)
    assert_landed(world, run, first)
    assert_blocked(world, run, second, FAILED)
    assert (world.root / SUMMARY).read_text() == "first"
    assert (second.path / SUMMARY).read_text() == "second"


def test_committed_summary_comes_with_the_merge_and_is_not_rescued(world: World) -> None:
    agent = world.agent("a", write={SUMMARY: "committed"})
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert world.git("show", f"HEAD:{SUMMARY}") == "committed"
    assert run.entry()["rescued"] == []
    assert run.codes() == []


def test_edit_of_a_committed_summary_is_dirt_and_stays(world: World) -> None:
    agent = world.agent("a", write={SUMMARY: "committed"})
    put(agent.path / SUMMARY, "edited")
    run = world.wave(agent)
    assert_blocked(world, run, agent, "worktree_dirty")
    assert (agent.path / SUMMARY).read_text() == "edited"
    assert not (world.root / SUMMARY).exists()


def test_edit_staged_and_then_changed_again_survives_in_both_versions(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, "staged")
    world.git("add", SUMMARY, cwd=agent.path)
    put(agent.path / SUMMARY, "later")
    blob = world.git("rev-parse", f":{SUMMARY}", cwd=agent.path)
    run = world.wave(agent)
    if run.outcome() == ("merged_removed", "ok"):
        assert (world.root / SUMMARY).read_text() == "later"
    else:
        assert_blocked(world, run, agent, "worktree_dirty")
    assert world.git("cat-file", "-p", blob) == "staged"


def test_summary_is_rescued_before_other_dirt_blocks_and_the_repeat_lands(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    put(agent.path / "other.txt", "x")
    run = world.wave(agent)
    assert_blocked(world, run, agent, "worktree_dirty")
    assert "other.txt" in run.entry()["stderr"]
    assert SUMMARY not in run.entry()["stderr"]
    (agent.path / "other.txt").unlink()
    again = world.wave(agent)
    assert_all_landed(world, again, agent)
    assert (world.root / SUMMARY).read_bytes() == TEXT


def test_dry_run_copies_nothing(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    before = world.snapshot()
    run = world.wave(agent, args=["--dry-run"])
    assert run.outcome() == ("would_land", "ok")
    assert world.snapshot() == before


def test_dry_run_tells_a_rescue_that_would_fail(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    put(world.root / SUMMARY, "mine")
    run = world.wave(agent, args=["--dry-run"])
    assert_blocked(world, run, agent, FAILED)


@pytest.mark.parametrize("path", ["SUMMARY.md", "planning/SUMMARY.md", ".planning/SUMMARY.txt", ".planning/NOTES.md"])
def test_file_that_is_no_summary_is_dirt_not_rescued(world: World, path: str) -> None:
    agent = world.agent("a")
    put(agent.path / path, "x")
    run = world.wave(agent)
    assert_blocked(world, run, agent, "worktree_dirty")
    assert not (world.root / path).exists()


# --- symbolic links, on either side


def summary_is_a_link(worktree: Path, outside: Path) -> None:
    link = worktree / SUMMARY
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "secret.md")


def directory_is_a_link(worktree: Path, outside: Path) -> None:
    put(outside / "01/01-SUMMARY.md", "secret")
    (worktree / ".planning").mkdir()
    (worktree / ".planning/phases").symlink_to(outside)


def planning_is_a_link(worktree: Path, outside: Path) -> None:
    put(outside / "phases/01/01-SUMMARY.md", "secret")
    (worktree / ".planning").symlink_to(outside)


@pytest.mark.parametrize("stand_in", [summary_is_a_link, directory_is_a_link, planning_is_a_link])
@pytest.mark.parametrize("ignored", [False, True])
def test_symlink_in_the_worktree_is_not_followed(
    world: World, stand_in: Callable[[Path, Path], None], ignored: bool
) -> None:
    if ignored:
        put(world.root / ".git/info/exclude", ".planning\n")
    agent = world.agent("a")
    outside = put(world.tmp / "outside/secret.md", "secret").parent
    stand_in(agent.path, outside)
    before = files_below(outside)
    run = world.wave(agent)
    if ignored and run.outcome()[0] != "blocked":
        assert run.codes() == ["ignored_output_kept"]
        place = Path(run.warnings()[0]["path"])
        assert place.is_symlink() or any(path.is_symlink() for path in place.rglob("*"))
    else:
        assert_blocked(world, run, agent, run.outcome()[1])
        assert run.outcome()[1] in (FAILED, "worktree_dirty")
    assert files_below(outside) == before
    assert not os.path.lexists(world.root / ".planning") or files_below(world.root / ".planning") == {}


def linked_planning(root: Path, outside: Path) -> None:
    (root / ".planning").symlink_to(outside)


def linked_phases(root: Path, outside: Path) -> None:
    (root / ".planning").mkdir()
    (root / ".planning/phases").symlink_to(outside)


def linked_summary(root: Path, outside: Path) -> None:
    (root / SUMMARY).parent.mkdir(parents=True)
    (root / SUMMARY).symlink_to(outside / "new.md")


def linked_identical_summary(root: Path, outside: Path) -> None:
    (root / SUMMARY).parent.mkdir(parents=True)
    (root / SUMMARY).symlink_to(put(outside / "same.md", TEXT))


def file_for_directory(root: Path, outside: Path) -> None:
    put(root / ".planning/phases", "mine")


def directory_for_summary(root: Path, outside: Path) -> None:
    (root / SUMMARY).mkdir(parents=True)


@pytest.mark.parametrize(
    "obstacle",
    [
        linked_planning,
        linked_phases,
        linked_summary,
        linked_identical_summary,
        file_for_directory,
        directory_for_summary,
    ],
)
def test_rescue_never_leaves_the_main_checkout_nor_replaces_what_stands_there(
    world: World, obstacle: Callable[[Path, Path], None]
) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    put(agent.path / SUMMARY, TEXT)
    outside = world.tmp / "outside"
    outside.mkdir()
    obstacle(world.root, outside)
    before = files_below(outside), files_below(world.root)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, FAILED)
    assert_landed(world, run, fine)
    assert (agent.path / SUMMARY).read_bytes() == TEXT
    (world.root / "b.txt").unlink()
    assert (files_below(outside), files_below(world.root)) == before


def test_unreadable_summary_is_blocked_and_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the mode, which root may ignore: the file cannot be opened."""
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    real = os.open

    def refuse(path: str, *args: int, **options: int) -> int:
        if str(path) == SUMMARY.rpartition("/")[2]:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", refuse)

    run = world.wave(agent)

    assert_blocked(world, run, agent, FAILED)
    assert "Permission denied" in run.entry(agent)["stderr"]
    assert (agent.path / SUMMARY).read_bytes() == TEXT


@pytest.mark.parametrize("side", ["worktree", "main"])
def test_pipe_in_place_of_a_summary_is_not_waited_for(world: World, side: str) -> None:
    agent = world.agent("a")
    pipe = {"worktree": agent.path, "main": world.root}[side] / SUMMARY
    if side == "main":
        put(agent.path / SUMMARY, TEXT)
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    run = world.wave(agent)
    if side == "main":
        assert_blocked(world, run, agent, FAILED)
        assert pipe.is_fifo()
    else:
        assert run.outcome()[0] in ("blocked", "merged_removed")
        assert not (world.root / SUMMARY).exists()


def test_summary_changed_after_its_rescue_is_kept_in_both_versions(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, "first")
    shim.after("merge", f"echo second >{agent.path / SUMMARY}", nth=1)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", "worktree_remove_failed")
    assert (world.root / SUMMARY).read_text() == "first"
    assert (agent.path / SUMMARY).read_text() == "second\n"


def test_summary_of_a_worktree_inside_the_main_checkout_is_rescued(world: World) -> None:
    put(world.root / ".git/info/exclude", ".claude/\n")
    agent = world.agent("a", path=world.root / ".claude/worktrees/a")
    put(agent.path / SUMMARY, TEXT)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert (world.root / SUMMARY).read_bytes() == TEXT


def test_absent_worktree_has_nothing_to_rescue(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / SUMMARY, TEXT)
    shutil.rmtree(agent.path)
    run = world.wave(agent)
    assert_all_landed(world, run, agent)
    assert run.entry()["rescued"] == []
    assert not (world.root / ".planning").exists()
