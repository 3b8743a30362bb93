"""`git wave list`: every worktree in each of its states, and no probe that failed is called clean."""

import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from git_wave.cli import list as list_command
from git_wave.cli.list import inventory_of
from git_wave.cli.repository import open_repository
from git_wave.model.owner import Owner
from git_wave.reclaim.sizes import Budget
from git_wave.report.inventory_document import sorted_rows
from git_wave.state.owner import NAME, write_owner
from support.calling import Answer, call
from support.repo import put
from support.shim import Shim, subcommand
from support.world import Agent, World

Rows = dict[str, dict[str, Any]]
ROW_KEYS = {
    *("path", "branch", "head", "state", "why", "locked", "prunable", "admin", "owner", "made_at", "age_seconds"),
    *("size_bytes", "size_is_least", "compared_with", "ahead", "behind", "landed", "may_go", "blockers", "warnings"),
    "not_known",
}


@pytest.fixture(autouse=True)
def _managed(world: World) -> None:
    world.git("config", "wave.managedRoot", str(world.worktree_dir))


def listed(world: World, *flags: str) -> Answer:
    answer = call("list", "--cwd", str(world.root), "--json", *flags)
    assert answer.code == 0, answer
    return answer


def rows(world: World, *flags: str) -> Rows:
    """By the last part of their path."""
    return {Path(row["path"]).name: row for row in listed(world, *flags).doc["worktrees"] if row["path"]}


def table(world: World, monkeypatch: pytest.MonkeyPatch, *flags: str) -> str:
    monkeypatch.setenv("COLUMNS", "250")
    return call("list", "--cwd", str(world.root), "--format", "text", *flags).out


def admin_of(world: World, agent: Agent) -> Path:
    return Path(world.git("rev-parse", "--absolute-git-dir", cwd=agent.path))


def gates(row: dict[str, Any]) -> dict[str, str]:
    """What keeps it: gate to answer."""
    return {blocker["gate"]: blocker["answer"] for blocker in row["blockers"]}


