"""Every journal write cut at every class of byte, by a kill or a failing disk. The same command again finishes."""

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from faults.conftest import Lengths, Scene
from support.forked import run_forked
from support.points import fault_points

Record = Callable[[str, object], None]

# How much of the line reaches the file before the fault; None is all of it, and the fault comes at the fsync.
CUTS: dict[str, Callable[[bytes], bytes] | None] = {
    "before its first byte": lambda line: b"",
    "after its first byte": lambda line: line[:1],
    "in the middle": lambda line: line[: len(line) // 2],
    "before its newline": lambda line: line[:-1],
    "before the fsync": None,
}
AFTER = "after the fsync"
DEADLY = [*CUTS, AFTER]
KINDS = [("killed", cut) for cut in DEADLY] + [("failing", cut) for cut in CUTS]
STEP = 37
SAMPLE = [(*kind, 1 + 2 * number) for number, kind in enumerate(KINDS)]
REST = [(*kind, start) for kind in KINDS for start in range(1, STEP + 1) if (*kind, start) not in SAMPLE]


@dataclass
class Faulty:
    """Stands in for the system calls by which a journal line gets to the disk, and strikes at one line."""

    number: int
    cut: str
    deadly: bool
    lines: int = 0
    journals: set[int] = field(default_factory=set)
    real: dict[str, Any] = field(
        default_factory=lambda: {n: getattr(os, n) for n in ("open", "write", "fsync", "close")}
    )

    def install(self) -> None:
        for name in self.real:
            setattr(os, name, getattr(self, name))

    def uninstall(self) -> None:
        for name, function in self.real.items():
            setattr(os, name, function)

    def strike(self) -> None:
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open(self, path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        descriptor: int = self.real["open"](path, flags, *args, **kwargs)
        if str(path).endswith(".jsonl") and flags & os.O_APPEND:
            self.journals.add(descriptor)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> int:
        if descriptor in self.journals:
            self.lines += 1
            cut = CUTS.get(self.cut)
            if self.lines == self.number and cut:
                self.real["write"](descriptor, cut(data))
                self.strike()
        return int(self.real["write"](descriptor, data))

    def fsync(self, descriptor: int) -> None:
        ours = descriptor in self.journals and self.lines == self.number
        if ours and CUTS.get(self.cut, self.strike) is None:
            self.strike()
        self.real["fsync"](descriptor)
        if ours and self.cut == AFTER:
            self.strike()

    def close(self, descriptor: int) -> None:
        self.journals.discard(descriptor)
        self.real["close"](descriptor)


def torn(path: Path) -> bool:
    return not path.read_bytes().endswith(b"\n")


def check_lines(how: str, cut: str, start: int, lengths: Lengths, scene: Scene, record: Record) -> None:
    with fault_points(f"journal line {how}", record) as points:
        for number in range(start, lengths.lines + 1, STEP):
            with points.at(f"journal line {number} {how} {cut}"):
                five = scene(number)
                faulty = Faulty(number, cut, how == "killed")
                if faulty.deadly:
                    code = run_forked("cleanup-wave", five.argv, faulty.install)
                    assert code == -9, f"ended with {code}"
                else:
                    faulty.install()
                    try:
                        run = five.world.wave(five.manifest)
                    finally:
                        faulty.uninstall()
                    assert faulty.lines >= number, "the wave wrote fewer lines this time"
                    five.assert_honest(run)
                five.assert_nothing_lost()
                five.finish()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("how", "cut", "start"), SAMPLE)
def test_a_journal_line_is_cut_and_the_same_command_finishes(
    how: str, cut: str, start: int, lengths: Lengths, scene: Scene, record_property: Record
) -> None:
    check_lines(how, cut, start, lengths, scene, record_property)


@pytest.mark.deep
@pytest.mark.parametrize(("how", "cut", "start"), REST)
def test_any_other_journal_line_is_cut_and_the_same_command_finishes(
    how: str, cut: str, start: int, lengths: Lengths, scene: Scene, record_property: Record
) -> None:
    check_lines(how, cut, start, lengths, scene, record_property)


def test_a_cut_before_the_newline_leaves_a_torn_line(scene: Scene) -> None:
    """The stand-in strikes where it says: without this the cuts would prove nothing."""
    five = scene("torn")

    assert run_forked("cleanup-wave", five.argv, Faulty(3, "before its newline", True).install) == -9

    (journal,) = (five.world.root / ".git/git-wave/waves").glob("*.jsonl")
    assert torn(journal)
    assert journal.read_bytes().count(b"\n") == 2
