"""What a wave costs: time per entry, stage and git call beside a plain shell script, memory, and start-up.

A benchmark, run by `make bench` and never by the tests. Both ways land the same wave in the same repository,
turn about, and the best of the rounds counts. `--quick` makes everything small.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from git_wave.cli import cleanup
from git_wave.cli.main import run
from git_wave.model.entry import Entry
from git_wave.wave import Ended, Observer
from support.repo import REAL_GIT, Repo
from support.sealed import sealed_variables
from support.shim import subcommand

BIN = Path(sys.executable).parent
EDITS = 5
"""Files that each agent edits, and as many again that it adds."""

SCRIPT = """\
set -eu
cd "$1"
while read -r path branch base; do
    [ "$(git -C "$path" rev-parse --abbrev-ref HEAD)" = "$branch" ]
    [ "$(git merge-base HEAD "$branch")" = "$base" ]
    [ -z "$(git diff --diff-filter=D --name-only "HEAD...$branch")" ]
    [ -z "$(git -C "$path" status --porcelain --untracked-files=all)" ]
    git merge "$branch" --no-ff --no-edit
    git worktree remove --force "$path"
    git branch -D "$branch"
done <"$2"
"""
PEAK = """\
import sys
from git_wave.cli.main import run
code = run(sys.argv[1:], prog="cleanup-wave")
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True)
class Size:
    """`files` in the repository, `entries` in the wave, each of which edits and adds `edits` files."""

    files: int
    entries: int
    edits: int = EDITS

    def __str__(self) -> str:
        return f"{self.files:,} files x {self.entries} entries"


class Field(Repo):
    """A repository in which the same wave can be set up again and again."""

    def __init__(self, directory: Path, size: Size) -> None:
        env = {"PATH": os.environ["PATH"]} | sealed_variables(directory / "home")
        super().__init__(directory / "main", env)
        self.directory, self.size = directory, size
        self.branches = [f"agent-{number}" for number in range(size.entries)]
        self.manifest, self.lines = directory / "wave.json", directory / "wave.txt"
        self.root.mkdir(parents=True)
        self.git("init", "-q", "--template=", "-b", "main")
        self.git("config", "gc.auto", "0")
        self.git("fast-import", "--quiet", stdin="".join(self._history()))
        self.git("gc", "-q")
        self.base = self.git("rev-parse", "refs/bench/base")
        self._write_lists()

    def _history(self) -> Iterator[str]:
        files, edits = self.size.files, self.size.edits
        yield from self._commit("refs/bench/base", None, [(place(n), f"line {n}\n" * 20) for n in range(files)])
        for number, branch in enumerate(self.branches):
            mine = range(number * edits, (number + 1) * edits)
            changed = [(place(n), f"edited {n}\n" * 20) for n in mine]
            added = [(f"src/new/{branch}/{n // 100}/{n}.txt", f"added {n}\n" * 20) for n in mine]
            yield from self._commit(f"refs/bench/{branch}", "refs/bench/base", [*changed, *added])

    def _commit(self, ref: str, parent: str | None, files: list[tuple[str, str]]) -> Iterator[str]:
        yield f"commit {ref}\ncommitter Bench <bench@example.invalid> 1700000000 +0000\ndata 5\nwork\n\n"
        if parent:
            yield f"from {parent}\n"
        for path, content in files:
            yield f"M 100644 inline {path}\ndata {len(content)}\n{content}\n"

    def _write_lists(self) -> None:
        entries = [
            {
                "agent_id": branch,
                "worktree_path": str(self.worktree(branch)),
                "branch": branch,
                "expected_base": self.base,
                "files_modified": ["src"],
            }
            for branch in self.branches
        ]
        self.manifest.write_text(json.dumps({"orchestrator_root": str(self.root), "worktrees": entries}))
        self.lines.write_text("".join(f"{self.worktree(b)} {b} {self.base}\n" for b in self.branches))

    def worktree(self, branch: str) -> Path:
        return self.directory / "worktrees" / branch

    def set_up(self) -> None:
        self.git("reset", "-q", "--hard", self.base)
        for branch in self.branches:
            self.git("worktree", "add", "-q", "-b", branch, self.worktree(branch), f"refs/bench/{branch}")

    def require_landed(self) -> None:
        merges = self.git("rev-list", "--first-parent", "--count", f"{self.base}..main")
        left = self.git("for-each-ref", "refs/heads/agent-*") or list((self.directory / "worktrees").iterdir())
        if int(merges) != self.size.entries or left:
            raise SystemExit(f"the wave did not land: {merges} merges, left: {left}")


