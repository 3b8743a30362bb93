"""create: everything that can be refused is refused before `git worktree add`, and leaves all as it was."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.calling import call, write_manifest
from support.creating import assert_refused, create, created, nothing_made
from support.recording import ENTRY
from support.repo import Repo, put
from support.shim import Shim
from support.world import World


@pytest.fixture(autouse=True)
def _nothing_is_begun(world: World, shim: Shim) -> Iterator[None]:
    """Around every test here: no worktree or branch was begun, and nothing is different afterwards."""
    yield
    assert shim.calls("worktree add") == []
    assert shim.calls("update-ref") == []
    assert shim.calls("branch") == []


def refused(
    world: World, *reasons: str, more: tuple[str, ...] = (), agent: str = "a1", root: Path | None = None
) -> str:
    with nothing_made(world):
        return assert_refused(create(world, *more, agent=agent, root=root), *reasons)


# -- flags


@pytest.mark.parametrize("blank", ["", " \t\n"])
def test_a_blank_agent_id_is_a_missing_field(world: World, blank: str) -> None:
    assert "--agent-id" in refused(world, "missing_field", agent=blank)


def test_no_agent_id_is_a_missing_field(world: World) -> None:
    with nothing_made(world):
        answer = call("create", "--manifest", str(world.tmp / "wave.json"), f"--root={world.root}")

    assert_refused(answer, "missing_field")


@pytest.mark.parametrize("root", [[], ["--root="], ["--root=  "]])
def test_no_root_is_refused(world: World, root: list[str]) -> None:
    with nothing_made(world):
        answer = call("create", "--manifest", str(world.tmp / "wave.json"), "--agent-id=a1", *root)

    assert_refused(answer, "root_required")


@pytest.mark.parametrize("flag", ["--path", "--branch", "--base"])
def test_a_flag_whose_shell_variable_was_unset_is_no_default(world: World, flag: str) -> None:
    with nothing_made(world):
        answer = create(world, f"{flag}=")

    assert answer.code in (1, 2), answer


BRANCHES = ["main", "feature/x", "refs/heads/agent-x", "agent-a b", "agent-a..b", "agent-a.lock", "agent-", "-agent-x"]
BRANCHES += ["--agent-x", "agent-é", "agent-a/", "agent-@{", "agent-a\nb", "agent-\x1b[31m"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("branch", BRANCHES)
def test_a_branch_of_no_good_name_is_an_invalid_entry(world: World, branch: str) -> None:
    assert "branch" in refused(world, "invalid_entry", more=(f"--branch={branch}",))


def test_an_agent_id_that_makes_no_branch_name_is_an_invalid_entry(world: World) -> None:
    refused(world, "invalid_entry", agent="a 1")


def test_an_agent_id_with_a_leading_dash_is_an_invalid_entry(world: World) -> None:
    refused(world, "invalid_entry", more=("--branch=agent-x",), agent="-x")


def test_a_path_with_a_leading_dash_is_an_invalid_entry(world: World) -> None:
    refused(world, "invalid_entry", more=("--path=-lanes/one",))


OUTSIDE = [
    "..",
    "../lanes",
    "lanes/../../x",
    "lanes/../one",
    "/elsewhere/one",
    ".",
    "{root}",
    "{root}/",
    "{root}-x/one",
]
OUTSIDE += [".git", ".git/one", ".git/worktrees/one", "{root}/./lanes/..", "lanes/.."]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_is_not_strictly_inside_the_root_is_refused(world: World, path: str) -> None:
    refused(world, "path_outside_root", more=(f"--path={path.format(root=world.root)}",))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["out", "out/one", "out/deep/er", "link-to-git/one"])
def test_a_symlink_that_leaves_the_root_is_not_followed(world: World, path: str) -> None:
    (world.tmp / "outside").mkdir()
    (world.root / "out").symlink_to("../outside")
    (world.root / "link-to-git").symlink_to(".git")

    refused(world, "path_outside_root", "path_exists", more=(f"--path={path}",))

    assert list((world.tmp / "outside").iterdir()) == []


def test_the_root_that_counts_is_the_directory_that_was_named(world: World) -> None:
    refused(world, "path_outside_root", more=(f"--path={world.root}/lanes/one",), root=world.root / "src")


BASES = ["nope", "-x", "--all", "--output=x", "HEAD:README.md", "HEAD^{tree}", "0" * 40, "f" * 40, "HEAD HEAD"]
BASES += ["HEAD..main", "^HEAD", "@{u}", "refs/heads", "HEAD~99"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("base", BASES)
def test_a_base_that_is_no_one_commit_is_refused(world: World, base: str) -> None:
    before = sorted(os.listdir(world.tmp))

    refused(world, "base_unresolved", more=(f"--base={base}",))

    assert [name for name in sorted(os.listdir(world.tmp)) if name not in before] == ["wave.json"]


def test_several_refusals_at_once_are_one_refusal(world: World) -> None:
    refused(
        world,
        *("invalid_entry", "path_outside_root", "base_unresolved"),
        more=("--branch=main", "--path=..", "--base=nope"),
    )


# -- the repository


def test_a_repository_with_no_commit_is_refused(world: World) -> None:
    (world.tmp / "fresh").mkdir()
    fresh = Repo(world.tmp / "fresh", world.env)
    fresh.git("init", "-q")
    manifest = write_manifest(world.tmp / "wave.json", None, [])

    answer = create(world, root=fresh.root)

    assert_refused(answer, "no_commit")
    assert manifest.read_text() == "[]"
    assert fresh.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert [path.name for path in fresh.root.iterdir()] == [".git"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["plain", "bare", "none", "a file", ".git"])
def test_a_root_that_is_no_checkout_is_refused(world: World, kind: str) -> None:
    place = world.tmp / "place"
    if kind == "plain":
        place.mkdir()
    elif kind == "bare":
        world.git("clone", "-q", "--bare", world.root, place)
    elif kind == "a file":
        put(place, "x")
    elif kind == ".git":
        place = world.root / ".git"
    write_manifest(world.tmp / "wave.json", None, [])

    refused(world, "not_a_checkout", root=place)


def test_a_manifest_of_another_repository_is_refused(world: World) -> None:
    (world.tmp / "other").mkdir()
    other = World(world.tmp / "other", world.root, world.env)
    world.manifest(orchestrator_root=str(other.root))

    refused(world, "root_mismatch")


# -- the manifest


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "invalid_manifest_json"),
        ('{"worktrees": [], "worktrees": []}', "manifest_shape_invalid"),
        ('{"worktrees": {}}', "manifest_shape_invalid"),
        ("7", "manifest_shape_invalid"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_as_it_is(world: World, text: str, reason: str) -> None:
    put(world.tmp / "wave.json", text)

    refused(world, reason)


def test_a_manifest_that_is_not_there_is_refused_and_not_made(world: World) -> None:
    answer = call("create", "--manifest", str(world.tmp / "none.json"), "--agent-id=a1", f"--root={world.root}")

    assert_refused(answer, "manifest_read_failed")
    assert not (world.tmp / "none.json").exists()
    assert not (world.root / ".claude").exists()


@pytest.mark.parametrize("path", ["{root}/.claude/worktrees/agent-a1", "{root}/.claude//worktrees/./agent-a1/"])
def test_an_entry_that_is_recorded_already_is_refused(world: World, path: str) -> None:
    world.manifest({**ENTRY, "branch": "agent-a1", "worktree_path": path.format(root=world.root)})

    assert "spawn" in refused(world, "duplicate_entry")


# -- what stands there already


@pytest.mark.parametrize("packed", [False, True])
def test_an_existing_branch_is_refused(world: World, packed: bool) -> None:
    world.git("branch", "agent-a1", "HEAD~1")
    if packed:
        world.git("pack-refs", "--all")

    assert "agent-a1" in refused(world, "branch_exists")


@pytest.mark.parametrize("unique", [False, True])
def test_a_branch_below_another_branch_cannot_be_and_is_refused(world: World, unique: bool) -> None:
    world.git("branch", "agent-a")

    refused(world, "branch_exists", more=("--branch=agent-a/b", *["--unique"] * unique))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "kind", ["file", "directory", "full directory", "dangling link", "link to a directory", "fifo"]
)
def test_whatever_stands_at_the_path_is_refused_and_stays(world: World, kind: str) -> None:
    place = world.root / "lanes/one"
    place.parent.mkdir()
    if kind == "file":
        put(place, "mine\n")
    elif "link" in kind:
        place.symlink_to("../src" if "directory" in kind else "nowhere")
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    if kind == "full directory":
        put(place / "file", "mine\n")

    refused(world, "path_exists", more=("--path=lanes/one",))


def test_a_file_on_the_way_to_the_path_is_refused(world: World) -> None:
    refused(world, "path_exists", "path_outside_root", "worktree_add_failed", more=("--path=LICENSE/one",))


def test_the_same_agent_started_twice_is_refused_and_the_first_one_stays(world: World, shim: Shim) -> None:
    made = created(world)
    shim.forget()

    with nothing_made(world):
        hint = assert_refused(create(world), "duplicate_entry", "branch_exists", "path_exists")

    assert hint
    assert made.path.is_dir()


def test_a_path_in_another_agents_worktree_is_refused(world: World) -> None:
    """It would be dirt in there, and go with it."""
    peer = world.agent("peer", path=world.root / "lanes/peer")

    refused(world, "path_outside_root", "path_exists", more=("--path=lanes/peer/inner",))

    assert world.git("status", "--porcelain", cwd=peer.path) == ""


# -- with --replay-dirty


def test_a_replay_on_another_base_than_head_is_refused(world: World) -> None:
    put(world.root / "LICENSE", "edited\n")

    refused(world, "base_not_head", more=("--replay-dirty", "--base=HEAD~1"))


def busy(world: World, how: str) -> None:
    world.agent("other", {"LICENSE": "theirs\n", "extra.txt": "x\n"})
    if how != "clean merge":
        world.commit(write={"LICENSE": "ours\n"})
    args = {
        "clean merge": ["merge", "--no-commit", "--no-ff", "worktree-agent-other"],
        "merge": ["merge", "worktree-agent-other"],
        "rebase": ["rebase", "worktree-agent-other"],
        "cherry-pick": ["cherry-pick", "worktree-agent-other"],
        "stash": ["stash", "apply", "-q"],
    }
    if how == "stash":
        put(world.root / "LICENSE", "stashed\n")
        world.git("stash")
        world.commit(write={"LICENSE": "something else\n"})
    world.git(*args[how], check=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["merge", "clean merge", "rebase", "cherry-pick", "stash"])
def test_a_replay_in_the_middle_of_something_is_refused(world: World, how: str) -> None:
    busy(world, how)

    refused(world, "repo_busy", more=("--replay-dirty",))


def test_control_characters_never_reach_the_terminal_raw(world: World) -> None:
    with nothing_made(world):
        answer = create(world, "--path=lanes/a\x1b[31m/../b", "--format", "text")

    assert answer.code == 1
    assert "\x1b" not in answer.out + answer.err


def test_a_registration_whose_directory_is_gone_keeps_its_path(world: World) -> None:
    stale = world.agent("stale", path=world.root / ".claude/worktrees/agent-a1")
    shutil.rmtree(stale.path)

    refused(world, "path_exists", "worktree_add_failed")

    assert world.registered(stale)
    assert world.branches()[stale.branch] == stale.tip
