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
    precondition,
    rule,
    run_state_machine_as_test,
)

from support.calling import Answer, call_program
from support.killing import calm, kill_at_call
from support.ours import has_command
from support.repo import prose, put
from support.shim import Shim
from support.world import Agent, World, files_below, run_command

FEW = settings(max_examples=8, stateful_step_count=14)
MANY = settings(max_examples=150, stateful_step_count=30)
ALWAYS = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate, Phase.shrink],
}
picks = st.integers(0, 5)
REASONS = ["", "claude agent agent-0", "I am reading this"]
# Files that agents change too: a merge may be refused or conflict over them, and must leave them alone.
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
        self.start_agent("bystander", 0)
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

    # -- what agents and the user do

    @precondition(lambda self: len(self.agents) < 7)
    @rule(file=picks, record=st.booleans())
    def spawn(self, file: int, record: bool) -> None:
        self.start_agent(f"a{len(self.agents)}", file)
        if record:
            self.record_last()
        self.note()

    @rule()
    def record_last(self) -> None:
        agent = self.agents[-1]
        if agent in self.recorded or len(self.agents) == 1:
            return
        flags = [f"--agent-id={agent.id}", f"--path={agent.path}", f"--branch={agent.branch}", f"--base={agent.base}"]
        code, out, _ = run_command("record-agent", ["--manifest", str(self.manifest), *flags])
        assert code == 0, out
        self.recorded.append(agent)
        self.note()

    @precondition(lambda self: self.present())
    @rule(who=picks, what=st.integers(0, 99))
    def commit_in_a_worktree(self, who: int, what: int) -> None:
        agent = self.present()[who % len(self.present())]
        self.world.commit(agent.path, {f"more-{what % 3}.txt": f"{agent.id} {what}\n"})
        for path in [path for path in self.edits if path.is_relative_to(agent.path)]:
            del self.edits[path]
        self.note()

    @precondition(lambda self: self.present())
    @rule(who=picks, what=st.integers(0, 99), name=st.sampled_from(["notes.txt", "README.md", "run.log"]))
    def edit_in_a_worktree(self, who: int, what: int, name: str) -> None:
        agent = self.present()[who % len(self.present())]
        path = put(agent.path / name, f"not committed {what}\n")
        if name != "run.log":
            self.edits[path] = path.read_bytes()
        self.note()

    @rule(name=st.sampled_from(USER_FILES), what=st.integers(0, 99))
    def edit_in_the_main_checkout(self, name: str, what: int) -> None:
        path = put(self.world.root / name, f"the user's {what}\n")
        self.edits[path] = path.read_bytes()
        self.note()

    @precondition(lambda self: self.edits)
    @rule()
    def clean_up(self) -> None:
        """The user throws away what is not committed, in the main checkout and in worktrees."""
        for place in [self.world.root, *(one.path for one in self.present())]:
            self.world.git("checkout", "-q", "-f", "HEAD", "--", ".", cwd=place, check=False)
            self.world.git("clean", "-q", "-f", "-d", cwd=place)
        self.edits.clear()
        self.note()

    @rule(what=st.integers(0, 99))
    def commit_on_main(self, what: int) -> None:
        path = put(self.world.root / f"main-{what % 3}.txt", f"on main {what}\n")
        self.world.git("add", path.name)
        self.world.git("commit", "-q", "-m", "on main", "--", path.name, check=False)
        self.note()

    @precondition(lambda self: self.present())
    @rule(who=picks)
    def remove_a_directory(self, who: int) -> None:
        agent = self.present()[who % len(self.present())]
        shutil.rmtree(agent.path)
        for path in [path for path in self.edits if path.is_relative_to(agent.path)]:
            del self.edits[path]
        self.note()

    @precondition(lambda self: self.present())
    @rule(who=picks, reason=st.sampled_from(REASONS))
    def lock(self, who: int, reason: str) -> None:
        agent = self.present()[who % len(self.present())]
        self.world.git("worktree", "lock", f"--reason={reason}", agent.path, check=False)
        self.note()

    @rule()
    def unlock_all(self) -> None:
        for path, known in self.world.worktrees().items():
            if "locked" in known:
                self.world.git("worktree", "unlock", path)
        self.note()

    # -- what we do

    @precondition(lambda self: self.recorded)
    @rule()
    def wave(self) -> None:
        self.ours(run_command("cleanup-wave", ["--manifest", str(self.manifest), "--format", "json"]))

    @precondition(lambda self: self.recorded)
    @rule(number=st.integers(1, 60), when=st.sampled_from(["before", "after"]))
    def killed_wave(self, number: int, when: str) -> None:
        kill_at_call(self.shim, number, when)
        argv = ("--manifest", str(self.manifest), "--format", "json")
        self.ours(call_program("cleanup-wave", *argv, env=self.shimmed))
        calm(self.shim)

    @precondition(lambda self: self.recorded)
    @rule()
    def wave_until_it_moves_nothing(self) -> None:
        """Two reruns bring all there is to bring; a third finds nothing to move."""
        self.wave()
        self.wave()
        before = self.world.snapshot()
        self.wave()
        assert self.world.snapshot() == before

    @precondition(lambda self: self.undo_works and self.recorded)
    @rule()
    def undo(self) -> None:
        self.ours(run_command("git-wave", ["undo", "--root", str(self.world.root)]))

    @precondition(lambda self: self.undo_works and self.recorded)
    @rule(number=st.integers(8, 40), when=st.sampled_from(["before", "after"]))
    def killed_undo(self, number: int, when: str) -> None:
        kill_at_call(self.shim, number, when)
        self.ours(call_program("git-wave", "undo", "--root", str(self.world.root), env=self.shimmed))
        calm(self.shim)

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