def place(number: int) -> str:
    return f"src/{number // 1000}/{number // 100 % 10}/{number}.txt"


@contextlib.contextmanager
def field_of(size: Size) -> Iterator[Field]:
    with tempfile.TemporaryDirectory(prefix="git-wave-bench-") as directory:
        yield Field(Path(directory).resolve(), size)


# -- the two ways


def by_command(field: Field) -> list[str]:
    return [str(BIN / "cleanup-wave"), "--manifest", str(field.manifest), "--format", "json"]


def by_script(field: Field) -> list[str]:
    return ["sh", "-c", SCRIPT, "sh", str(field.root), str(field.lines)]


def timed(field: Field, argv: Sequence[str], path: str = "") -> float:
    """Seconds that a program takes to land the wave."""
    field.set_up()
    env = field.env | ({"PATH": path} if path else {})
    began = time.perf_counter()
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{argv[0]} exited {done.returncode}\n{done.stdout}{done.stderr}")
    field.require_landed()
    return took


def compare(field: Field, rounds: int) -> None:
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(timed(field, by_command(field)))
        theirs.append(timed(field, by_script(field)))
    for name, times in (("cleanup-wave", ours), ("shell script", theirs)):
        each = ", ".join(f"{one:.2f}" for one in times)
        print(f"  {name:<14}{min(times) / field.size.entries * 1000:8.1f} ms an entry   (whole waves: {each} s)")
    print(f"  ratio         {min(ours) / min(theirs):8.2f}")


def count_calls(field: Field) -> None:
    """Processes per entry, by a `git` on PATH that notes each call."""
    shim, log = field.directory / "bin", field.directory / "calls"
    shim.mkdir()
    script = f'#!/bin/sh\necho >>{shlex.quote(str(log))}\nexec {shlex.quote(REAL_GIT)} "$@"\n'
    (shim / "git").write_text(script)
    (shim / "git").chmod(0o755)
    for name, argv in (("cleanup-wave", by_command(field)), ("shell script", by_script(field))):
        log.write_text("")
        timed(field, argv, f"{shim}:{field.env['PATH']}")
        calls = len(log.read_text().splitlines())
        print(f"  {name:<14}{calls:5} git processes, {calls / field.size.entries:.1f} an entry")


# -- where the time goes


@dataclass
class Stopwatch(Observer):
    """Seconds by stage, told by the wave itself."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _stage: str = ""
    _since: float = 0.0

    def stage_began(self, number: int, entry: Entry, stage: str) -> None:
        self._turn(stage)

    def entry_ended(self, number: int, ended: Ended) -> None:
        self._turn("")

    def _turn(self, stage: str) -> None:
        now = time.perf_counter()
        if self._stage:
            self.seconds[self._stage] += now - self._since
        self._stage, self._since = stage, now


class Calls(logging.Handler):
    """Milliseconds by git subcommand, told by the log of the door."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.times: dict[str, list[float]] = defaultdict(list)

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and record.msg.startswith("git %s"):
            args, _, milliseconds = record.args
            self.times[subcommand(list(args)) or "--version"].append(float(milliseconds))


def profile(field: Field) -> None:
    """One wave in this process, watched."""
    field.set_up()
    watch, calls = Stopwatch(), Calls()
    logger = logging.getLogger("git_wave.git")
    before = dict(os.environ), cleanup.view_for, logger.level
    try:
        os.environ.update(field.env)
        cleanup.view_for = lambda flags: contextlib.nullcontext(watch)
        logger.addHandler(calls)
        logger.setLevel(logging.DEBUG)
        began = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            code = run(by_command(field)[1:], prog="cleanup-wave")
        whole = time.perf_counter() - began
    finally:
        os.environ.clear()
        os.environ.update(before[0])
        cleanup.view_for = before[1]
        logger.removeHandler(calls)
        logger.setLevel(before[2])
    if code:
        raise SystemExit(f"exit {code}")
    field.require_landed()
    show_profile(field, watch, calls, whole)