def refuse(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """As if the file system gave no permission there, which it always gives to root."""
    real = os.lstat

    def lstat(asked: str | Path, **kwargs: Any) -> os.stat_result:
        if Path(asked).is_relative_to(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(asked))
        return real(asked, **kwargs)

    monkeypatch.setattr("git_wave.git.presence.lstat", lstat)


# --- states


def test_every_state_is_told_apart(world: World) -> None:
    for name in ("present", "absent", "garbage", "bare", "copied", "locked"):
        world.agent(name)
    places = {path.name: path for path in world.worktree_dir.iterdir()}
    shutil.rmtree(places["absent"])
    put(places["garbage"] / ".git", b"gitdir: \0\xff\n")
    (places["bare"] / ".git").unlink()
    shutil.copytree(places["present"], world.worktree_dir / "twin")
    shutil.rmtree(places["copied"])
    places["copied"].symlink_to(places["present"])
    world.git("worktree", "lock", "--reason", "mine", places["locked"])
    put(world.worktree_dir / "stray/file", "x")
    put(world.worktree_dir / "a file", "x")
    found = rows(world)

    assert {name: row["state"] for name, row in found.items()} == {
        "main": "main",
        "present": "present",
        "absent": "absent",
        "garbage": "broken",
        "bare": "broken",
        "copied": "broken",
        "locked": "present",
        "twin": "unregistered",
        "stray": "unregistered",
    }
    assert {name: row["may_go"] for name, row in found.items() if row["may_go"] is not False} == {
        "present": True,
        "absent": None,
        "bare": None,
    }
    assert found["locked"]["locked"] == "mine"
    assert gates(found["locked"]) == {"lock": "blocks"}
    assert found["absent"]["prunable"] == world.worktrees()[str(places["absent"])]["prunable"]
    assert (found["absent"]["branch"], found["absent"]["landed"]) == ("worktree-agent-absent", False)
    assert all(found[name]["why"] for name in ("garbage", "bare", "copied", "twin", "stray"))
    assert found["present"]["why"] is None
    assert gates(found["main"]) == {"registration": "blocks"}


@pytest.mark.parametrize("what", ["no permission", "no mount"])
def test_a_worktree_that_cannot_be_looked_at_is_unreadable_and_not_clean(
    world: World, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    hidden, fine = world.agent("hidden", path=world.tmp / "disk/hidden"), world.agent("fine")
    if what == "no mount":
        shutil.rmtree(hidden.path.parent)
        hidden.path.parent.symlink_to(world.tmp / "not mounted")
    else:
        refuse(monkeypatch, hidden.path)
    doc = listed(world).doc
    found = {Path(row["path"]).name: row for row in doc["worktrees"]}

    assert (found["hidden"]["state"], found["fine"]["state"]) == ("unreadable", "present")
    assert found["hidden"]["why"]
    assert found["hidden"]["may_go"] is None
    assert doc["complete"] is False
    assert world.registered(fine)


def test_a_circle_of_links_is_broken_and_stops_nothing(world: World) -> None:
    agent = world.agent("a")
    (agent.path / ".git").unlink()
    (agent.path / "one").symlink_to("two")
    (agent.path / "two").symlink_to("one")
    put(agent.path / ".git", "gitdir: one\n")
    row = rows(world)["a"]

    assert (row["state"], row["may_go"], gates(row)) == ("broken", False, {"registration": "blocks"})


def test_a_registration_that_names_no_directory_is_listed_though_git_passes_over_it(world: World) -> None:
    agent = world.agent("a")
    admin = admin_of(world, agent)
    (admin / "gitdir").unlink()
    assert not world.registered(agent)
    lost = [row for row in listed(world).doc["worktrees"] if row["path"] is None]

    assert [(row["state"], row["admin"], row["may_go"]) for row in lost] == [("broken", str(admin), None)]
    assert rows(world)["a"]["state"] == "unregistered"


def test_two_registrations_of_one_directory_are_both_broken(world: World) -> None:
    agent = world.agent("a")
    admin = admin_of(world, agent)
    shutil.copytree(admin, admin.with_name("again"))
    found = [row for row in listed(world).doc["worktrees"] if row["path"] == str(agent.path)]

    assert [row["state"] for row in found] == ["broken", "broken"]
    assert [(row["may_go"], gates(row)) for row in found] == [(None, {"registration": "cannot_tell"})] * 2


def test_what_is_around_a_worktree_below_the_managed_root_is_no_stray(world: World) -> None:
    world.agent("deep", path=world.worktree_dir / "group/deep")
    put(world.worktree_dir / "group/stray/file", "x")

    assert {name: row["state"] for name, row in rows(world).items()} == {
        "main": "main",
        "deep": "present",
        "stray": "unregistered",
    }


@pytest.mark.parametrize("there", [True, False])
def test_a_managed_root_that_cannot_be_listed_is_told_and_one_that_is_not_there_is_fine(
    world: World, there: bool
) -> None:
    root = put(world.tmp / "file", "x") if there else world.tmp / "nowhere"
    doc = listed(world, "--managed-root", str(root)).doc

    assert list(doc["not_known"]) == (["managed_root"] if there else [])
    assert doc["managed_root"] == str(root)


# --- owners


def test_an_owner_is_told_unknown_or_unreadable(world: World) -> None:
    owned, _, garbled, gone = (world.agent(name) for name in ("owned", "nobody", "garbled", "gone"))
    record = Owner("agent-7", owned.branch, "2026-01-02T03:04:05+00:00", "s1", "s0", "/m.json", last_seen="2026-01-03")
    for agent in (owned, gone):
        write_owner(admin_of(world, agent), record)
    put(admin_of(world, garbled) / NAME, b"{\xff")
    shutil.rmtree(gone.path)
    found = rows(world)

    assert found["owned"]["owner"] == {
        "known": "recorded",
        "agent": "agent-7",
        "session": "s1",
        "parent": "s0",
        "manifest": "/m.json",
        "recorded_at": "2026-01-02T03:04:05+00:00",
        "last_seen": "2026-01-03",
    }
    assert found["gone"]["owner"] == found["owned"]["owner"]
    assert {name: found[name]["owner"]["known"] for name in ("nobody", "garbled")} == {
        "nobody": "unknown",
        "garbled": "unreadable",
    }
    assert list(found["garbled"]["not_known"]) == ["owner"]
    assert found["nobody"]["not_known"] == {}


# --- history


def counted(world: World, tip: str, base: str) -> tuple[int, int]:
    ahead, behind = world.git("rev-list", "--left-right", "--count", f"{tip}...{base}").split()
    return int(ahead), int(behind)


def test_ahead_behind_and_landed_are_what_plain_git_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = world.agent("old")
    world.commit(write={"more": "1"})
    two = world.agent("two")
    world.commit(two.path, write={"second": "2"})
    world.agent("empty", write={})
    merged = world.agent("merged")
    world.git("merge", "-q", "--no-ff", "-m", "merge", merged.branch)
    world.git("merge", "-q", "--no-ff", "-m", "join", two.branch, cwd=old.path)
    alien = world.agent("alien", write={})
    world.git("checkout", "-q", "--orphan", "alien", cwd=alien.path)
    world.commit(alien.path, write={"other": "1"})
    tracked = world.agent("tracked")
    world.git("branch", "-q", "--set-upstream-to", two.branch, tracked.branch)
    forgotten = world.agent("forgotten")
    world.git("config", f"branch.{forgotten.branch}.remote", ".")
    world.git("config", f"branch.{forgotten.branch}.merge", "refs/heads/gone")
    unborn = world.agent("unborn", write={})
    world.git("checkout", "-q", "--orphan", "unborn", cwd=unborn.path)
    detached = world.agent("detached")
    world.git("checkout", "-q", "--detach", cwd=detached.path)
    found = rows(world)

    for name in ("old", "two", "empty", "merged", "alien", "forgotten", "detached", "tracked"):
        against = two.branch if name == "tracked" else "main"
        row = found[name]
        assert (row["ahead"], row["behind"]) == counted(world, row["head"], against), name
        assert row["compared_with"] == f"refs/heads/{against}"
        assert row["landed"] is (world.git_code("merge-base", "--is-ancestor", row["head"], "main") == 0), name
    assert [found["unborn"][key] for key in ("head", "ahead", "behind", "landed")] == [None] * 4
    assert (found["detached"]["branch"], found["unborn"]["branch"]) == (None, "unborn")
    assert found["unborn"]["not_known"] == {}
    assert {"empty", "merged", "main"} == {name for name, row in found.items() if row["landed"]}

    # Too many commits to hold at once: each tip is then asked about alone, with the same answers.
    monkeypatch.setattr("git_wave.reclaim.distances.MOST", 1)
    again = rows(world)
    assert [(row["ahead"], row["landed"]) for row in again.values()] == [
        (row["ahead"], row["landed"]) for row in found.values()
    ]


def test_one_tip_that_cannot_be_read_costs_only_its_own_answers(world: World) -> None:
    agents = [world.agent(name) for name in "abcde"]
    lost = agents[2].tip
    (world.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    found = rows(world)

    assert found["c"]["landed"] is None
    assert {"landed", "distance"} <= set(found["c"]["not_known"])
    assert found["c"]["may_go"] is not True
    others = [(found[name]["ahead"], found[name]["landed"], found[name]["not_known"]) for name in "abde"]
    assert others == [(1, False, {})] * 4


def test_without_a_default_branch_nothing_is_called_landed(world: World) -> None:
    world.agent("a", write={})
    world.git("checkout", "-q", "--detach")
    world.git("branch", "-q", "-m", "main", "trunk")
    doc = listed(world).doc

    assert doc["default_branch"] is None
    assert "default_branch" in doc["not_known"]
    assert [(row["landed"], row["ahead"]) for row in doc["worktrees"]] == [(None, None)] * 2
    assert doc["complete"] is False


def test_a_branch_that_moves_meanwhile_is_not_told_at_a_distance_of_another_commit(world: World, shim: Shim) -> None:
    agent = world.agent("a")
    world.git("branch", "-q", "--set-upstream-to", "main", agent.branch)
    shim.before("for-each-ref", f"git -C '{agent.path}' commit -q --allow-empty -m more", arg="track")
    row = rows(world)["a"]

    assert (row["head"], row["ahead"], row["behind"]) == (agent.tip, None, None)
    assert "moved" in row["not_known"]["distance"]


# --- gates


def test_blockers_and_warnings_stand_apart(world: World) -> None:
    world.agent("clean")
    world.agent("dirty", {f"draft-{number}": "x" for number in range(12)}, commit=False)
    put(world.agent("output").path / "secret.env", "x")
    found = rows(world)

    assert {name: gates(row) for name, row in found.items() if name != "main"} == {
        "clean": {},
        "dirty": {"dirt": "blocks"},
        "output": {"ignored_output": "blocks"},
    }
    (dirt,) = found["dirty"]["blockers"]
    assert (dirt["reason"], dirt["why"][-1], len(dirt["why"])) == ("worktree_dirty", "and 2 more", 11)
    assert found["dirty"]["may_go"] is False
    assert {warning["code"] for row in found.values() for warning in row["warnings"]} <= {"processes_unreadable"}


@pytest.mark.parametrize("how", ["fails", pytest.param("times out", marks=pytest.mark.deep), "talks nonsense"])
def test_git_that_does_not_answer_in_one_worktree_leaves_that_one_unknown(world: World, shim: Shim, how: str) -> None:
    bad = world.agent("bad")
    world.agent("fine")
    # What git is asked in a worktree names its administrative directory.
    where = f"worktrees/{admin_of(world, bad).name} "
    if how == "fails":
        shim.fail("status", 128, "fatal: out of luck", arg=where)
    elif how == "times out":
        shim.before("status", "sleep 60", arg=where)
    else:
        shim.fail("ls-files", 0, stdout="H nonsense", arg=where)
    found = rows(world, *(["--git-timeout", "3"] if how == "times out" else []))

    # A git that hangs may be found as a process that is in the worktree.
    assert found["bad"]["may_go"] in ((None, False) if how == "times out" else (None,))
    assert {answer for gate, answer in gates(found["bad"]).items() if gate != "holders"} == {"cannot_tell"}
    assert (found["fine"]["may_go"], gates(found["fine"])) == (True, {})


def test_without_a_look_at_the_processes_no_worktree_may_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.agent("a")
    monkeypatch.setattr("git_wave.state.census.sees_itself", lambda pids: False)
    row = rows(world)["a"]

    assert (row["may_go"], gates(row)) == (None, {"holders": "cannot_tell"})


def test_the_checkout_that_is_asked_from_is_kept(world: World) -> None:
    agent = world.agent("a")
    answer = call("list", "--cwd", str(agent.path), "--json")
    found = {Path(row["path"]).name: row for row in answer.doc["worktrees"]}

    assert answer.doc["root"] == str(agent.path)
    assert gates(found["a"]) == {"containment": "blocks"}
    assert found["main"]["state"] == "main"


# --- size and age


def test_size_is_what_du_says_and_other_worktrees_do_not_count(world: World) -> None:
    agent = world.agent("a", {"big": "x" * 70_000})
    world.agent("inner", path=agent.path / "inner")
    os.link(agent.path / "big", agent.path / "same")
    (agent.path / "loop").symlink_to(agent.path)
    found = rows(world)
    du = subprocess.run(
        ["du", "-s", "-k", "--exclude=inner", agent.path], capture_output=True, text=True, check=True
    ).stdout

    assert found["a"]["size_bytes"] == int(du.split()[0]) * 1024
    assert (found["a"]["size_is_least"], found["a"]["not_known"]) == (False, {})
    assert 0 < found["main"]["size_bytes"] < found["a"]["size_bytes"]


def test_a_size_that_was_cut_is_a_lower_bound_and_says_why(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.agent("a", {f"d/{number}": "x" for number in range(600)}, commit=False)
    monkeypatch.setattr(list_command, "Budget", lambda seconds: Budget(seconds, 100))
    row = rows(world)["a"]

    assert row["size_is_least"] is True
    assert "entries" in row["not_known"]["size"]
    assert "≥" in table(world, monkeypatch)
    assert rows(world, "--size-budget", "0")["a"]["size_bytes"] is None


def test_a_time_in_the_future_is_no_age(world: World) -> None:
    for name, made in (("a", 4e9), ("b", 1e9)):
        os.utime(admin_of(world, world.agent(name)) / "commondir", (made, made))
    found = rows(world)

    assert (found["a"]["age_seconds"], list(found["a"]["not_known"])) == (None, ["age"])
    assert found["b"]["made_at"] == "2001-09-09T01:46:40+00:00"
    assert found["b"]["age_seconds"] > 7e8


# --- output


def test_the_keys_of_the_document_are_fixed(world: World) -> None:
    world.agent("a")
    put(world.worktree_dir / "stray/file", "x")
    doc = listed(world).doc

    assert set(doc) == {
        *("ok", "reason", "root", "managed_root", "default_branch", "at", "complete", "counts", "worktrees"),
        "not_known",
    }
    assert [set(row) for row in doc["worktrees"]] == [ROW_KEYS] * 3
    assert doc["counts"] == {
        "all": 3,
        "main": 1,
        "present": 1,
        "absent": 0,
        "unreadable": 0,
        "broken": 0,
        "unregistered": 1,
    }
    assert doc["complete"] is True


ORDERS = {
    "path": ["a", "b", "c"],
    "branch": ["c", "b", "a"],
    "state": ["c", "a", "b"],
    "age": ["b", "c", "a"],
    "size": ["c", "b", "a"],
}


def test_rows_are_sorted_the_main_worktree_first_and_the_unknown_last(world: World) -> None:
    branches = {"a": "agent-3", "b": "agent-2", "c": "agent-1"}
    a, b, c = (world.agent(name, branch=branch) for name, branch in branches.items())
    put(c.path / "big", "x" * 100_000)
    put(b.path / "big", "x" * 20_000)
    for agent, made in ((a, 4e9), (b, 1e9), (c, 1.5e9)):
        os.utime(admin_of(world, agent) / "commondir", (made, made))
    shutil.rmtree(a.path)
    (b.path / ".git").unlink()

    inventory = inventory_of(open_repository(world.root), None, Budget())

    for key, order in ORDERS.items():
        sorted_paths = [row.place.path for row in sorted_rows(inventory, key)]
        assert [path.name for path in sorted_paths if path] == ["main", *order], key


def test_the_table_is_sorted_and_tells_the_unknown_from_what_does_not_apply(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent, garbled = world.agent("absent"), world.agent("garbled")
    put(admin_of(world, garbled) / NAME, "{}")
    os.utime(admin_of(world, garbled) / "commondir", (4e9, 4e9))
    shutil.rmtree(absent.path)
    lines = [line.split() for line in table(world, monkeypatch, "--sort", "size").splitlines()]

    assert [Path(line[0]).name for line in lines[1:4]] == ["main", "garbled", "absent"]
    assert (lines[2][2:5], lines[2][-2:]) == (["unreadable", "present", "?"], ["no", "nothing"])
    assert (lines[3][2:5], lines[3][-2:]) == (["unknown", "absent,", "prunable"], ["no", "–"])


def test_hostile_names_reach_a_terminal_spelled_out_and_json_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a\x1b[31m\n" + os.fsdecode(b"\xff")
    branch = "agent-\u202e\u2028\x85"
    world.agent("x", path=world.worktree_dir / name, branch=branch)
    world.git("branch", "-q", "--set-upstream-to", "main", branch)
    put(world.worktree_dir / "stray\x1b[2J/file", "x")
    found, text = rows(world), table(world, monkeypatch)

    assert (found[name]["branch"], found[name]["ahead"], found[name]["may_go"]) == (branch, 1, True)
    assert not set("\x1b\u202e\u2028\x85\udcff") & set(text)
    assert "\\x1b[31m" in text


def test_outside_a_repository_it_refuses_and_says_so_on_both_streams(world: World) -> None:
    answer = call("list", "--cwd", str(world.tmp))

    assert (answer.code, answer.doc["reason"]) == (1, "not_a_checkout")
    assert answer.err.startswith("list: not_a_checkout — ")


def test_a_list_that_git_does_not_give_is_no_empty_list(world: World, shim: Shim) -> None:
    shim.fail("worktree list", 128, "fatal: no luck")
    answer = call("list", "--cwd", str(world.root))

    assert (answer.code, answer.doc["ok"], answer.doc["reason"]) == (1, False, "git_failed")


# --- what it leaves alone, and what it costs

READING = {
    *("", "rev-parse", "config", "worktree", "for-each-ref", "symbolic-ref", "show-ref", "cat-file", "rev-list"),
    *("status", "ls-files"),
}


def everything_in(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Of every file its inode, time and bytes."""
    found = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def test_nothing_is_written_and_no_lock_is_taken(world: World, shim: Shim) -> None:
    agents = [world.agent(name) for name in "abc"]
    for agent in agents:
        # An index that a `git status` with locks would refresh.
        os.utime(agent.path / "README.md", (1e9, 1e9))
    shutil.rmtree(agents[1].path)
    before = everything_in(world.root), everything_in(world.worktree_dir)
    shim.forget()
    listed(world)
    inside = [call for call in shim.calls() if any("/worktrees/" in word for word in call)]

    assert (everything_in(world.root), everything_in(world.worktree_dir)) == before
    assert len(inside) == 4
    assert all("--no-optional-locks" in call for call in inside)
    assert {subcommand(call) for call in shim.calls()} <= READING


def test_each_further_worktree_costs_two_git_processes(world: World, shim: Shim) -> None:
    for name in "ab":
        world.agent(name)
    rows(world)
    few = len(shim.calls())
    for name in "cdef":
        world.agent(name)
    shim.forget()
    rows(world)

    assert len(shim.calls()) - few == 2 * 4
    assert few <= 2 * 2 + 14
