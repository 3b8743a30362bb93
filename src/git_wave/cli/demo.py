"""`git wave demo`: a wave of eight agents in a throwaway repository, landed by the real command."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.model.errors import GitError, Refusal
from git_wave.model.explanations import EXPLANATIONS
from git_wave.model.reasons import Reason
from git_wave.settings import GIT_TIMEOUT

START: Mapping[str, str | None] = {
    "README.md": "# Demo\n\nOne line that two agents edit.\n",
    "LICENSE": "Do as you like.\n",
    "src/app.py": "print('hello')\n",
    "src/old.py": "print('nobody calls this')\n",
}


@dataclass(frozen=True, slots=True)
class Agent:
    """What one agent does, and how it has to end. A file's content None deletes it; `left` stays uncommitted.

    `code` is the reason or warning that the command must give; a blocked entry has a reason other than `ok`.
    """

    name: str
    story: str
    lands: bool
    code: Reason
    commits: Mapping[str, str | None]
    left: Mapping[str, str | None] = field(default_factory=dict)
    declares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    vanishes: bool = False

    @property
    def branch(self) -> str:
        return f"agent-{self.name}"


AGENTS = (
    Agent("clean", "edits the README and commits", True, Reason.OK,
          {"README.md": "# Demo\n\nOne line, edited by the first.\n"}),
    Agent("gone", "commits; its worktree is deleted by the harness", True, Reason.ACCEPTED_ABSENT_WORKTREE,
          {"src/gone.py": "pass\n"}, vanishes=True),
    Agent("summary", "commits code, leaves its SUMMARY uncommitted", True, Reason.SUMMARY_RESCUED,
          {"src/feature.py": "pass\n"}, {".planning/01-SUMMARY.md": "What was done, and why.\n"}),
    Agent("tidy", "deletes src/old.py, as its plan declared", True, Reason.OK,
          {"src/old.py": None}, declares={"declared_deletions": ["src/old.py"]}),
    Agent("vandal", "deletes LICENSE, which nobody declared", False, Reason.BRANCH_CONTAINS_DELETIONS,
          {"LICENSE": None, "src/vandal.py": "pass\n"}),
    Agent("dirty", "commits, then writes a file it never commits", False, Reason.WORKTREE_DIRTY,
          {"src/dirty.py": "pass\n"}, {"notes.txt": "not committed yet\n"}),
    Agent("rival", "edits the line that `clean` edits too", False, Reason.MERGE_FAILED,
          {"README.md": "# Demo\n\nOne line, edited by the second.\n"}),
    Agent("roamer", "declares src/ and changes docs/ as well", True, Reason.SCOPE_OUT_OF_DECLARED,
          {"src/roamer.py": "pass\n", "docs/guide.md": "# Guide\n"}, declares={"files_modified": ["src/"]}),
)  # fmt: skip


@click.command("demo", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--keep", is_flag=True, help="Leave the repository there and say where.")
def command(keep: bool) -> int:
    """Land a wave of eight agents in a throwaway repository and explain each outcome.

    Exit 0 means that every agent ended as it should: some landed, some rightly blocked.
    """
    try:
        with throwaway(keep) as directory:
            return show(Demo(directory))
    except (GitError, Refusal, OSError) as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def throwaway(keep: bool) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="git-wave-demo-")).resolve()
    try:
        yield directory
    finally:
        if keep:
            click.echo(f"\nKept: {directory} (the checkout is {directory.name}/main)")
        else:
            shutil.rmtree(directory, ignore_errors=True)


class Demo:
    """The repository of the demo: a main checkout, the agents' worktrees beside it, and a manifest."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.main = directory, directory / "main"
        self.environ = sealed(directory / "home")
        self.door = Door(self.environ, GIT_TIMEOUT)
        self.manifest = directory / "wave.json"
        self.tips: dict[str, str] = {}

    def build(self) -> None:
        for folder in (self.main, self.directory / "home"):
            folder.mkdir()
        self.git("init", "--quiet", "--template=", "--initial-branch=main")
        base = self.commit(self.main, START, "start")
        entries = [self.work(agent, base) for agent in AGENTS]
        self.manifest.write_text(json.dumps({"orchestrator_root": str(self.main), "worktrees": entries}, indent=2))

    def work(self, agent: Agent, base: str) -> dict[str, Any]:
        """Let one agent do its work; its entry in the manifest."""
        worktree = self.directory / agent.name
        self.git("worktree", "add", "--quiet", "-b", agent.branch, str(worktree), base)
        self.tips[agent.name] = self.commit(worktree, agent.commits, agent.story)
        write_files(worktree, agent.left)
        if agent.vanishes:
            shutil.rmtree(worktree)
        told = {"agent_id": agent.name, "worktree_path": str(worktree), "branch": agent.branch, "expected_base": base}
        return {**told, **agent.declares}

    def commit(self, where: Path, files: Mapping[str, str | None], subject: str) -> str:
        write_files(where, files)
        self.git("add", "--all", cwd=where)
        self.git("commit", "--quiet", "-m", subject, cwd=where)
        return self.git("rev-parse", "HEAD", cwd=where).text.strip()

    def git(self, *args: str, cwd: Path | None = None, ok: Sequence[int] = (0,)) -> Answer:
        return self.door.run(cwd or self.main, args, ok=ok)

    def ended_as_told(self, agent: Agent) -> bool:
        """Judged by git and the files on disk, not by what the command said."""
        tip, worktree = self.tips[agent.name], self.directory / agent.name
        merged = self.git("merge-base", "--is-ancestor", tip, "main", ok=(0, 1)).code == 0
        branch = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{agent.branch}").text.strip()
        registered = f"worktree {worktree}\0" in self.git("worktree", "list", "--porcelain", "-z").text
        home = self.main if agent.lands else worktree
        safe = all((home / path).is_file() for path in agent.left)
        return safe and (merged, branch, registered) == ((True, "", False) if agent.lands else (False, tip, True))


