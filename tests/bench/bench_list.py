"""What `git wave list` costs: seconds and git processes for many worktrees, beside plain git.

A benchmark, run by `make bench` and never by the tests. Each command runs several times and the best counts; processor
seconds, git's included, tell more than the clock where the machine has other work. `--quick` makes everything small.
"""

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.repo import REAL_GIT, Repo, put
from support.sealed import sealed_variables

BIN = Path(sys.executable).parent
FILES = 200


@dataclass(frozen=True)
class Cost:
    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.seconds:7.2f} s, {self.processor:6.2f} s of processor time"


class Field(Repo):
    """A repository whose agents' worktrees each hold `FILES` files, one edit and one commit."""

    def __init__(self, directory: Path, worktrees: int) -> None:
        super().__init__(directory / "main", {"PATH": os.environ["PATH"]} | sealed_variables(directory / "home"))
        self.directory = directory
        self.root.mkdir()
        self.git("init", "-q", "--template=", "-b", "main")
        self.commit(write={f"src/{number // 20}/{number}.txt": f"{number}\n" for number in range(FILES)})
        for number in range(worktrees):
            path = self.root / f".claude/worktrees/agent-{number}"
            self.git("worktree", "add", "-q", "-b", f"agent-{number}", path)
            self.commit(path, write={f"work/{number}": "done\n"})
            put(path / "draft", "x")

    def timed(self, argv: Sequence[str | Path], path: str = "") -> Cost:
        env = self.env | ({"PATH": path} if path else {})
        before, began = children(), time.perf_counter()
        done = subprocess.run(argv, cwd=self.root, env=env, capture_output=True, check=False)
        cost = Cost(time.perf_counter() - began, children() - before)
        if done.returncode:
            raise SystemExit(f"{argv} exited {done.returncode}\n{done.stderr.decode()}")
        return cost

    def calls(self, argv: Sequence[str | Path]) -> int:
        """How many git processes a command starts, by a `git` on PATH that notes each call."""
        shim, log = self.directory / "bin", self.directory / "calls"
        shim.mkdir()
        put(shim / "git", f'#!/bin/sh\necho >>{shlex.quote(str(log))}\nexec {shlex.quote(REAL_GIT)} "$@"\n')
        (shim / "git").chmod(0o755)
        self.timed(argv, f"{shim}:{self.env['PATH']}")
        return len(log.read_text().splitlines())


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


STATUS = 'for tree in .claude/worktrees/*; do git -C "$tree" status --porcelain --untracked-files=all; done'
"""The least that a shell would do to find out what may go."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few worktrees, one round")
    parser.add_argument("--worktrees", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    worktrees, rounds = (30, 1) if args.quick else (args.worktrees, args.rounds)
    ours = [BIN / "git-wave", "list", "--json"]
    with tempfile.TemporaryDirectory(prefix="git-wave-bench-") as directory:
        field = Field(Path(directory).resolve(), worktrees)
        print(f"git wave list, {worktrees} worktrees of {FILES} files")
        commands = {
            "git wave list": ours,
            "... sizes left out": [*ours, "--size-budget", "0"],
            "git status in each": ["sh", "-c", STATUS],
            "git worktree list": ["git", "worktree", "list"],
        }
        best = {
            name: min((field.timed(argv) for _ in range(rounds)), key=lambda cost: cost.seconds)
            for name, argv in commands.items()
        }
        for name, cost in best.items():
            print(f"  {name:<20}{cost}")
        calls = field.calls(ours)
        print(f"  {calls} git processes, {calls / worktrees:.2f} a worktree")
        for name in ("git status in each", "git worktree list"):
            print(f"  ratio to {name}: {best['git wave list'].seconds / best[name].seconds:.1f}")


if __name__ == "__main__":
    main()
