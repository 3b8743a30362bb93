"""A repository with agents at work in it, the command under test, and what plain git says afterwards."""

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.contract import assert_lines_published, assert_published
from support.repo import START, Repo, prose, put

IGNORE = "node_modules/\n*.log\nsecret.env\n"


@dataclass(frozen=True)
class Agent:
    """A linked worktree and its branch as they were when it was made; `tip` is its last commit then."""

    id: str
    path: Path
    branch: str
    base: str
    tip: str


@dataclass(frozen=True)
class Run:
    """What one call of the command gave back; `doc` is its standard output, read as one JSON document."""

    code: int
    out: str
    err: str
    doc: dict[str, Any]

    @property
    def entries(self) -> list[dict[str, Any]]:
        return self.doc["result"]["entries"]

    def entry(self, which: int | str | Agent = 0) -> dict[str, Any]:
        """The entry at a position, or the only one of a branch."""
        if isinstance(which, int):
            return self.entries[which]
        branch = which.branch if isinstance(which, Agent) else which
        (found,) = [entry for entry in self.entries if entry["branch"] == branch]
        return found

    def outcome(self, which: int | str | Agent = 0) -> tuple[str, str]:
        entry = self.entry(which)
        return entry["status"], entry["reason"]

    def warnings(self, which: int | str | Agent = 0, code: str | None = None) -> list[dict[str, Any]]:
        """An entry's warnings, or those of one code."""
        return [w for w in self.entry(which)["warnings"] if code in (None, w["code"])]

    def codes(self, which: int | str | Agent = 0) -> list[str]:
        return [w["code"] for w in self.warnings(which)]


def build_template(root: Path, env: Mapping[str, str]) -> None:
    """Five commits and fifteen files, packed."""
    root.mkdir(parents=True)
    repo = Repo(root, env)
    repo.git("init", "-q", "--template=", "-b", "main")
    topics = ["README.md", "LICENSE", "docs/guide.md", "docs/api/index.md", "docs/api/notes.md"]
    topics += [
        "src/app.py",
        "src/core/engine.py",
        "src/core/wheel.py",
        "src/util/text.py",
        "src/util/math.py",
    ]
    topics += ["tests/test_app.py", "tests/core/test_engine.py", "tests/data/sample.txt", "setup.cfg"]
    repo.commit(write={".gitignore": IGNORE}, message="start")
    for first in range(0, len(topics), 4):
        repo.commit(write={path: prose(path) for path in topics[first : first + 4]}, message=f"add {topics[first]}")
    repo.git("gc", "-q")