def sealed(home: Path) -> dict[str, str]:
    """The caller's environment without a trace of the user's git configuration."""
    kept = {k: v for k, v in os.environ.items() if k == "GIT_EXEC_PATH" or not k.startswith(("GIT_", "XDG_"))}
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", "git-wave demo"), ("EMAIL", "demo@example.invalid"))}  # fmt: skip
    return {**kept, **who, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def write_files(where: Path, files: Mapping[str, str | None]) -> None:
    for path, content in files.items():
        if content is None:
            (where / path).unlink()
        else:
            (where / path).parent.mkdir(parents=True, exist_ok=True)
            (where / path).write_text(content)


class Shortened:
    """Standard output on which paths are shown from the demo's directory, also those folded to fit a line."""

    def __init__(self, stream: Any, directory: Path) -> None:
        self._stream, self.said = stream, ""
        self._prefix = re.compile("( \n)?" + "\n?".join(map(re.escape, f"{directory}/")))

    def write(self, text: str) -> int:
        self.said += text
        self._stream.write(self._prefix.sub(lambda match: "\n" if match[1] else "", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def show(demo: Demo) -> int:
    demo.build()
    click.echo("Eight agents worked in parallel, each in its own worktree:\n")
    for agent in AGENTS:
        click.echo(f"  {agent.name:<9}{agent.story}")
    show_repository(demo)
    click.echo("\n$ cleanup-wave --manifest wave.json --format text\n")
    code, said = land(demo)
    show_repository(demo)
    explain(code)
    return verdict(demo, code, said)


def show_repository(demo: Demo) -> None:
    for args in (["log", "--graph", "--oneline", "--all"], ["worktree", "list"]):
        answer = demo.git(*args).text.rstrip("\n").replace(f"{demo.directory}/", "")
        click.echo(f"\n$ git {' '.join(args)}\n{answer}")


def land(demo: Demo) -> tuple[int, str]:
    """Run the real command in this process; its exit code and what it printed."""
    from git_wave.cli.main import run

    before, out = dict(os.environ), Shortened(sys.stdout, demo.directory)
    try:
        os.environ.clear()
        os.environ.update(demo.environ)
        if not sys.stdout.isatty():
            os.environ.setdefault("COLUMNS", "80")
        with redirect_stdout(out):
            code = run(["--manifest", str(demo.manifest), "--format", "text"], prog="cleanup-wave")
    finally:
        os.environ.clear()
        os.environ.update(before)
    return code, out.said


def explain(code: int) -> None:
    click.echo(f"\nWhat it means (exit {code}; `git wave explain CODE` says more):\n")
    for agent in AGENTS:
        outcome = "landed" if agent.lands else "blocked"
        click.echo(f"  {agent.name}: {outcome}{'' if agent.code is Reason.OK else f', {agent.code}'}")
        meaning = EXPLANATIONS[agent.code].meaning
        click.echo(textwrap.fill(meaning, 78, initial_indent="    ", subsequent_indent="    "))


def verdict(demo: Demo, code: int, said: str) -> int:
    wrong = [a.name for a in AGENTS if not demo.ended_as_told(a) or (a.code is not Reason.OK and a.code not in said)]
    if wrong or code != 1:
        click.echo(f"\nNot as it should be: exit {code}; {', '.join(wrong) or 'every agent as it should'}")
        return 1
    click.echo("\nThe command exits 1, as intended: some entries are blocked, and a script that")
    click.echo("calls it must not go on as if all had landed. Every agent ended as it should.")
    return 0
