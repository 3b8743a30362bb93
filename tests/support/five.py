"""A wave of five in a checkout that its user is at work in, and what plain git must say of it after any fault."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from support.repo import prose, put
from support.world import Agent, Run, World, build_template

EDITS = {"docs/api/notes.md": "rewritten\n", "docs/api/mine.md": "new\n", "scratch.txt": "s\n", "secret.env": "k=v\n"}
SUMMARY = ".planning/1/01-SUMMARY.md"
STATUS = {" M docs/api/notes.md", "?? docs/api/mine.md", "?? scratch.txt", f"?? {SUMMARY}", "!! secret.env"}
NAMES = ("clean", "beside", "absent", "summary", "locked")


@dataclass(frozen=True)
class Five:
    """The repository, its five agents in the manifest's order, and where HEAD stood before any wave."""

    world: World
    agents: tuple[Agent, ...]
    manifest: Path
    start: str

    @property
    def argv(self) -> list[str]:
        return ["--manifest", str(self.manifest), "--format", "json"]

    def assert_nothing_lost(self) -> None:
        """Takes no lock: git of a killed run may still be at work."""
        reachable = set(self.world.git("rev-list", "--all").split())
        lost = [agent.id for agent in self.agents if agent.tip not in reachable]
        assert not lost, f"tips no longer reachable: {lost}"
        assert self.start in reachable, "the old HEAD is no longer reachable"
        changed = [path for path, text in EDITS.items() if (self.world.root / path).read_text() != text]
        assert not changed, f"edits of the user's changed: {changed}"
        wanted = [self.world.worktree_dir / "summary" / SUMMARY, self.world.root / SUMMARY]
        assert any(path.exists() and path.read_text() == "done\n" for path in wanted), "the SUMMARY is gone"
        assert set(self._outputs()) == {"output\n"}, "the ignored output is gone"

    def finish(self, reruns: int = 2) -> list[Run]:
        """Run the same command again until it exits 0, and once more, which must move nothing."""
        runs: list[Run] = []
        while not runs or (runs[-1].code and len(runs) < reruns):
            runs.append(self.world.wave(self.manifest))
            self.assert_nothing_lost()
        told = [(entry["branch"], entry["status"], entry["reason"], entry["stderr"]) for entry in runs[-1].entries]
        assert runs[-1].code == 0, f"after {len(runs)} reruns: {runs[-1].doc['reason']} {told}"
        self.assert_done()
        return runs

    def assert_done(self) -> None:
        """All five landed, each by one merge, and nothing is left over."""
        world, common = self.world, self.world.root / ".git"
        merged = world.git("log", "--first-parent", "--reverse", "--format=%P", f"{self.start}..HEAD").splitlines()
        status = world.git("--no-optional-locks", "status", "--porcelain", "--ignored", "-uall").splitlines()
        in_progress = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "git-wave/holder.json")
        found = {
            "merged": sorted(line.split()[1:] for line in merged),
            "status": set(status),
            "branches": [*world.branches()],
            "worktrees": [*world.worktrees()],
            "directories": sorted(map(str, [*common.glob("worktrees/*"), *world.worktree_dir.glob("*")])),
            "in progress": [name for name in in_progress if (common / name).exists()],
            "lock files": [str(path) for path in common.rglob("*.lock")],
            "scratch": [str(path) for path in (common / "git-wave").glob("tmp/*")],
            "fsck": world.fsck(),
        }
        wanted = {
            "merged": sorted([agent.tip] for agent in self.agents),
            "status": STATUS,
            "branches": ["main"],
            "worktrees": [str(world.root)],
        }
        wrong = {name: value for name, value in found.items() if value != wanted.get(name, type(value)())}
        assert not wrong, wrong

    def assert_honest(self, run: Run) -> None:
        """What a result says of an entry is what plain git says."""
        for agent, entry in zip(self.agents, run.entries, strict=False):
            if entry["status"] == "merged_removed":
                assert self.world.landed(agent), f"not landed: {entry}"
            if entry["merge_commit"]:
                assert self.world.merged(entry["merge_commit"]), f"not merged: {entry}"
        assert (run.code == 0) == run.doc["ok"], f"exit {run.code}, but ok is {run.doc['ok']}"
        if run.code == 0:
            self.assert_done()

    def _outputs(self) -> list[str]:
        kept = Path(self.world.root / ".git/git-wave").rglob("run.log")
        return [path.read_text() for path in (*kept, self.world.worktree_dir / "clean/run.log") if path.exists()]


def build_five(place: Path, env: Mapping[str, str]) -> Five:
    """Build it once; `copy_five` makes copies to break."""
    build_template(place / "template", env)
    world = World(place / "five", place / "template", env)
    start = world.head()
    clean = world.agent("clean", {"src/app.py": prose("better"), "new/clean.txt": "1\n"})
    put(clean.path / "run.log", "output\n")
    beside = world.agent("beside", {"docs/guide.md": prose("guided"), "docs/api/extra.md": "more\n"})
    absent = world.agent("absent")
    shutil.rmtree(absent.path)
    summary = world.agent("summary", {"src/util/math.py": prose("sums")})
    put(summary.path / SUMMARY, "done\n")
    locked = world.agent("locked", rename={"src/util/text.py": "src/util/words.py"})
    world.git("worktree", "lock", "--reason=claude agent", locked.path)
    world.git("config", f"branch.{clean.branch}.description", "work in hand")
    for path, text in EDITS.items():
        put(world.root / path, text)
    agents = (clean, beside, absent, summary, locked)
    return Five(world, agents, world.manifest(*agents), start)


def copy_five(built: Five, place: Path, env: Mapping[str, str]) -> Five:
    """A copy at another place, its worktrees linked to it."""
    world = World(place, built.world.root, env)
    shutil.copytree(built.world.worktree_dir, world.worktree_dir, symlinks=True)
    links = [*world.root.glob(".git/worktrees/*/gitdir"), *world.worktree_dir.glob("*/.git")]
    for link in links:
        link.write_text(link.read_text().replace(str(built.world.tmp), str(place)))
    agents = tuple(replace(agent, path=world.worktree_dir / agent.path.name) for agent in built.agents)
    return Five(world, agents, world.manifest(*agents), built.start)


def journal_lines(five: Five) -> int:
    waves = five.world.root / ".git/git-wave/waves"
    return sum(path.read_bytes().count(b"\n") for path in waves.glob("*.jsonl")) if os.path.isdir(waves) else 0
