"""`workflows/*.sh` in real shells: they land, and no refusal is swallowed, wherever they are called from."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.calling import SCHEMAS, program
from support.waiting import still_alive
from support.world import World

WORKFLOWS = SCHEMAS.parent / "workflows"
SCRIPTS = sorted(WORKFLOWS.glob("*.sh"))
SHELLS = ("dash", "bash")
COMMIT = 'echo "$AGENT_ID" >"$AGENT_ID.txt" && git add -A && git commit -q -m "work of $AGENT_ID"'
# How a caller may run a script: what is printed is the exit code that the caller saw.
CALLS = {
    "plainly": '"$SHELL_UNDER_TEST" "$@"; echo "exit $?"',
    "with set -eu": 'set -eu; "$SHELL_UNDER_TEST" "$@" || { echo "exit $?"; exit; }; echo \'exit 0\'',
    "inside if": 'if "$SHELL_UNDER_TEST" "$@"; then echo "exit 0"; else echo "exit $?"; fi',
    "before ||": 'code=0; "$SHELL_UNDER_TEST" "$@" || code=$?; echo "exit $code"',
    "in $( )": 'if out=$("$SHELL_UNDER_TEST" "$@"); then code=0; else code=$?; fi; echo "$out"; echo "exit $code"',
    "sourced where set -e means nothing": (
        'if (script=$1; shift; . "$script"); then echo "exit 0"; else echo "exit $?"; fi'
    ),
}


class Ran:
    """What a caller saw of a script: the exit code, standard output without it, standard error."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.out, _, told = done.stdout.rstrip("\n").rpartition("exit ")
        self.code, self.err = int(told), done.stderr


def environment(world: World, **variables: str) -> dict[str, str]:
    path = f"{Path(program('git-wave')).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "WAVE_WORKTREE_MANIFEST": str(world.tmp / "wave.json"),
            "QUICK_WORKTREE_MANIFEST": str(world.tmp / "quick.json"), "AGENT_COMMAND": COMMIT, **variables}  # fmt: skip


