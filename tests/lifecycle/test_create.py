"""create: what it makes where nothing stands against it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.calling import call, call_program, write_manifest
from support.creating import as_agent, assert_refused, create, create_argv, created, made_by, nothing_made
from support.killing import KILLED, calm, kill_when
from support.recording import BASE, ENTRY, entries_of
from support.replaying import admin_of, assert_as_before, standing
from support.repo import put
from support.shim import Shim
from support.world import World

# -- defaults and flags


def test_branch_worktree_and_entry_are_made_with_the_defaults(world: World) -> None:
    before = standing(world.root)

    made = created(world)

    assert made.branch == "agent-a1"
    assert made.path == world.root / ".claude/worktrees/agent-a1"
    assert (made.base, made.baseline) == (world.head(), None)
    assert made.doc["cwd"] == str(made.path)
    assert (made.doc["locked"], made.doc["replayed"], made.doc["warnings"]) == (False, None, [])
    assert made.doc["manifest_path"] == str(world.tmp / "wave.json")
    assert world.git("status", "--porcelain", "--ignored", cwd=made.path) == ""
    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)


def test_the_entry_is_what_record_agent_would_have_written(world: World) -> None:
    created(world)

    assert entries_of(world.tmp / "wave.json") == [
        {
            "agent_id": "a1",
            "worktree_path": str(world.root / ".claude/worktrees/agent-a1"),
            "branch": "agent-a1",
            "expected_base": world.head(),
            "files_modified": [],
            "declared_deletions": [],
        }
    ]


def test_path_branch_and_base_are_as_the_flags_say(world: World) -> None:
    base = world.git("rev-parse", "HEAD~2")

    made = created(world, "--path=lanes/one", "--branch=worktree-wf_x/y", "--base=HEAD~2")

    assert (made.path, made.branch, made.base) == (world.root / "lanes/one", "worktree-wf_x/y", base)


def test_an_absolute_path_is_taken_as_it_is(world: World) -> None:
    assert created(world, f"--path={world.root}/lanes/one").path == world.root / "lanes/one"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("base", ["HEAD", "v1", "side", "refs/heads/side", "{short}", "{full}", "HEAD^", "@~1"])
def test_the_entry_records_the_commit_that_a_base_resolves_to(world: World, base: str) -> None:
    world.git("tag", "-a", "-m", "one", "v1", "HEAD~1")
    world.git("branch", "side", "HEAD~2")
    full = world.git("rev-parse", "HEAD~3")
    said = base.format(full=full, short=full[:9])

    made = created(world, f"--base={said}")

    assert made.base == world.git("rev-parse", f"{said}^{{commit}}")


def test_scope_and_deletions_are_recorded_as_record_agent_does(world: World) -> None:
    flags = ["--files", "src/app.py  docs", "--file", "a b.py", "--deletions", "LICENSE\tx", "--deletion", "old name"]

    entry = created(world, *flags).doc["entry"]

    assert sorted(entry["files_modified"]) == ["a b.py", "docs", "src/app.py"]
    assert sorted(entry["declared_deletions"]) == ["LICENSE", "old name", "x"]


def test_values_are_trimmed(world: World) -> None:
    made = created(world, "--branch= agent-x\n", agent=" a1\t")

    assert (made.doc["entry"]["agent_id"], made.branch) == ("a1", "agent-x")


def test_the_branch_pattern_is_the_repositorys(world: World) -> None:
    world.git("config", "wave.branchPattern", "^lane/[a-z]+$")

    assert created(world, "--branch=lane/one").branch == "lane/one"


def test_the_branch_follows_no_other_branch(world: World) -> None:
    """Whatever the user's config says of new branches: their config is not ours to write."""
    world.git("config", "branch.autoSetupMerge", "always")
    world.git("update-ref", "refs/remotes/origin/main", "HEAD")
    world.git("config", "remote.origin.url", "nowhere")
    world.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    created(world, "--base=origin/main")

    assert world.git("config", "--get-regexp", r"^branch\.agent", check=False) == ""


def test_a_worktree_can_be_made_from_a_detached_checkout(world: World) -> None:
    world.git("switch", "-q", "--detach", "HEAD~1")

    assert created(world).base == world.head()


def test_an_answer_for_people_names_branch_and_place(world: World) -> None:
    answer = create(world, "--format", "text")

    assert answer.code == 0, answer
    assert "agent-a1" in answer.out
    assert str(world.root / ".claude/worktrees/agent-a1") in answer.out
    assert len(answer.out.splitlines()) < 12


