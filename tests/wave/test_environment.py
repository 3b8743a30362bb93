"""What a caller's environment says about git has no say in a wave."""

import os
import subprocess
from pathlib import Path

import pytest

from git_wave.git.door import Door
from support.calling import program
from support.repo import prose, put
from support.shim import Shim
from support.world import World


@pytest.fixture
def other(world: World) -> World:
    """Another repository, in a state of its own."""
    (world.tmp / "other").mkdir()
    other = World(world.tmp / "other", world.root, world.env)
    other.commit(write={"other.txt": "other\n"})
    return other


LEAKS = {
    "GIT_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_INDEX_FILE": "{other}/.git/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nowhere",
    "GIT_NAMESPACE": "elsewhere",
    "GIT_PREFIX": "src/",
    "GIT_IMPLICIT_WORK_TREE": "0",
    "GIT_GRAFT_FILE": "/nowhere",
    "GIT_REPLACE_REF_BASE": "refs/elsewhere/",
    "GIT_SHALLOW_FILE": "{other}/shallow",
    "GIT_QUARANTINE_PATH": "{other}/.git/objects",
    "GIT_INTERNAL_SUPER_PREFIX": "sub/",
    "GIT_CONFIG": "{other}/.git/config",
    "GIT_CONFIG_PARAMETERS": "'merge.ff=only' 'core.bare=true'",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "1",
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_EXTERNAL_DIFF": "false",
    "GIT_DIFF_OPTS": "-u0",
    "GIT_MERGE_AUTOEDIT": "yes",
    "GIT_MERGE_VERBOSITY": "5",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_PAGER": "false",
    "PAGER": "false",
    "EDITOR": "false",
    "GIT_OPTIONAL_LOCKS": "1",
    "GIT_TRACE": "1",
    "GIT_TRACE2_EVENT": "1",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_CEILING_DIRECTORIES": "/",
    "LC_ALL": "de_DE.UTF-8",
    "LANGUAGE": "de",
    "CDPATH": "/",
    "GREP_OPTIONS": "-v",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", sorted(LEAKS))
def test_a_leaked_variable_changes_nothing(
    world: World, other: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    absent, agent = world.agent("absent"), world.agent("a", {"src/app.py": prose("better")})
    bad = world.agent("bad", {}, ["LICENSE"])
    absent.path.rename(world.tmp / "away")
    before = other.snapshot()
    monkeypatch.setenv(name, LEAKS[name].format(other=other.root))

    run = world.wave(absent, agent, bad)

    assert run.outcome(absent) == ("merged_removed", "ok"), run.doc
    assert run.outcome(agent) == ("merged_removed", "ok"), run.doc
    assert run.outcome(bad) == ("blocked", "branch_contains_deletions"), run.doc
    assert run.entry(bad)["stderr"].split() == ["LICENSE"]
    assert world.landed(agent)
    assert other.snapshot() == before


def test_config_from_the_environment_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent("a")
    config = {
        "merge.ff": "only",
        "core.bare": "true",
        "core.hooksPath": "/nowhere",
        "wave.branchPattern": "^x",
    }
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(config)))
    for number, (key, value) in enumerate(config.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert world.landed(agent)


def carry(monkeypatch: pytest.MonkeyPatch, how: str, **settings: str) -> None:
    """Settings in the environment, as a container sets them or as `git -c` exports them."""
    pairs = [(key.replace("__", "."), value) for key, value in settings.items()]
    if how == "git -c":
        monkeypatch.setenv("GIT_CONFIG_PARAMETERS", " ".join(f"'{key}'='{value}'" for key, value in pairs))
        return
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(pairs)))
    for number, (key, value) in enumerate(pairs):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)


