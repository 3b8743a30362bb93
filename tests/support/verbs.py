"""Every verb once, in a repository where it has something to do, and what it has then done."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from support.calling import call
from support.reclaim import dead_pid, lock, record
from support.recording import entries_of
from support.repo import put
from support.world import World


def nothing(_world: World) -> list[str]:
    return []


def anything(_world: World) -> bool:
    return True


@dataclass(frozen=True)
class Verb:
    """A call: `prepare` makes ready for it and gives more words of the command line, `is_done` looks afterwards.

    `{root}` and `{manifest}` are filled in. `reads` is what it is told on standard input. It ends with exit code 0.
    """

    argv: tuple[str, ...]
    prepare: Callable[[World], list[str]] = nothing
    is_done: Callable[[World], bool] = anything
    reads: str = ""
    has_text: bool = True
    prog: str = "git-wave"

    def words(self, world: World) -> list[str]:
        more = self.prepare(world)
        places = {"root": world.root, "manifest": world.tmp / "wave.json"}
        return [*(word.format(**places) for word in self.argv), *more]


def one_agent(world: World) -> list[str]:
    world.manifest(world.agent("one"))
    return []


def empty_manifest(world: World) -> list[str]:
    world.manifest()
    return []


def landed_once(world: World) -> bool:
    """One merge, and nothing left of the agent."""
    return world.git("rev-list", "--count", "--merges", "HEAD") == "1" and list(world.branches()) == ["main"]


def untouched(world: World) -> bool:
    return "worktree-agent-one" in world.branches() and world.git("rev-list", "--count", "--merges", "HEAD") == "0"


def after_a_wave(world: World) -> list[str]:
    one_agent(world)
    return [call("cleanup-wave", "--manifest", str(world.tmp / "wave.json")).doc["wave"]["id"]]


def recorded_once(world: World) -> bool:
    return len(entries_of(world.tmp / "wave.json")) == 1


def recording(world: World) -> list[str]:
    empty_manifest(world)
    return ["--base", world.head()]


def created_once(world: World) -> bool:
    return recorded_once(world) and (world.root / ".claude/worktrees/agent-a1/README.md").exists()


def left_uncommitted(world: World) -> list[str]:
    agent = world.agent("one")
    world.manifest(agent)
    put(agent.path / "left.txt", "left\n")
    return [str(agent.path)]


def committed_once(world: World) -> bool:
    return world.git("rev-list", "--count", "main..worktree-agent-one") == "2"


def without_work(world: World) -> list[str]:
    world.manifest(world.agent("one", {}))
    return []


def agent_is_gone(world: World) -> bool:
    return list(world.branches()) == ["main"] and len(world.worktrees()) == 1


def discarded(world: World) -> list[str]:
    answer = call("discard", *left_uncommitted(world), "--force")
    return [str(answer.doc["restore"]).split()[-1]]


def agent_is_back(world: World) -> bool:
    return (world.worktree_dir / "one/left.txt").read_text() == "left\n"


def owned(world: World) -> list[str]:
    agent = world.agent("one", {}, path=world.root / ".claude/worktrees/one")
    record(world, agent, "--session", "s1", "--parent", "s1")
    return []


def named(world: World) -> list[str]:
    owned(world)
    return [str(world.root / ".claude/worktrees/one")]


def orphan(world: World) -> list[str]:
    agent = world.agent("one", {}, path=world.root / ".claude/worktrees/one")
    lock(world, agent, f"claude agent {agent.id} (pid {dead_pid()})")
    return []


def worktree_is_gone(world: World) -> bool:
    return not (world.root / ".claude/worktrees/one").exists() and "worktree-agent-one" in world.branches()


def kept_once(world: World) -> list[str]:
    agent = world.agent("one")
    put(agent.path / "run.log", "log\n")
    world.manifest(agent)
    return [call("cleanup-wave", "--manifest", str(world.tmp / "wave.json")).doc["wave"]["id"]]


def has_kept(world: World) -> list[str]:
    kept_once(world)
    return []


def nothing_kept(world: World) -> bool:
    return not any(world.root.glob(".git/git-wave/kept/*/worktree-agent-one"))


def put_back(world: World) -> bool:
    return nothing_kept(world) and (world.tmp / "back/run.log").read_text() == "log\n"


def hooks_installed(world: World) -> bool:
    return "git wave hook" in (world.root / ".claude/settings.json").read_text()


def backups_expired(world: World) -> bool:
    return not world.git("for-each-ref", "refs/git-wave")


def taken_back(world: World) -> bool:
    return world.git("rev-list", "--count", "--merges", "HEAD") == "0" and (world.worktree_dir / "one").is_dir()


def manifest_written(world: World) -> bool:
    return json.loads((world.tmp / "wave.json").read_text())["orchestrator_root"] == str(world.root)


RECORD = ("--manifest", "{manifest}", "--agent-id", "a1", "--path", "/r/a", "--branch", "agent-a1")
CREATE = ("--manifest", "{manifest}", "--agent-id", "a1", "--root", "{root}")
SESSION = json.dumps({"session_id": "s2", "cwd": "/gone", "hook_event_name": "SessionStart", "source": "startup"})
NEW = json.dumps({"session_id": "s1", "cwd": "/gone", "hook_event_name": "WorktreeCreate", "name": "new"})

VERBS = {
    "cleanup-wave": Verb(("cleanup-wave", "--manifest", "{manifest}"), one_agent, landed_once),
    "cleanup-wave --dry-run": Verb(("cleanup-wave", "--manifest", "{manifest}", "--dry-run"), one_agent, untouched),
    "cleanup-wave, the program": Verb(("--manifest", "{manifest}"), one_agent, landed_once, prog="cleanup-wave"),
    "record-agent": Verb(("record-agent", *RECORD), recording, recorded_once, has_text=False),
    "record-agent, the program": Verb(RECORD, recording, recorded_once, has_text=False, prog="record-agent"),
    "create": Verb(("create", *CREATE), empty_manifest, created_once),
    "finalize": Verb(("finalize",), left_uncommitted, committed_once),
    "discard": Verb(("discard", "--manifest", "{manifest}", "--agent-id", "agent-one"), without_work, agent_is_gone),
    "restore": Verb(("restore", "--root", "{root}"), discarded, agent_is_back),
    "list": Verb(("list", "--cwd", "{root}"), one_agent),
    "remove": Verb(("remove", "--root", "{root}"), named, worktree_is_gone),
    "reap": Verb(("reap", "--session", "s1", "--root", "{root}"), owned, worktree_is_gone),
    "reap-orphans": Verb(("reap-orphans", "--root", "{root}"), orphan, worktree_is_gone),
    "init": Verb(("init", "--manifest", "{manifest}", "--root", "{root}"), is_done=manifest_written, has_text=False),
    "validate": Verb(("validate", "--manifest", "{manifest}"), one_agent),
    "undo": Verb(("undo", "--root", "{root}"), after_a_wave, taken_back),
    "log": Verb(("log", "--root", "{root}"), lambda world: after_a_wave(world)[1:], has_text=False),
    "show": Verb(("show", "--root", "{root}"), after_a_wave, has_text=False),
    "gc": Verb(
        ("gc", "--root", "{root}", "--older-than", "0"),
        lambda world: after_a_wave(world)[1:],
        backups_expired,
        has_text=False,
    ),
    "kept": Verb(("kept", "list", "--root", "{root}"), has_kept),
    "kept restore": Verb(("kept", "restore", "--root", "{root}", "--to", "{root}/../back"), kept_once, put_back),
    "kept drop": Verb(("kept", "drop", "--yes", "--root", "{root}"), kept_once, nothing_kept),
    "query": Verb(
        ("query", "worktree.cleanup-wave", "--manifest", "{manifest}"), one_agent, landed_once, has_text=False
    ),
    "worktree": Verb(("worktree", "cleanup-wave", "--manifest", "{manifest}"), one_agent, landed_once, has_text=False),
    "hook": Verb(("hook", "SessionStart"), owned, reads=SESSION, has_text=False),
    "hook WorktreeCreate": Verb(
        ("hook", "WorktreeCreate"),
        is_done=lambda world: (world.root / ".claude/worktrees/new/README.md").exists(),
        reads=NEW,
        has_text=False,
    ),
    "hooks": Verb(("hooks", "status", "--root", "{root}")),
    "hooks install": Verb(("hooks", "install", "--root", "{root}"), is_done=hooks_installed),
    "doctor": Verb(("doctor", "--root", "{root}"), has_text=False),
    "schema": Verb(("schema", "manifest"), has_text=False),
    "explain": Verb(("explain", "repo_busy")),
    "completion": Verb(("completion", "bash"), has_text=False),
    "demo": Verb(("demo",), has_text=False),
    "help": Verb(("--help",), has_text=False),
    "version": Verb(("--version",), has_text=False),
}
"""Every command of the program, some in several forms."""
