"""What `git wave create` costs beside plain `git worktree add`, with a replay beside that and plain `cp`.

A benchmark, run by `make bench` and never by the tests. All ways make a worktree of the same checkout, turn about, and
the best of the rounds counts. `--quick` makes everything small.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.repo import REAL_GIT, Repo, put
from support.sealed import sealed_variables
from support.shim import subcommand

BIN = Path(sys.executable).parent
ADD = 'set -eu; git -C "$1" worktree add -q -b "$2" "$1/.claude/worktrees/$2"'
# The same state by hand: a diff of what is tracked, a copy of what is not, and a commit of both.
COPY = f"""\
{ADD}
cd "$1"
git diff --binary HEAD >"$3/diff"
git ls-files -z --others --exclude-standard ':!.claude' >"$3/untracked"
git -C ".claude/worktrees/$2" apply --index "$3/diff"
xargs -0 cp -p --parents -t ".claude/worktrees/$2" <"$3/untracked"
git -C ".claude/worktrees/$2" add -A
git -C ".claude/worktrees/$2" commit -q --no-verify -m baseline
"""


@dataclass(frozen=True)
class Size:
    """Tracked files, of which every tenth of `edited` is only staged, and untracked ones of some kilobytes."""

    tracked: int
    untracked: int
    edited: int = 50

    def __str__(self) -> str:
        return f"create: {self.tracked:,} tracked, {self.untracked:,} untracked, {self.edited} edited"


class Checkout(Repo):
    """A checkout at which its user is at work; worktrees come and go in it."""

    def __init__(self, directory: Path, size: Size) -> None:
        env = {"PATH": os.environ["PATH"]} | sealed_variables(directory / "home")
        super().__init__(directory / "main", env)
        self.directory, self.size = directory, size
        self.manifest = directory / "wave.json"
        self.number = 0
        self.root.mkdir(parents=True)
        self.git("init", "-q", "--template=", "-b", "main")
        self.git("config", "gc.auto", "0")
        self.git("fast-import", "--quiet", stdin="".join(self._history()))
        self.git("gc", "-q")
        self.git("reset", "-q", "--hard")
        self._edit()

    def _history(self) -> Iterator[str]:
        yield "commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1700000000 +0000\ndata 5\nstart\n"
        for number in range(self.size.tracked):
            content = f"line {number}\n" * 20
            yield f"M 100644 inline {place(number)}\ndata {len(content)}\n{content}\n"

    def _edit(self) -> None:
        for number in range(self.size.edited):
            put(self.root / place(number), f"edited {number}\n" * 20)
        self.git("add", *(place(number) for number in range(0, self.size.edited, 10)))
        for number in range(self.size.untracked):
            put(self.root / f"notes/{number // 100}/{number}.txt", f"note {number}\n" * 300)

    def argv(self, way: str) -> list[str]:
        """A command that makes a worktree that does not exist yet."""
        self.number += 1
        script = [str(self.root), f"agent-{self.number}", str(self.directory)]
        if not way.startswith("create"):
            return ["sh", "-c", COPY if "cp" in way else ADD, "sh", *script]
        self.manifest.write_text(json.dumps({"orchestrator_root": str(self.root), "worktrees": []}))
        named = ["--manifest", str(self.manifest), "--agent-id", str(self.number), "--root", str(self.root)]
        replay = ["--replay-dirty"] if "replay" in way else []
        return [str(BIN / "git-wave"), "create", *named, *replay]

    def timed(self, way: str, path: str = "") -> float:
        """Seconds; the worktree is taken away again."""
        argv = self.argv(way)
        env = self.env | ({"PATH": path} if path else {})
        began = time.perf_counter()
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        took = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(f"{way}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        self.take_away(is_replay="replay" in way or "cp" in way)
        return took

    def take_away(self, *, is_replay: bool) -> None:
        made = self.root / f".claude/worktrees/agent-{self.number}"
        shown = sum(len(names) for _, _, names in os.walk(made / "notes"))
        if shown != (self.size.untracked if is_replay else 0):
            raise SystemExit(f"{shown} untracked files in {made}")
        self.git("worktree", "remove", "--force", made)
        self.git("branch", "-q", "-D", made.name)


def place(number: int) -> str:
    return f"src/{number // 1000}/{number // 100 % 10}/{number}.txt"


@contextmanager
def checkout_of(size: Size) -> Iterator[Checkout]:
    with tempfile.TemporaryDirectory(prefix="git-wave-bench-") as directory:
        yield Checkout(Path(directory).resolve(), size)


PAIRS = [("create", "git worktree add"), ("create with replay", "git worktree add, git apply, cp")]


def compare(checkout: Checkout, rounds: int) -> None:
    """Each way once to warm the caches, then turn about."""
    ways = [way for pair in PAIRS for way in pair]
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way in ways:
            took = checkout.timed(way)
            if number:
                times[way].append(took)
    for ours, theirs in PAIRS:
        for way in (ours, theirs):
            each = ", ".join(f"{one:.2f}" for one in times[way])
            print(f"  {way:<34}{min(times[way]) * 1000:8.0f} ms   ({each} s)")
        print(f"  {'ratio':<34}{min(times[ours]) / min(times[theirs]):8.2f}")


def count_calls(checkout: Checkout) -> None:
    """git processes, by a `git` on PATH that notes each call."""
    shim, log = checkout.directory / "bin", checkout.directory / "calls"
    shim.mkdir()
    script = f'#!/bin/sh\nprintf "%s\\n" "$*" >>{shlex.quote(str(log))}\nexec {shlex.quote(REAL_GIT)} "$@"\n'
    (shim / "git").write_text(script)
    (shim / "git").chmod(0o755)
    for pair in PAIRS:
        for way in pair:
            log.write_text("")
            checkout.timed(way, f"{shim}:{checkout.env['PATH']}")
            calls = log.read_text().splitlines()
            print(f"  {way:<34}{len(calls):8} git processes   {told(calls) if 'create' in way else ''}")


def told(calls: Sequence[str]) -> str:
    counts = Counter(subcommand(call.split()) or "--version" for call in calls)
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small checkout, one round")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    sizes = [Size(500, 50, 20)] if args.quick else [Size(1000, 20), Size(20_000, 1000)]
    for size in sizes:
        with checkout_of(size) as checkout:
            print(size)
            compare(checkout, 1 if args.quick else args.rounds)
            count_calls(checkout)


if __name__ == "__main__":
    main()
