"""create: when it fails on the way, what this call made goes again, and nothing else does."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from support.calling import call_program
from support.creating import assert_nothing_pending, assert_refused, create, create_argv, created, nothing_made
from support.mounts import read_only
from support.recording import entries_of
from support.replaying import assert_as_before, standing
from support.repo import put
from support.shim import Shim
from support.world import World

PATH = ".claude/worktrees/agent-a1"


@pytest.fixture
def peer(world: World) -> None:
    """Somebody else is at work beside, in the directory in which the new worktree is to stand."""
    agent = world.agent("peer", path=world.root / ".claude/worktrees/peer")
    put(agent.path / "half.txt", "half an idea\n")
    put(world.root / "LICENSE", "edited by the user\n")


# -- the manifest cannot be written

SABOTAGE: dict[str, tuple[str, set[str]]] = {
    "its directory goes": (
        "mv {dir} {dir}-moved",
        {"manifest_write_failed", "manifest_read_failed"},
    ),
    "it is no JSON any more": ("echo '{{' >{dir}/wave.json", {"invalid_manifest_json"}),
    "it has another shape": ("echo 7 >{dir}/wave.json", {"manifest_shape_invalid"}),
    "it is gone": ("rm {dir}/wave.json", {"manifest_read_failed"}),
    "somebody recorded the same": ("cp {dir}/taken.json {dir}/wave.json", {"duplicate_entry"}),
    "it became a directory": ("rm {dir}/wave.json; mkdir {dir}/wave.json", {"manifest_read_failed"}),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", SABOTAGE)
@pytest.mark.usefixtures("peer")
def test_when_the_manifest_cannot_be_written_only_this_calls_worktree_and_branch_go(
    world: World, shim: Shim, what: str
) -> None:
    place = world.tmp / "manifests"
    place.mkdir()
    manifest = world.manifest(name="manifests/wave.json")
    taken = {"agent_id": "x", "worktree_path": str(world.root / PATH), "branch": "agent-a1", "expected_base": "1" * 40}
    world.manifest(taken, name="manifests/taken.json")
    before = standing(world.root)
    run, reasons = SABOTAGE[what]
    shim.after("worktree add", run.format(dir=place))

    answer = create(world, f"--manifest={manifest}")

    assert_refused(answer, *reasons)
    assert shim.calls("worktree add"), "it never came so far"
    assert_as_before(before, standing(world.root))
    assert_nothing_pending(world)


def test_a_manifest_that_cannot_be_written_at_all_leaves_nothing_behind(world: World) -> None:
    (world.tmp / "manifests").mkdir()
    manifest = world.manifest(name="manifests/wave.json")
    before = standing(world.root)

    with read_only(world.tmp / "manifests"):
        answer = create(world, f"--manifest={manifest}")

    assert_refused(answer, "manifest_write_failed")
    assert entries_of(manifest) == []
    assert_as_before(before, standing(world.root))


def test_a_lock_of_the_manifest_that_cannot_be_had_leaves_nothing_behind(world: World) -> None:
    (world.tmp / ".wave.json.lock").mkdir()

    with nothing_made(world):
        assert_refused(create(world), "manifest_write_failed")


# -- `worktree add` takes too long


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.usefixtures("peer")
def test_an_add_that_takes_too_long_is_rolled_back(world: World, shim: Shim, when: str) -> None:
    rule: Callable[[str, str], None] = getattr(shim, when)
    rule("worktree add", "sleep 600")

    with nothing_made(world):
        assert_refused(create(world, "--checkout-timeout=0.5"), "worktree_add_timed_out")


@pytest.mark.usefixtures("peer")
def test_an_add_that_is_ended_in_the_middle_of_its_checkout_is_rolled_back(world: World) -> None:
    world.commit(write={".gitattributes": "src/util/*.py filter=slow\n"})
    world.git("config", "filter.slow.smudge", "sleep 600")
    world.git("config", "filter.slow.required", "true")

    with nothing_made(world):
        assert_refused(create(world, "--checkout-timeout=0.7"), "worktree_add_timed_out")

    world.git("config", "filter.slow.smudge", "cat")
    created(world)


# -- `worktree add` is refused


@pytest.mark.usefixtures("peer")
def test_an_add_that_git_refuses_leaves_what_stands_at_the_path(world: World, shim: Shim) -> None:
    """Somebody was quicker: their directory is theirs."""
    place = world.root / PATH
    shim.before("worktree add", f"mkdir -p {place}; echo theirs >{place}/file", nth=1)

    answer = create(world)

    assert_refused(answer, "worktree_add_failed", "path_exists")
    assert (place / "file").read_text() == "theirs\n"
    assert "agent-a1" not in world.branches()
    assert entries_of(world.tmp / "wave.json") == []
    assert str(place) not in world.worktrees()


def before_the_first_change(shim: Shim, run: str) -> None:
    """Once, right before create has git change something."""
    changes = '{ [ "$sub" = update-ref ] || [ "$sub" = branch ] || { [ "$sub" = worktree ] && has add "$@"; }; }'
    shim.rules.append(f'if {changes} && count changes && [ "$n" = 1 ]; then aside {shlex.quote(run)}; fi\n')
    shim.install()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_branch_that_somebody_made_in_the_meantime_is_theirs(world: World, shim: Shim, elsewhere: bool) -> None:
    place = world.tmp / "theirs" if elsewhere else world.root / PATH
    before_the_first_change(shim, f"git worktree add -q -b agent-a1 {place} HEAD~1")

    answer = create(world)

    assert_refused(answer, "worktree_add_failed", "branch_exists", "path_exists")
    assert world.branches()["agent-a1"] == world.git("rev-parse", "HEAD~1")
    assert world.worktrees()[str(place)]["branch"] == "refs/heads/agent-a1"
    assert (place / "README.md").is_file()
    assert entries_of(world.tmp / "wave.json") == []


def test_a_branch_that_somebody_made_in_the_meantime_without_a_worktree_is_theirs(world: World, shim: Shim) -> None:
    before_the_first_change(shim, "git branch agent-a1 HEAD")

    answer = create(world)

    assert_refused(answer, "worktree_add_failed", "branch_exists")
    assert world.branches()["agent-a1"] == world.head()
    assert not (world.root / PATH).exists()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_worktree_that_somebody_puts_on_our_branch_at_that_moment_is_theirs(
    world: World, shim: Shim, elsewhere: bool
) -> None:
    """Another tool has started the same agent, and finds the branch."""
    place = world.tmp / "theirs" if elsewhere else world.root / PATH
    add = f"git worktree add -q {place} agent-a1 || git worktree add -q -b agent-a1 {place}"
    shim.before("worktree add", f"{add}; echo theirs >{place}/file", nth=1)

    answer = create(world)

    assert_refused(answer, "worktree_add_failed", "branch_exists", "path_exists")
    assert (place / "file").read_text() == "theirs\n"
    assert world.worktrees()[str(place)]["branch"] == "refs/heads/agent-a1"
    assert world.branches()["agent-a1"] == world.head()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("code", [1, 128, 255])
def test_an_add_that_does_nothing_but_refuse_leaves_nothing_behind(world: World, shim: Shim, code: int) -> None:
    shim.fail("worktree add", code, "fatal: it does not want to")

    with nothing_made(world):
        hint = assert_refused(create(world), "worktree_add_failed")

    assert "it does not want to" in hint


def test_a_lock_file_of_gits_is_waited_for_or_told(world: World) -> None:
    put(world.root / ".git/refs/heads/agent-a1.lock", "")
    world.git("config", "wave.lockTimeout", "0.2")
    before = standing(world.root)

    answer = create(world)

    assert_refused(answer, "repo_locked", "worktree_add_failed")
    assert_as_before(before, standing(world.root))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "echo no >&2; exit 128"])
def test_a_post_checkout_hook_that_fails_leaves_a_managed_worktree_or_none(world: World, script: str) -> None:
    world.hook("post-checkout", script)
    world.manifest()
    before = standing(world.root)

    answer = create(world)

    if answer.code:
        assert_refused(answer, "worktree_add_failed")
        assert_as_before(before, standing(world.root))
    else:
        assert world.worktrees()[answer.doc["worktree_path"]]["branch"] == "refs/heads/agent-a1"
        assert [entry["branch"] for entry in entries_of(world.tmp / "wave.json")] == ["agent-a1"]


def test_a_filter_that_fails_leaves_no_half_checked_out_worktree(world: World) -> None:
    world.commit(write={".gitattributes": "src/util/*.py filter=broken\n"})
    world.git("config", "filter.broken.smudge", "false")
    world.git("config", "filter.broken.required", "true")

    with nothing_made(world):
        assert_refused(create(world), "worktree_add_failed")


# -- what it leaves


def test_after_a_rollback_the_same_command_succeeds(world: World, shim: Shim) -> None:
    shim.after("worktree add", f"echo '{{' >{world.tmp}/wave.json", nth=1)
    assert_refused(create(world), "invalid_manifest_json")
    world.manifest()

    created(world)


def test_directories_that_were_there_stay_when_a_create_is_rolled_back(world: World, shim: Shim) -> None:
    (world.root / "lanes/deep").mkdir(parents=True)
    shim.after("worktree add", f"echo '{{' >{world.tmp}/wave.json")
    world.manifest()
    before = standing(world.root)

    create(world, "--path=lanes/deep/er/one")

    assert_as_before(before, standing(world.root))
    assert (world.root / "lanes/deep").is_dir()


def test_no_room_for_our_own_state_is_told_and_nothing_is_made(world: World) -> None:
    put(world.root / ".git/git-wave", "a file\n")

    with nothing_made(world):
        assert_refused(create(world), "state_unwritable")


def test_what_a_failed_create_could_not_take_away_is_named(world: World, shim: Shim, tmp_path: Path) -> None:
    shim.after("worktree add", f"echo '{{' >{world.tmp}/wave.json", nth=1)
    shim.fail("worktree remove")
    world.manifest()

    answer = create(world)

    assert_refused(answer, "invalid_manifest_json", "worktree_remove_failed")
    if (world.root / PATH).exists():
        assert str(world.root / PATH) in json_text(answer.doc)


def json_text(doc: dict[str, object]) -> str:
    return repr(doc)


def test_what_a_create_that_was_killed_left_of_its_record_goes_after_a_day(world: World) -> None:
    home = world.root / ".git/git-wave/creating"
    old, young = [put(home / name, "") for name in (".a.json.x1", "a.lock")], put(home / ".b.json.x2", "")
    for path in old:
        os.utime(path, (0, 0))

    created(world)

    assert [path.exists() for path in (*old, young)] == [False, False, True]


def test_what_git_does_not_tell_of_keeps_a_worktree_that_a_killed_create_left(world: World, shim: Shim) -> None:
    shim.rules.append('if [ "$sub" = worktree ] && has add "$@"; then "$real" "$@"; kill -9 $PPID; exit 1; fi\n')
    shim.install()
    world.manifest()
    call_program("git-wave", *create_argv(world))
    shim.rules.clear()
    shim.install()
    notes = put(world.root / PATH / "nest/.git/notes", "only here\n")

    create(world)

    assert notes.read_text() == "only here\n"