def test_variables_that_a_hook_leaks_lead_nowhere(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(world.tmp / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(world.tmp / "index"))

    created(world)

    assert not (world.tmp / "index").exists()


# -- the manifest


def test_what_the_manifest_holds_is_kept(world: World) -> None:
    other = {**ENTRY, "note": {"deep": [1, None]}, "expected_base": BASE}
    world.manifest(other, session="s-1", more=[{"x": 1}])

    created(world)

    document = json.loads((world.tmp / "wave.json").read_text())
    assert document["worktrees"][0] == other
    assert (document["session"], document["more"], len(document["worktrees"])) == ("s-1", [{"x": 1}], 2)
    assert document["orchestrator_root"] == str(world.root)


def test_a_bare_array_stays_one(world: World) -> None:
    write_manifest(world.tmp / "wave.json", None, [])

    made = created(world)

    assert json.loads((world.tmp / "wave.json").read_text()) == [made.doc["entry"]]


def test_an_invalid_entry_of_somebodys_is_kept_and_does_not_matter(world: World) -> None:
    world.manifest({"branch": 7}, "nonsense")

    created(world)

    assert entries_of(world.tmp / "wave.json")[:2] == [{"branch": 7}, "nonsense"]


def test_the_wave_accepts_the_entry_at_once(world: World) -> None:
    made = created(world)

    run = world.wave(world.tmp / "wave.json", args=["--dry-run"])

    assert (run.code, run.outcome(made.branch)[0]) == (0, "would_land")


def test_the_wave_lands_what_the_agent_commits(world: World) -> None:
    made = created(world, "--files", "made.txt")
    tip = world.commit(made.path, {"made.txt": "1\n"})

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, run.outcome(), run.codes()) == (0, ("merged_removed", "ok"), [])
    assert world.landed(as_agent(made, tip))
    assert pruned_admin(world) == []


def pruned_admin(world: World) -> list[str]:
    return [path.name for path in (world.root / ".git").glob("worktrees/*")]


def test_the_owner_is_recorded_beside_the_registration_and_not_in_the_worktree(world: World) -> None:
    made = created(world, "--session=s-7", "--parent=s-1")

    records = [json.loads(path.read_text()) for path in admin_of(world.root / ".git", made.path).glob("*.json")]
    (record,) = [one for one in records if one.get("agent_id") == "a1"]
    assert (record["branch"], record["session"], record["parent"]) == ("agent-a1", "s-7", "s-1")
    assert (record["base"], record["manifest"]) == (made.base, str(world.tmp / "wave.json"))


# -- lock


def test_a_locked_worktree_says_for_whom_and_the_wave_takes_the_lock_off(world: World) -> None:
    made = created(world, "--lock")

    assert made.doc["locked"] is True
    assert "a1" in world.worktrees()[str(made.path)]["locked"]
    tip = world.commit(made.path, {"made.txt": "1\n"})
    run = world.wave(world.tmp / "wave.json")
    assert (run.code, run.outcome()) == (0, ("merged_removed", "ok")), run.doc
    assert world.landed(as_agent(made, tip))


@pytest.fixture
def somebody() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives and has nothing to do with us."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("agent", ["x (pid {pid})", "a", "the quick one", "pid {pid}"])
def test_the_wave_takes_our_lock_off_whatever_the_agent_is_called(
    world: World, agent: str, somebody: subprocess.Popen[bytes]
) -> None:
    created(world, "--lock", "--branch=agent-x", agent=agent.format(pid=somebody.pid))

    assert world.wave(world.tmp / "wave.json").outcome()[0] == "merged_removed"


def test_a_lock_for_a_process_holds_as_long_as_the_process_lives(
    world: World, somebody: subprocess.Popen[bytes]
) -> None:
    made = created(world, "--lock", f"--owner-pid={somebody.pid}")

    assert world.wave(world.tmp / "wave.json").outcome() == ("blocked", "worktree_locked")
    assert made.path.is_dir()
    somebody.kill()
    somebody.wait()
    assert world.wave(world.tmp / "wave.json").outcome()[0] == "merged_removed"


# -- an existing branch


def test_unique_takes_the_next_free_name(world: World) -> None:
    for name in ("agent-a1", "agent-a1-2"):
        world.git("branch", name)
    world.git("pack-refs", "--all")

    made = created(world, "--unique")

    assert (made.branch, made.path) == ("agent-a1-3", world.root / ".claude/worktrees/agent-a1-3")