def show_profile(field: Field, watch: Stopwatch, calls: Calls, whole: float) -> None:
    entries = field.size.entries
    print("  by stage, ms an entry:")
    for stage, seconds in watch.seconds.items():
        print(f"    {stage:<12}{seconds / entries * 1000:8.1f}")
    print(f"    {'around them':<12}{(whole - sum(watch.seconds.values())) / entries * 1000:8.1f}")
    print("  by git command:          calls   median ms   ms an entry")
    for name, times in sorted(calls.times.items(), key=lambda item: -sum(item[1])):
        print(f"    {name:<20}{len(times):10}{statistics.median(times):12.1f}{sum(times) / entries:14.1f}")
    inside = sum(map(sum, calls.times.values())) / 1000
    print(f"    outside git, all of it {(whole - inside) / entries * 1000:35.1f}")


# -- memory and start-up


def peak_memory(base: int, entries: int, counts: Sequence[int]) -> None:
    """Peak resident memory of the command alone, git not counted, by how many files each agent changes."""
    if not Path("/proc/self/status").exists():
        print("  (needs /proc)")
        return
    for count in counts:
        with field_of(Size(base, entries, count // 2)) as field:
            field.set_up()
            argv = [sys.executable, "-c", PEAK, *by_command(field)[1:]]
            done = subprocess.run(argv, env=field.env, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
            field.require_landed()
            print(f"  {count:7,} files changed by each of {entries}: {int(done.stderr.split()[-1]) / 1024:6.1f} MiB")


def start_up(rounds: int) -> None:
    with field_of(Size(10, 1, 1)) as field:
        record = str(BIN / "record-agent")
        flags = ["--agent-id=a", f"--path={field.worktree('agent-0')}", "--branch=agent-0", f"--base={field.base}"]
        empty = json.dumps({"orchestrator_root": str(field.root), "worktrees": []})
        calls = {
            "python -c pass": ["-c", "pass"],
            "record-agent --help": [record, "--help"],
            "record-agent, one agent": [record, "--manifest", str(field.manifest), *flags],
        }
        for name, args in calls.items():
            times = []
            for _ in range(rounds):
                field.manifest.write_text(empty)
                began = time.perf_counter()
                subprocess.run([sys.executable, *args], env=field.env, capture_output=True, check=True)
                times.append((time.perf_counter() - began) * 1000)
            field.manifest.write_text(empty)
            spent, costly = imports([sys.executable, "-X", "importtime", *args], field)
            print(f"  {name:<25}{min(times):7.0f} ms, of which imports {spent:4.0f} ms   {costly}")


def imports(argv: Sequence[str], field: Field) -> tuple[float, str]:
    """Milliseconds spent importing, and the top-level packages that cost most."""
    told = subprocess.run(argv, env=field.env, capture_output=True, text=True, check=True).stderr
    spent: dict[str, int] = defaultdict(int)
    for line in told.splitlines():
        own, _, name = (part.strip() for part in line.removeprefix("import time:").split("|"))
        if own.isdigit():
            spent[name.split(".")[0]] += int(own)
    top = sorted(spent, key=lambda name: -spent[name])[:4]
    return sum(spent.values()) / 1000, ", ".join(f"{name} {spent[name] / 1000:.0f}" for name in top)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small waves, one round")
    parser.add_argument("--rounds", type=int, default=3)
    quick, rounds = (args := parser.parse_args()).quick, args.rounds
    sizes = [Size(200, 5)] if quick else [Size(1000, 20), Size(20_000, 10)]
    parts: list[tuple[str, Callable[[], None]]] = [
        ("start-up", lambda: start_up(3 if quick else 10)),
        ("memory", lambda: peak_memory(1500 if quick else 15_000, 3, [10, 1000] if quick else [10, 1000, 10_000])),
    ]
    for size in sizes:
        with field_of(size) as field:
            print(f"{size}, {EDITS} edited and {EDITS} added by each")
            compare(field, 1 if quick else rounds)
            if size is sizes[0]:
                count_calls(field)
            profile(field)
    for title, part in parts:
        print(title)
        part()


if __name__ == "__main__":
    main()