def run(
    world: World,
    script: str,
    *argv: str,
    shell: str = "dash",
    called: str = "plainly",
    cwd: Path | None = None,
    **variables: str,
) -> Ran:
    command = [shell, "-c", CALLS[called], shell, str(WORKFLOWS / script), *argv]
    env = environment(world, SHELL_UNDER_TEST=shell, **variables)
    done = subprocess.run(
        command, cwd=cwd or world.root, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    return Ran(done)


def test_every_script_satisfies_shellcheck() -> None:
    done = subprocess.run([program("shellcheck"), "--shell=sh", *SCRIPTS], capture_output=True, text=True, check=False)

    assert (len(SCRIPTS), done.returncode) == (3, 0), done.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_wave_of_agents_is_made_run_and_landed(world: World, shell: str) -> None:
    ran = run(world, "execute-wave.sh", "one", "two", shell=shell)

    document = json.loads(ran.out)
    assert (ran.code, document["ok"]) == (0, True), ran.err
    assert [entry["status"] for entry in document["result"]["entries"]] == ["merged_removed"] * 2
    assert [(world.root / f"{name}.txt").read_text() for name in ("one", "two")] == ["one\n", "two\n"]
    assert list(world.worktrees()) == [str(world.root)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shell", SHELLS)
def test_one_agent_is_made_run_and_landed(world: World, shell: str) -> None:
    ran = run(world, "quick.sh", "sh", "-c", COMMIT, shell=shell, QUICK_AGENT_ID="it")

    assert (ran.code, json.loads(ran.out)["ok"]) == (0, True), ran.err
    assert (world.root / "it.txt").read_text() == "it\n"


def test_what_others_recorded_is_landed_without_any_agent(world: World) -> None:
    agent = world.agent("a")

    ran = run(world, "execute-wave.sh", WAVE_WORKTREE_MANIFEST=str(world.manifest(agent)))

    assert ran.code == 0, ran.err
    assert world.landed(agent)


def drifted(world: World) -> Path:
    return world.agent("elsewhere").path


Where = Callable[[World], Path]
# fmt: off
REFUSALS: dict[str, tuple[str, Mapping[str, str], Where | None, str]] = {
    "no manifest variable": ("execute-wave.sh one", {"WAVE_WORKTREE_MANIFEST": ""}, None, "unset or empty"),
    "relative manifest": ("execute-wave.sh one", {"WAVE_WORKTREE_MANIFEST": "w.json"}, None, "no absolute path"),
    "no command": ("execute-wave.sh one", {"AGENT_COMMAND": ""}, None, "AGENT_COMMAND is unset"),
    "another branch": ("execute-wave.sh one", {"EXPECTED_BRANCH": "release"}, None, "not on release"),
    "a worktree": ("execute-wave.sh one", {}, drifted, "has drifted"),
    "another root": ("execute-wave.sh one", {"ORCHESTRATOR_ROOT": "/"}, None, "has drifted"),
    "no checkout": ("execute-wave.sh one", {}, lambda world: world.tmp, "in no checkout"),
    "no manifest file": ("execute-wave.sh", {}, None, "there is no manifest"),
    "an id that is none": ("execute-wave.sh one -x", {}, None, "create: "),
    "quick: no variable": ("quick.sh true", {"QUICK_WORKTREE_MANIFEST": ""}, None, "unset or empty"),
    "quick: another branch": ("quick.sh true", {"EXPECTED_BRANCH": "release"}, None, "not on release"),
    "quick: a worktree": ("quick.sh true", {}, drifted, "has drifted"),
    "quick: no command": ("quick.sh", {}, None, "no command"),
}
# fmt: on


@pytest.mark.deep
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("called", CALLS)
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_seen_by_the_caller_and_nothing_is_touched(
    world: World, shell: str, called: str, name: str
) -> None:
    """Every refusal in every shell, called in every way."""
    assert_refused(world, name, shell, called)


@pytest.mark.parametrize(("number", "name"), list(enumerate(REFUSALS)))
def test_each_refusal_is_seen_by_some_caller(world: World, number: int, name: str) -> None:
    """Shells and callers take turns; every combination is tried by the deep test."""
    assert_refused(world, name, SHELLS[number % 2], list(CALLS)[number % len(CALLS)])


def assert_refused(world: World, name: str, shell: str, called: str) -> None:
    line, variables, where, why = REFUSALS[name]
    cwd = where(world) if where else None
    head, branches = world.head(), world.branches()

    ran = run(world, *line.split(), shell=shell, called=called, cwd=cwd, **variables)

    assert (ran.code, ran.out.strip()) == (1, "")
    assert why in ran.err
    assert world.head() == head
    # A worktree that was made before another could not be is in the manifest, and stays.
    assert {branch: tip for branch, tip in world.branches().items() if branch != "agent-one"} == branches


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("called", CALLS)
def test_a_blocked_wave_is_seen_by_the_caller(world: World, shell: str, called: str) -> None:
    bad = world.agent("bad", {}, ["LICENSE"])

    ran = run(world, "execute-wave.sh", shell=shell, called=called, WAVE_WORKTREE_MANIFEST=str(world.manifest(bad)))

    assert ran.code == 1
    assert json.loads(ran.out)["reason"] == "cleanup_blocked"
    assert "not everything landed" in ran.err
    assert world.untouched(bad)


def test_an_agent_that_fails_keeps_everything_from_landing(world: World) -> None:
    ran = run(world, "execute-wave.sh", "one", "two", AGENT_COMMAND=f'{COMMIT}; [ "$AGENT_ID" = one ]')

    assert (ran.code, ran.out) == (1, "")
    assert "agents failed: two." in ran.err
    assert set(world.branches()) == {"main", "agent-one", "agent-two"}
    rescue = re.search(r"^  (cleanup-wave .*)$", ran.err, re.MULTILINE)
    assert rescue is not None
    subprocess.run(["sh", "-c", rescue[1]], cwd="/", env=environment(world), capture_output=True, check=True)
    assert set(world.branches()) == {"main"}


def test_no_agent_runs_when_a_worktree_could_not_be_made(world: World) -> None:
    world.git("branch", "agent-two")

    ran = run(world, "execute-wave.sh", "one", "two", AGENT_COMMAND=f"touch {world.tmp}/ran")

    assert ran.code == 1
    assert "branch_exists" in ran.err
    assert not (world.tmp / "ran").exists()


def test_a_checkout_that_an_agent_switched_is_not_landed_into(world: World) -> None:
    ran = run(world, "quick.sh", "sh", "-c", f"{COMMIT}; git -C {world.root} switch -q -c other")

    assert ran.code == 1
    assert json.loads(ran.out)["reason"] == "unexpected_branch"
    assert world.git("rev-parse", "other") == world.git("rev-parse", "main")


def test_what_a_git_hook_leaks_does_not_lead_it_astray(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    world.git("init", "-q", other)

    ran = run(world, "quick.sh", "sh", "-c", COMMIT, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other))

    assert ran.code == 0, ran.err
    assert (world.root / "quick.txt").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shell", SHELLS)
def test_an_interrupted_wave_ends_its_agents_and_lands_nothing(world: World, shell: str) -> None:
    started, pids = world.tmp / "started", world.tmp / "pids"
    os.mkfifo(started)
    agent = f"{COMMIT}; echo $$ >{pids}; echo started >{started}; exec cat {started}"
    command = [shell, str(WORKFLOWS / "execute-wave.sh"), "one"]
    process = subprocess.Popen(
        command, cwd=world.root, env=environment(world, AGENT_COMMAND=agent), stdout=-1, stderr=subprocess.DEVNULL
    )
    started.read_text()
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)

    assert (process.returncode, out) == (143, b"")
    assert "agent-one" in world.branches()
    assert still_alive(pids) == []