def test_unique_passes_a_name_by_that_is_a_folder_of_branches(world: World) -> None:
    world.git("branch", "agent-a1/1")

    assert created(world, "--unique").branch == "agent-a1-2"


@pytest.mark.parametrize("kind", ["directory", "file", "dangling link", "registration"])
def test_unique_passes_a_name_by_at_whose_path_something_stands(world: World, kind: str) -> None:
    place = world.root / ".claude/worktrees/agent-a1"
    place.parent.mkdir(parents=True)
    if kind == "registration":
        world.git("worktree", "add", "-q", "--detach", place)
        shutil.rmtree(place)
    elif kind == "directory":
        put(place / "mine.txt", "mine\n")
    elif kind == "file":
        put(place, "mine\n")
    else:
        place.symlink_to("nowhere")

    assert created(world, "--unique").branch == "agent-a1-2"


def test_unique_numbers_the_name_inside_a_folder_of_branches(world: World) -> None:
    world.git("branch", "agent-x/1")

    assert created(world, "--unique", "--branch=agent-x/1").branch == "agent-x/1-2"


def test_unique_passes_every_name_by_that_has_something_in_its_way(world: World) -> None:
    world.git("branch", "agent-a1/1")
    world.git("branch", "agent-a1-2")
    put(world.root / ".claude/worktrees/agent-a1-3/mine.txt", "mine\n")
    world.git("branch", "agent-a1-4/x/y")

    assert created(world, "--unique").branch == "agent-a1-5"


def test_unique_passes_a_name_by_that_becomes_a_folder_of_branches_just_then(world: World, shim: Shim) -> None:
    shim.before("update-ref", f"git -C {world.root} branch agent-a1/1", nth=1)

    assert created(world, "--unique").branch == "agent-a1-2"


def test_unique_helps_nothing_where_the_path_was_said(world: World) -> None:
    put(world.root / "lanes/one/mine.txt", "mine\n")

    assert create(world, "--unique", "--path=lanes/one").doc["reason"] == "path_exists"


def test_unique_changes_nothing_where_the_name_is_free(world: World) -> None:
    assert created(world, "--unique").branch == "agent-a1"


def test_the_same_agent_started_twice_with_unique_has_two_worktrees(world: World) -> None:
    first, second = created(world, "--unique"), created(world, "--unique")

    assert (first.branch, second.branch) == ("agent-a1", "agent-a1-2")
    assert [entry["branch"] for entry in entries_of(world.tmp / "wave.json")] == ["agent-a1", "agent-a1-2"]


# -- where the user is


def test_below_the_root_of_the_repository_the_agent_works_in_the_same_directory(world: World) -> None:
    made = created(world, root=world.root / "src/core")

    assert made.path == world.root / "src/core/.claude/worktrees/agent-a1"
    assert made.doc["cwd"] == str(made.path / "src/core")
    assert (made.path / "src/core/engine.py").is_file()


def test_a_relative_path_is_taken_from_the_root_that_was_named(world: World) -> None:
    made = created(world, "--path=lanes/one", root=world.root / "src")

    assert (made.path, made.doc["cwd"]) == (world.root / "src/lanes/one", str(world.root / "src/lanes/one/src"))


def test_the_working_directory_is_there_even_where_the_base_has_none(world: World) -> None:
    (world.root / "notes/today").mkdir(parents=True)

    made = created(world, root=world.root / "notes/today")

    assert made.doc["cwd"] == str(made.path / "notes/today")
    assert Path(made.doc["cwd"]).is_dir()


def test_the_working_directory_is_never_made_through_a_link_of_the_base(world: World) -> None:
    outside = world.tmp / "outside"
    outside.mkdir()
    (world.root / "notes").symlink_to(outside)
    world.git("add", "notes")
    world.git("commit", "-q", "-m", "a link that leads out")
    world.git("branch", "linked")
    world.git("reset", "-q", "--hard", "HEAD~1")
    (world.root / "notes/today").mkdir(parents=True)

    answer = create(world, "--base=linked", root=world.root / "notes/today")

    assert_refused(answer, "worktree_add_failed")
    assert (list(outside.iterdir()), list(world.worktrees())) == ([], [str(world.root)])
    assert "agent-a1" not in world.branches()


