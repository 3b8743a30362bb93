"""What it costs to find out who is in worktrees, with a thousand processes: quick and full, one worktree and many.

A benchmark, run by `make bench` and never by the tests. The processes are shells with some files open, started for it.
"""

import argparse
import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from git_wave.state.census import take_census

CHILD = " ".join(f"exec {number}</dev/null;" for number in range(3, 10)) + " exec sleep 600"


@contextlib.contextmanager
def crowd(count: int, standing: list[Path]) -> Iterator[None]:
    """So many processes; the first ones stand in these directories."""
    places = [*standing, *([Path("/")] * (count - len(standing)))]
    children = [subprocess.Popen(["sh", "-c", CHILD], cwd=place) for place in places]
    try:
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def best(rounds: int, trees: list[Path], *, full: bool) -> tuple[float, int]:
    """Milliseconds, and how many of the trees somebody is in."""
    times, found = [], 0
    for _ in range(rounds):
        began = time.perf_counter()
        census = take_census(trees, full=full)
        times.append((time.perf_counter() - began) * 1000)
        if census.problem:
            raise SystemExit(census.problem)
        found = len(census.holds)
    return min(times), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="git-wave-bench-") as directory:
        trees = [Path(directory).resolve() / str(number) for number in range(args.trees)]
        for tree in trees:
            tree.mkdir()
        with crowd(args.processes, trees[:10]):
            print(f"{len(psutil.pids()):,} processes")
            for full in (False, True):
                for some in (trees[:1], trees):
                    took, found = best(args.rounds, some, full=full)
                    name = "full" if full else "quick"
                    print(f"  {name:<6}{len(some):5} worktrees {took:8.1f} ms   ({found} with somebody in)")


if __name__ == "__main__":
    main()
