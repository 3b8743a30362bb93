"""Is no process in it?"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from git_wave.gates.holders import GATE
from git_wave.state import census
from git_wave.state.census import take_census
from support.asking import CLEAR, ask, told
from support.mounts import mount
from support.repo import put
from support.standing import holding, mapping, running, standing_in, zombie_of
from support.world import World

NOBODY = 65534
IN_USE = ("blocks", "worktree_in_use")
FAILED = ("cannot_tell", "holders_check_failed")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with a file in a directory below; no repository is needed to be in it."""
    put(tmp_path / "tree/sub/file.txt", "text")
    return tmp_path / "tree"


def holds(tree: Path, *, full: bool = True) -> dict[int, str]:
    """Pid to how, of the processes in the tree."""
    found = take_census([tree], full=full)
    assert found.problem == ""
    return {hold.pid: hold.how for hold in found.holds.get(tree, ())}


def test_a_worktree_that_nobody_is_in_is_clear(world: World) -> None:
    assert told(ask(GATE, world, world.agent("a"))) == CLEAR


def test_a_process_that_stands_in_it_blocks_and_only_its_pid_and_place_are_told(world: World) -> None:
    agent = world.agent("a")
    with standing_in(agent.path / "src") as pid:
        answer = ask(GATE, world, agent)

    assert told(answer) == IN_USE
    assert answer.why == (f"pid {pid}: working directory {agent.path}/src",)


def test_at_most_ten_holders_are_told(world: World) -> None:
    agent = world.agent("a")
    crowd = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 600 & done; echo ready; wait"
    with running(["sh", "-c", crowd], agent.path, says_ready=True) as leader:
        family = psutil.Process(leader).children()
        answer = ask(GATE, world, agent)
        for child in family:
            child.kill()

    assert len(answer.why) == 11
    assert answer.why[-1] == "and 3 more processes"


@pytest.mark.parametrize("full", [True, False])
def test_a_directory_below_and_a_link_to_it_are_in_it_and_a_neighbour_is_not(tree: Path, full: bool) -> None:
    (tree.parent / "link").symlink_to(tree / "sub")
    (tree.parent / "tree-2").mkdir()
    with standing_in(tree.parent / "link") as inside, standing_in(tree.parent / "tree-2"):
        assert holds(tree, full=full) == {inside: "working directory"}


def test_a_tree_reached_by_a_link_is_the_same_tree(tree: Path) -> None:
    (tree.parent / "link").symlink_to(tree)
    with standing_in(tree) as pid:
        assert holds(tree.parent / "link") == {pid: "working directory"}


def test_a_directory_that_was_deleted_below_somebody_still_counts(tree: Path) -> None:
    (tree / "gone").mkdir()
    with standing_in(tree / "gone") as pid:
        (tree / "gone").rmdir()
        assert holds(tree) == {pid: "working directory"}


def test_a_bind_mount_of_the_tree_is_the_tree(tree: Path) -> None:
    place = tree.parent / "mounted"
    place.mkdir()
    mount("--bind", tree, place)
    try:
        with standing_in(place / "sub") as pid:
            found = holds(tree)
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    assert found == {pid: "working directory"}


def test_a_process_that_only_holds_a_file_open_is_found_by_a_full_look(tree: Path) -> None:
    with holding(tree / "sub/file.txt") as pid:
        assert holds(tree) == {pid: "open file"}
        assert holds(tree, full=False) == {}


def test_a_mapped_file_and_a_program_of_the_tree_are_found(tree: Path) -> None:
    program = shutil.copy2(shutil.which("sleep") or "", tree / "sub/program")
    with mapping(tree / "sub/file.txt") as mapped, running([program, "600"]) as started:
        found = holds(tree)

    assert (found[mapped], found[started]) == ("mapped file", "program")


def test_a_process_that_leaves_while_we_look_holds_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing_in(tree) as pid:
        listed = psutil.pids()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        monkeypatch.setattr(psutil, "pids", lambda: listed)

        assert pid in listed
        assert holds(tree) == {}
        assert pid not in take_census([tree]).unreadable


def test_a_zombie_holds_nothing(tree: Path) -> None:
    with zombie_of(tree) as pid:
        assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        assert holds(tree) == {}
        assert pid not in take_census([tree]).unreadable


def test_this_process_does_not_count_wherever_it_stands(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)

    assert holds(tree) == {}


def test_an_ancestor_counts(tree: Path) -> None:
    outer = os.fork()
    if outer == 0:
        code = 1
        try:
            os.chdir(tree)
            inner = os.fork()
            if inner == 0:
                os.chdir("/")
                os._exit(int(holds(tree) != {os.getppid(): "working directory"}))
            code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(outer, 0)[1]) == 0