def test_a_create_killed_before_it_took_its_lock_off_is_finished_by_the_same_command(world: World, shim: Shim) -> None:
    manifest = world.manifest()
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "worktrees": ["no entry"]}))
    kill_when(shim, '[ "$sub" = worktree ] && has unlock "$@"')
    assert call_program("git-wave", *create_argv(world, "--format=json")).code == KILLED
    calm(shim)

    made = created(world)

    assert (made.doc["reason"], made.doc["locked"]) == ("already_created", False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["{link}/lanes/one", "{real}/lanes/one", "lanes/one"])
def test_a_root_behind_a_symlink_is_the_one_it_leads_to(world: World, path: str) -> None:
    link = world.tmp / "link"
    link.symlink_to(world.root)

    made = created(world, f"--path={path.format(link=link, real=world.root)}", root=link)

    assert (made.path, made.doc["cwd"]) == (world.root / "lanes/one", str(world.root / "lanes/one"))


def test_a_symlink_on_the_way_that_stays_inside_is_followed(world: World) -> None:
    (world.root / "lanes").mkdir()
    (world.root / "short").symlink_to("lanes")

    assert created(world, "--path=short/one").path == world.root / "lanes/one"


def test_a_linked_worktree_can_be_the_users_checkout(world: World) -> None:
    home = world.agent("home", {"made.txt": "1\n"})
    write_manifest(world.tmp / "wave.json", None, [])

    made = created(world, root=home.path)

    assert (made.base, made.path) == (home.tip, home.path / ".claude/worktrees/agent-a1")


ODD = ["a b", "a\nb", "é", "$(touch x)", "-lead", "*", 'q"u', "\\", "a\x1b[31mb"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ODD)
def test_a_path_may_hold_any_character(world: World, name: str) -> None:
    made = created(world, f"--path={world.root}/lanes/{name}")

    assert made.path == world.root / "lanes" / name
    tip = world.commit(made.path, {"made.txt": "1\n"})
    assert world.wave(world.tmp / "wave.json").code == 0
    assert world.landed(as_agent(made, tip))


def test_a_path_that_is_not_utf8_is_manageable_or_refused(world: World) -> None:
    world.manifest()
    before = standing(world.root)

    answer = create(world, f"--path={os.fsdecode(b'lanes/' + bytes([255]))}")

    if answer.code:
        assert answer.doc["reason"] == "invalid_entry"
        assert_as_before(before, standing(world.root))
        assert entries_of(world.tmp / "wave.json") == []
    else:
        made = made_by(world, answer)
        assert world.wave(world.tmp / "wave.json").code == 0
        assert not made.path.exists()


# -- others


def test_a_registration_that_waits_for_its_disk_is_never_pruned(world: World) -> None:
    away = world.agent("away", path=world.tmp / "disk/away")
    (world.tmp / "disk").rename(world.tmp / "drawer")

    made = created(world)

    assert {str(away.path), str(made.path)} <= world.worktrees().keys()


def test_peers_and_the_users_edits_are_as_they_were(world: World) -> None:
    peer = world.agent("peer", path=world.root / ".claude/worktrees/peer")
    (peer.path / "half.txt").write_text("half an idea\n")
    (world.root / "LICENSE").write_text("edited\n")
    world.git("add", "LICENSE")
    (world.root / "LICENSE").write_text("edited again\n")
    before = standing(world.root)

    made = created(world)

    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert (made.path / "LICENSE").read_text() != "edited again\n"


def test_in_the_middle_of_a_merge_a_worktree_of_head_can_be_made(world: World) -> None:
    world.agent("other", {"LICENSE": "theirs\n"})
    world.commit(write={"LICENSE": "ours\n"})
    world.git("merge", "worktree-agent-other", check=False)
    before = standing(world.root)

    made = created(world)

    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)


def test_create_asks_few_questions_of_git(world: World, shim: Shim) -> None:
    """A process costs more than anything else here."""
    created(world)

    assert len(shim.calls()) <= 15, [call[:6] for call in shim.calls()]


def test_without_a_manifest_create_is_wrong_usage(world: World) -> None:
    with nothing_made(world):
        answer = call("create", "--agent-id=a1", f"--root={world.root}")

    assert (answer.code, answer.out) == (2, "")
    assert "--manifest" in answer.err


def test_help_names_the_choice_between_a_baseline_and_none(world: World) -> None:
    answer = call("create", "--help")

    assert answer.code == 0
    assert "--baseline" in answer.out
    assert create_argv(world)[0] == "create"