class World(Repo):
    """A main checkout at `root`, agents' worktrees below `worktree_dir`, both in the directory `tmp`."""

    def __init__(self, tmp: Path, template: Path, env: Mapping[str, str]) -> None:
        super().__init__(tmp / "main", env, START + 100_000)
        self.tmp = tmp
        self.worktree_dir = tmp / "wt"
        shutil.copytree(template, self.root, symlinks=True)

    # --- what happened before the wave

    def agent(
        self,
        name: str,
        write: Mapping[str, str | bytes] | None = None,
        delete: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        *,
        commit: bool = True,
        branch: str | None = None,
        path: Path | None = None,
    ) -> Agent:
        """An agent's worktree, forked from HEAD. Told nothing to do, the agent commits `<name>.txt`; with
        `write={}` it commits nothing, and with `commit=False` its changes stay uncommitted."""
        branch = branch or f"worktree-agent-{name}"
        path = path or self.worktree_dir / name
        base = self.git("rev-parse", "HEAD")
        self.git("worktree", "add", "-q", "-b", branch, path, base)
        if write is None and not delete and not rename:
            write = {f"{name}.txt": f"{name}\n"}
        tip = base
        if not commit:
            self.change(path, write, delete, rename)
        elif write or delete or rename:
            tip = self.commit(path, write, delete, rename, message=f"work of {name}")
        return Agent(f"agent-{name}", path, branch, base, tip)

    def hook(self, name: str, script: str) -> Path:
        """Install a hook of the main repository, given as the lines of a shell script."""
        path = put(self.root / ".git/hooks" / name, f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def entry(self, agent: Agent, **extra: Any) -> dict[str, Any]:
        return {
            "agent_id": agent.id,
            "worktree_path": str(agent.path),
            "branch": agent.branch,
            "expected_base": agent.base,
            **extra,
        }

    def manifest(self, *entries: Any, name: str = "wave.json", **top: Any) -> Path:
        """Write a manifest of agents, or of anything else verbatim."""
        listed = [self.entry(item) if isinstance(item, Agent) else item for item in entries]
        document = {"orchestrator_root": str(self.root), "worktrees": listed, **top}
        return put(self.tmp / name, json.dumps(document))

    # --- the wave

    def wave(self, *entries: Any, args: Sequence[str] = ()) -> Run:
        """Run `cleanup-wave` on agents, entries, or one manifest's path; no commit may be lost by it."""
        manifest = entries[0] if len(entries) == 1 and isinstance(entries[0], Path) else self.manifest(*entries)
        before = self._all_commits()
        code, out, err = run_command("cleanup-wave", ["--manifest", str(manifest), "--format", "json", *args])
        lost = before - self._all_commits()
        assert not lost, f"no longer reachable: {lost}\n{out}\n{err}"
        try:
            doc = json.loads(out)
        except ValueError as error:
            raise AssertionError(f"no JSON document (exit {code})\n--- out\n{out}\n--- err\n{err}") from error
        assert_published(doc)
        journal = self.root / f".git/git-wave/waves/{doc.get('wave', {}).get('id')}.jsonl"
        if journal.exists():
            assert_lines_published(journal)
        return Run(code, out, err, doc)

    def _all_commits(self) -> set[str]:
        return set(self.git("rev-list", "--all", check=False).split())

    # --- what plain git says

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def branches(self) -> dict[str, str]:
        """Short name to id."""
        lines = self.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads").splitlines()
        return dict(line.rsplit(" ", 1) for line in lines)

    def worktrees(self) -> dict[str, dict[str, str]]:
        """Registered path to its attributes (`HEAD`, `branch` as a full ref, `locked`, `prunable`, ...)."""
        records = self.git("worktree", "list", "--porcelain", "-z").removesuffix("\0\0").split("\0\0")
        parsed = [dict((line + " ").split(" ", 1) for line in record.split("\0")) for record in records]
        return {one.pop("worktree").rstrip(" "): {k: v.rstrip(" ") for k, v in one.items()} for one in parsed}

    def registered(self, agent: Agent) -> bool:
        return str(agent.path) in self.worktrees()

    def reachable(self, oid: str) -> bool:
        """Whether any ref or HEAD still leads to the commit."""
        return oid in self._all_commits()

    def merged(self, oid: str) -> bool:
        """Whether the main checkout's HEAD contains the commit."""
        return self.git_code("merge-base", "--is-ancestor", oid, "HEAD") == 0

    def landed(self, agent: Agent) -> bool:
        """Merged, and cleared away: directory, registration and branch."""
        cleared = agent.branch not in self.branches() and not self.registered(agent)
        return self.merged(agent.tip) and cleared and not os.path.lexists(agent.path)

    def untouched(self, agent: Agent) -> bool:
        """Branch at its tip, worktree registered, and none of the agent's own commits in HEAD."""
        kept = self.branches().get(agent.branch) == agent.tip and self.registered(agent)
        return kept and (agent.tip == agent.base or not self.merged(agent.tip))

    def fsck(self) -> str:
        """What fsck complains of: empty when the repository is whole."""
        done = self.git_run("fsck", "--no-dangling", "--no-progress", check=False)
        return done.stdout + done.stderr

    def snapshot(self) -> dict[str, Any]:
        """Everything of the user's in the main checkout; equal before and after when nothing was touched."""
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {
            "HEAD": (self.root / ".git/HEAD").read_text(),
            "refs": [line for line in refs if not line.startswith("refs/git-wave/")],
            "index": self.git("ls-files", "--stage", "-v", "-z").split("\0"),
            "status": self.git("--no-optional-locks", "status", "--porcelain", "-z", "--ignored", "-uall").split("\0"),
            "stash": self.git("stash", "list", "--format=%H").splitlines(),
            "config": [path.read_bytes() for path in (self.root / ".git/config", Path(self.env["GIT_CONFIG_GLOBAL"]))],
            "worktrees": self.worktrees(),
            "files": files_below(self.root),
        }


def files_below(root: Path) -> dict[str, bytes | str]:
    """Path to bytes (a symlink: to its target) of every file below a checkout, `.git` at its top left out."""
    found: dict[str, bytes | str] = {}
    for path in _walk(root):
        name = str(path.relative_to(root))
        if name.split("/", 1)[0] != ".git":
            found[name] = _content(path)
    return found


def _content(path: Path) -> bytes | str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return path.read_bytes() if path.is_file() else "neither file nor link"


def _walk(top: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        yield from (Path(folder) / name for name in [*names, *links])


def run_command(prog: str, argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in this process: exit code, standard output, standard error."""
    from git_wave.cli.main import run

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(argv), prog=prog)
    return code, _text(out), _text(err)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.detach().getvalue().decode()  # type: ignore[attr-defined]