def test_one_look_serves_many_trees_nested_ones_too(tree: Path) -> None:
    other = tree.parent / "other"
    other.mkdir()
    with standing_in(tree / "sub") as inner, standing_in(other) as second:
        found = take_census([tree, tree / "sub", other, tree.parent / "absent"]).holds

    assert {place: [hold.pid for hold in held] for place, held in found.items()} == {
        tree: [inner],
        tree / "sub": [inner],
        other: [second],
    }


def unlisted() -> list[int]:
    return [pid for pid in range(1, 10) if pid != os.getpid()]


def denied() -> list[int]:
    raise psutil.AccessDenied(1)


@pytest.mark.parametrize("pids", [unlisted, denied])
def test_a_look_that_fails_or_does_not_find_us_proves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, pids: object
) -> None:
    agent = world.agent("a")
    monkeypatch.setattr(psutil, "pids", pids)

    assert told(ask(GATE, world, agent)) == FAILED


def test_a_process_list_of_another_namespace_proves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent("a")
    with standing_in(world.root):
        monkeypatch.setattr(census, "PROC", str(put(world.tmp / "proc/self/stat", "").parents[1]))
        (world.tmp / "proc/self/cwd").symlink_to("/")

        assert told(ask(GATE, world, agent)) == FAILED


def test_processes_that_hide_are_counted_with_ten_pids_and_stop_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    hidden = [str(pid) for pid in psutil.pids() if pid != os.getpid()]
    with standing_in(agent.path) as visible:
        monkeypatch.setattr(psutil, "pids", lambda: [*map(int, hidden), os.getpid(), visible])
        monkeypatch.setattr(census, "is_ours", lambda home: True)
        real = os.readlink

        def refuse(path: str) -> str:
            if str(path).split("/")[2] in hidden:
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(census.os, "readlink", refuse)
        answer = ask(GATE, world, agent)

    assert told(answer) == IN_USE
    (warning,) = answer.warnings
    assert warning.code == "processes_unreadable"
    assert (warning.detail or "").startswith(f"{len(hidden)} could not be looked into: pid ")
    assert (warning.detail or "").count(",") == min(len(hidden), 11) - 1


def test_an_agent_in_one_worktree_leaves_another_clear(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")
    with standing_in(one.path):
        assert told(ask(GATE, world, two)) == CLEAR


def test_where_there_is_no_proc_the_same_is_asked_of_psutil(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "has_proc", lambda: False)
    program = shutil.copy2(shutil.which("sleep") or "", tree / "program")
    with standing_in(tree / "sub") as inside, holding(tree / "sub/file.txt") as holder, zombie_of(tree):
        with running([program, "600"]) as started:
            assert holds(tree) == {inside: "working directory", holder: "open file", started: "program"}
            assert holds(tree, full=False) == {inside: "working directory", started: "program"}


def as_nobody(work: Callable[[], object]) -> int:
    """A process of another user that does this."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        os.setresuid(NOBODY, NOBODY, NOBODY)
        code = int(not work())
    finally:
        os._exit(code)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_of_processes_that_cannot_be_read_only_ones_of_the_same_user_count(tmp_path: Path) -> None:
    # Who gives up being root is closed to others of the same user; a program that root starts is root's.
    reader, writer = os.pipe()
    closed, root = as_nobody(lambda: os.write(writer, b"so far") and signal.pause()), os.getpid()
    assert os.read(reader, 6) == b"so far"

    def judged() -> bool:
        found = take_census([Path("/nowhere")])
        return closed in found.unreadable and root not in found.unreadable and not found.problem

    try:
        assert os.waitstatus_to_exitcode(os.waitpid(as_nobody(judged), 0)[1]) == 0
    finally:
        os.kill(closed, signal.SIGKILL)
        os.waitpid(closed, 0)
        for end in (reader, writer):
            os.close(end)


def test_only_a_pid_is_kept_of_a_process(tree: Path) -> None:
    with standing_in(tree):
        (hold,) = take_census([tree]).holds[tree]

    assert set(hold.__slots__) == {"pid", "how", "path"}


def test_a_visitor_who_leaves_in_time_is_nobody_who_works_there(tmp_path: Path) -> None:
    with running(["sh", "-c", "echo ready; sleep 0.2"], tmp_path, says_ready=True):
        assert take_census([tmp_path], patience=60).holds == {}


def test_whoever_stays_longer_than_that_counts(tmp_path: Path) -> None:
    with standing_in(tmp_path) as pid:
        (hold,) = take_census([tmp_path], patience=0.1).holds[tmp_path]

    assert (hold.pid, hold.how) == (pid, "working directory")
