"""Whatever happens in whatever order, no commit and no edit is lost, and nobody else's is touched.

A state machine on a real repository. After every step plain git is asked whether the promises still hold.
"""

import itertools
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from support.calling import Answer, call_program
from support.killing import calm, kill_at_call
from support.ours import has_command
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, World, files_below, run_command

FEW = settings(max_examples=7, stateful_step_count=12)
MANY = settings(max_examples=150, stateful_step_count=30)
ALWAYS = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate, Phase.shrink],
}
picks = st.integers(0, 5)
details = st.integers(0, 99)
REASONS = ["", "claude agent agent-0", "I am reading this"]
# Files that agents change too: a merge may be refused or conflict over them, and must leave them alone.
AGENTS_DO = ["start", "start", "commit", "edit", "leave_output", "remove_directory", "lock"]
USER_DOES = ["edit_on_main", "commit_on_main", "unlock", "clean_up"]
COMMANDS = ["killed wave", "killed wave", "wave", "undo", "killed undo", "wave until nothing moves"]
USER_FILES = ["LICENSE", "scratch.txt", "src/app.py", "work-0.txt"]


class Sessions(RuleBasedStateMachine):
    """Agents, a user and waves in one repository."""

    place: Path
    template: Path
    env: Mapping[str, str]
    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        home = self.place / f"run-{next(self.numbers)}"
        home.mkdir(parents=True)
        self.world = World(home, self.template, self.env)
        (home / "shim/bin").mkdir(parents=True)
        self.shim = Shim(home / "shim", os.environ["PATH"])
        self.shim.install()
        self.shimmed = {**self.env, "PATH": f"{home / 'shim/bin'}{os.pathsep}{os.environ['PATH']}"}
        self.manifest = self.world.manifest()
        self.agents: list[Agent] = []
        self.recorded: list[Agent] = []
        self.commits: set[str] = set()
        self.edits: dict[Path, bytes] = {}
        self.undo_works = has_command("undo")
        for name in ("bystander", "one", "two"):
            self.start_agent(name, len(self.agents))
        for agent in self.agents[1:]:
            self.record(agent)
        self.note()

    def teardown(self) -> None:
        shutil.rmtree(self.world.tmp)

    # -- helpers

    def start_agent(self, name: str, file: int) -> None:
        changes: dict[str, str | bytes] = {f"work-{file}.txt": f"{name}\n", "src/app.py": prose(f"app of {name}")}
        self.agents.append(self.world.agent(name, dict([list(changes.items())[file % 2]])))

    def present(self) -> list[Agent]:
        """Agents whose worktree stands and is on their branch."""
        return [one for one in self.agents if self.on_branch(one)]

    def on_branch(self, agent: Agent) -> bool:
        known = self.world.worktrees().get(str(agent.path), {})
        return agent.path.is_dir() and known.get("branch") == f"refs/heads/{agent.branch}"

    def bystanders(self) -> list[Agent]:
        return [one for one in self.agents if one not in self.recorded]

    def note(self) -> None:
        """What stands now was meant to be: commits, and what belongs to nobody in the manifest."""
        self.commits |= set(self.world.git("rev-list", "--all").split())
        self.others = self.look_at_others()

    def look_at_others(self) -> dict[str, object]:
        known, branches = self.world.worktrees(), self.world.branches()
        return {
            one.branch: (branches.get(one.branch), known.get(str(one.path)), files_below(one.path))
            for one in self.bystanders()
        }

    def ours(self, answer: Answer | tuple[int, str, str]) -> None:
        """No command of ours may end in a traceback."""
        err = answer.err if isinstance(answer, Answer) else answer[2]
        assert "Traceback" not in err, err

    # Three rules and no more, each with a choice in it, so that every run has some of each.

    @rule(what=st.sampled_from(AGENTS_DO), who=picks, detail=details)
    def agent_does(self, what: str, who: int, detail: int) -> None:
        if what == "start":
            self.spawn(detail)
        elif present := self.present():
            getattr(self, what)(present[who % len(present)], detail)
        self.note()

    @rule(what=st.sampled_from(USER_DOES), detail=details)
    def user_does(self, what: str, detail: int) -> None:
        getattr(self, what)(detail)
        self.note()

    @rule(what=st.sampled_from(COMMANDS), number=st.integers(5, 30), when=st.sampled_from(["before", "after"]))
    def command(self, what: str, number: int, when: str) -> None:
        if what == "wave until nothing moves":
            self.wave_until_nothing_moves()
            return
        name, killed = what.removeprefix("killed "), what.startswith("killed ")
        if name == "undo" and not self.undo_works:
            return
        prog, argv = self.argv(name)
        if not killed:
            self.ours(run_command(prog, argv))
            return
        kill_at_call(self.shim, number, when)
        self.ours(call_program(prog, *argv, env=self.shimmed))
        calm(self.shim)

    # -- what agents do

    def spawn(self, detail: int) -> None:
        if len(self.agents) < 7:
            self.start_agent(f"a{len(self.agents)}", detail)
            if detail % 3:
                self.record(self.agents[-1])

    def record(self, agent: Agent) -> None:
        flags = [f"--agent-id={agent.id}", f"--path={agent.path}", f"--branch={agent.branch}", f"--base={agent.base}"]
        code, out, _ = run_command("record-agent", ["--manifest", str(self.manifest), *flags])
        assert code == 0, out
        self.recorded.append(agent)

    def commit(self, agent: Agent, detail: int) -> None:
        self.world.commit(agent.path, {f"more-{detail % 3}.txt": f"{agent.id} {detail}\n"})
        self.forget_edits(agent.path)

    def edit(self, agent: Agent, detail: int) -> None:
        path = put(agent.path / ["notes.txt", "README.md"][detail % 2], f"not committed {detail}\n")
        self.edits[path] = path.read_bytes()

    def leave_output(self, agent: Agent, detail: int) -> None:
        put(agent.path / "run.log", f"output {detail}\n")

    def remove_directory(self, agent: Agent, detail: int) -> None:
        shutil.rmtree(agent.path)
        self.forget_edits(agent.path)

    def lock(self, agent: Agent, detail: int) -> None:
        self.world.git("worktree", "lock", f"--reason={REASONS[detail % 3]}", agent.path, check=False)

    # -- what the user does

    def edit_on_main(self, detail: int) -> None:
        path = put(self.world.root / USER_FILES[detail % 4], f"the user's {detail}\n")
        self.edits[path] = path.read_bytes()

    def commit_on_main(self, detail: int) -> None:
        path = put(self.world.root / f"main-{detail % 3}.txt", f"on main {detail}\n")
        self.world.git("add", path.name)
        self.world.git("commit", "-q", "-m", "on main", "--", path.name, check=False)

    def unlock(self, detail: int) -> None:
        for path, known in self.world.worktrees().items():
            if "locked" in known:
                self.world.git("worktree", "unlock", path)

    def clean_up(self, detail: int) -> None:
        """Throw away what is not committed, in the main checkout and in worktrees."""
        for place in [self.world.root, *(one.path for one in self.present())]:
            self.world.git("checkout", "-q", "-f", "HEAD", "--", ".", cwd=place, check=False)
            self.world.git("clean", "-q", "-f", "-d", cwd=place)
        self.edits.clear()

    def forget_edits(self, place: Path) -> None:
        self.edits = {path: content for path, content in self.edits.items() if not path.is_relative_to(place)}

    # -- what we do

    def argv(self, name: str) -> tuple[str, list[str]]:
        if name == "undo":
            return "git-wave", ["undo", "--root", str(self.world.root)]
        return "cleanup-wave", ["--manifest", str(self.manifest), "--format", "json"]

    def wave_until_nothing_moves(self) -> None:
        """Two reruns bring all there is to bring; a third finds nothing to move."""
        for _ in range(2):
            self.ours(run_command(*self.argv("wave")))
        before = self.world.snapshot()
        self.ours(run_command(*self.argv("wave")))
        assert self.world.snapshot() == before

    # -- what must hold after each

    @invariant()
    def every_commit_is_reachable(self) -> None:
        now = set(self.world.git("rev-list", "--all").split())
        assert self.commits <= now, self.commits - now
        self.commits |= now

    @invariant()
    def the_repository_is_whole(self) -> None:
        done = self.world.git_run("fsck", "--connectivity-only", "--no-dangling", "--no-progress", check=False)
        assert (done.returncode, done.stdout) == (0, ""), done

    @invariant()
    def edits_are_intact(self) -> None:
        for path, content in self.edits.items():
            assert path.read_bytes() == content, path

    @invariant()
    def worktrees_of_others_are_untouched(self) -> None:
        assert self.look_at_others() == self.others

    @invariant()
    def registrations_are_consistent(self) -> None:
        """Each belongs to an agent or is the main one, on its own branch, and no branch is checked out twice."""
        known = self.world.worktrees()
        main = known.pop(str(self.world.root))
        assert main.get("branch") == "refs/heads/main"
        owners = {str(one.path): f"refs/heads/{one.branch}" for one in self.agents}
        assert {path: one.get("branch") for path, one in known.items()}.items() <= owners.items()
        heads = {f"refs/heads/{branch}": oid for branch, oid in self.world.branches().items()}
        assert all(heads.get(one["branch"]) == one["HEAD"] for one in known.values()), known
        standing = {str(one.path) for one in self.agents if (one.path / ".git").exists()}
        assert standing <= known.keys()


def explore(size: settings, place: Path, template: Path) -> None:
    class Here(Sessions):
        pass

    Here.place, Here.template, Here.env = place, template, dict(os.environ)
    run_state_machine_as_test(Here, settings=settings(size, **ALWAYS))  # type: ignore[arg-type]


def test_no_sequence_of_commands_loses_anything(tmp_path: Path, template: Path) -> None:
    explore(FEW, tmp_path / "runs", template)


@pytest.mark.deep
def test_no_long_sequence_of_commands_loses_anything(tmp_path: Path, template: Path) -> None:
    explore(MANY, tmp_path / "runs", template)
