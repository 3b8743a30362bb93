"""A disk that is full and directories that cannot be written: a clear error, exit 1, and nothing is lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.five import Five, copy_five
from support.mounts import fill, read_only, small_disk
from support.points import fault_points

Record = Callable[[str, object], None]
DISK = 8192
PAGE = 4096
STEP = 22
READ_ONLY = ["main/.git", "wt"]
DEEPER = ["main/.git/objects", "main/.git/refs", "main/.git/refs/heads", "main/.git/worktrees", "main"]


def assert_told(five: Five, argv: tuple[str, ...] = ()) -> bool:
    """Whether it ended well; otherwise exit 1, with a reason for the wave or for each entry, and words to it."""
    run = five.world.wave(five.manifest, args=argv)
    five.assert_honest(run)
    five.assert_nothing_lost()
    if run.code == 0:
        return True
    assert run.code == 1, run.doc
    reasons = [run.doc["reason"], *(entry["reason"] for entry in run.entries)]
    assert "internal_error" not in reasons, run.doc
    assert "Traceback" not in run.err, run.err
    blocked = [entry for entry in run.entries if entry["status"] != "merged_removed"]
    if not blocked:
        assert run.doc["result"]["error"], run.doc
    assert all(entry["stderr"] for entry in blocked), [(e["branch"], e["reason"]) for e in blocked if not e["stderr"]]
    return False


def check_full(built: Five, place: Path, pages: int) -> bool:
    with small_disk(place, DISK):
        five = copy_five(built, place / "five", dict(os.environ))
        filler = fill(place, pages * PAGE)
        well = assert_told(five)
        filler.unlink()
        if not well:
            five.finish()
        return well


def check_sizes(built: Five, tmp_path: Path, start: int, record: Record) -> None:
    """A little more room each time, until the wave has enough."""
    with fault_points("disk full", record) as points:
        for pages in range(start, 150, STEP):
            with points.at(f"{pages} pages of room"):
                if check_full(built, tmp_path / f"disk-{pages}", pages):
                    break


def test_a_disk_that_is_full_is_told_and_with_room_the_same_command_finishes(
    built: Five, tmp_path: Path, record_property: Record
) -> None:
    check_sizes(built, tmp_path, 0, record_property)


@pytest.mark.deep
@pytest.mark.parametrize("start", range(1, STEP))
def test_any_other_amount_of_room_is_told_and_with_room_the_same_command_finishes(
    built: Five, tmp_path: Path, record_property: Record, start: int
) -> None:
    check_sizes(built, tmp_path, start, record_property)


def check_read_only(built: Five, place: Path, where: str, record: Record) -> None:
    with fault_points("read-only", record) as points, points.at(where):
        five = copy_five(built, place, dict(os.environ))
        with read_only(five.world.tmp / where):
            assert not assert_told(five), "it cannot have ended well"
        five.finish()


@pytest.mark.parametrize("where", READ_ONLY)
def test_a_directory_that_cannot_be_written_is_told_and_then_the_same_command_finishes(
    built: Five, tmp_path: Path, record_property: Record, where: str
) -> None:
    check_read_only(built, tmp_path / "five", where, record_property)


@pytest.mark.deep
@pytest.mark.parametrize("where", DEEPER)
def test_another_directory_that_cannot_be_written_is_told_and_then_the_same_command_finishes(
    built: Five, tmp_path: Path, record_property: Record, where: str
) -> None:
    check_read_only(built, tmp_path / "five", where, record_property)


def test_no_room_for_gits_output_is_told(built: Five, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    five = copy_five(built, tmp_path / "five", dict(os.environ))
    before = five.world.snapshot()
    with small_disk(tmp_path / "tmp", 4):
        fill(tmp_path / "tmp", 0)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        assert not assert_told(five), "it cannot have ended well"
    monkeypatch.undo()
    assert five.world.snapshot() == before