@pytest.mark.parametrize("how", ["numbered", "git -c"])
def test_who_commits_is_taken_from_the_environment(world: World, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    agent = world.agent("a")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    carry(monkeypatch, how, user__name="Ada L", user__email="ada@example.org", merge__ff="only")

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert world.git("log", "-1", "--format=%an <%ae>") == "Ada L <ada@example.org>"


def test_whom_to_trust_is_taken_from_the_environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git believes `safe.directory` only where a repository cannot set it: it must reach git as the caller set it."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    carried = {"safe.directory": "*", "merge.ff": "only"}
    carry(monkeypatch, "numbered", **{key.replace(".", "__"): value for key, value in carried.items()})

    door = Door(os.environ, 60)

    answer = door.run(world.root, ["config", "--show-scope", "--get-regexp", "^(safe|merge)[.]"], settings={"a.b": "c"})
    assert answer.text == "command\tsafe.directory *\n"


def test_what_git_is_not_told_is_said_with_verbose(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    carry(monkeypatch, "numbered", merge__ff="only", user__name="Ada L")

    run = world.wave(world.agent("a"), args=["-v"])

    (line,) = [line for line in run.err.splitlines() if "git is not told" in line]
    assert line.endswith("GIT_INDEX_FILE, setting merge.ff")


@pytest.mark.parametrize("count", ["x", "-1", "3", ""])
def test_settings_of_the_environment_that_git_would_refuse_are_none(
    world: World, monkeypatch: pytest.MonkeyPatch, count: str
) -> None:
    carry(monkeypatch, "numbered", user__name="Ada L")
    monkeypatch.setenv("GIT_CONFIG_COUNT", count)
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'user.name=never closed")

    assert world.wave(world.agent("a")).code == 0


def test_all_of_a_hooks_variables_at_once_change_nothing(
    world: World, other: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent("a")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_QUARANTINE_PATH"):
        monkeypatch.setenv(name, LEAKS[name].format(other=other.root))
    before = other.snapshot()

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert world.landed(agent)
    assert other.snapshot() == before


@pytest.mark.parametrize("hook", ["post-commit", "pre-commit", "post-checkout"])
def test_a_wave_started_by_a_hook_of_another_repository_lands_in_its_own(world: World, other: World, hook: str) -> None:
    agent = world.agent("a")
    manifest, out = world.manifest(agent), world.tmp / "out.json"
    other.hook(hook, f"{program('cleanup-wave')} --manifest {manifest} >{out} 2>&1")

    other.commit(write={"more.txt": "more\n"})
    other.git("checkout", "-q", "-b", "elsewhere")

    assert world.landed(agent), out.read_text()
    assert other.git("status", "--porcelain") == ""
    assert other.git("log", "-1", "--format=%s") == "work"
    assert other.fsck() == ""


def test_a_hook_of_the_wave_sees_the_checkout_it_belongs_to(world: World, other: World) -> None:
    seen = world.tmp / "seen"
    world.hook("post-merge", f"git rev-parse --show-toplevel >{seen}")

    assert world.wave(world.agent("a")).code == 0

    assert Path(seen.read_text().strip()).samefile(world.root)


def test_a_working_directory_that_is_gone_stops_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, gone = world.agent("a"), world.tmp / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = subprocess.run(
        [program("cleanup-wave"), "--manifest", str(world.manifest(agent))],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    monkeypatch.chdir(world.tmp)

    assert done.returncode == 0, done
    assert world.landed(agent)


def test_a_home_that_is_not_set_stops_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent("a")
    for name in ("user.name", "user.email"):
        world.git("config", name, "local@example.invalid")
    for name in ("HOME", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)

    assert world.wave(agent).code == 0
    assert world.landed(agent)


def test_reads_take_no_locks_where_an_agent_may_be_at_work(world: World) -> None:
    agent = world.agent("a")
    put(agent.path / "left.txt", "left")
    git_dir = Path(world.git("rev-parse", "--absolute-git-dir", cwd=agent.path))
    put(git_dir / "index.lock", "")
    index = (git_dir / "index").read_bytes()
    os.utime(agent.path / "LICENSE", (1, 1))

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "worktree_dirty")
    assert (git_dir / "index").read_bytes() == index
    assert (git_dir / "index.lock").exists()


def test_every_call_of_git_asks_for_no_prompt_no_pager_and_no_editor(world: World, shim: Shim) -> None:
    log = world.tmp / "environment"
    for command in ("merge", "status", "worktree", "rev-parse", "diff-tree", "cat-file"):
        shim.before(command, f"env >>{log}; echo END >>{log}")

    assert world.wave(world.agent("a")).code == 0

    for seen in log.read_text().split("END\n")[:-1]:
        values = dict(line.split("=", 1) for line in seen.splitlines() if "=" in line)
        assert values["GIT_TERMINAL_PROMPT"] == "0"
        assert values["LC_ALL"] == "C"
        assert "GIT_DIR" not in values
