"""create --replay-dirty: what cannot be reproduced fails the whole, and leaves neither worktree nor branch."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.creating import assert_nothing_pending, assert_refused, create, created, made_by, nothing_made
from support.dirt import both, edit, linked, prepare, staged
from support.mounts import read_only, small_disk
from support.replaying import assert_as_before, assert_same, standing
from support.repo import Repo, put
from support.shim import Shim
from support.world import World


def fails(world: World, *reasons: str, more: tuple[str, ...] = ()) -> str:
    with nothing_made(world):
        return assert_refused(create(world, "--replay-dirty", *more), *reasons)


def nested(world: World, path: str, commits: bool) -> Callable[[World], object]:
    def make(_: World) -> None:
        (world.root / path).mkdir(parents=True)
        inner = Repo(world.root / path, world.env)
        inner.git("init", "-q")
        if commits:
            inner.commit(write={"x": "1\n"})

    return make


@pytest.mark.parametrize("commits", [True, False])
def test_an_untracked_repository_inside_fails_the_whole_and_is_named(world: World, commits: bool) -> None:
    both(edit("LICENSE"), edit("a.txt"), nested(world, "vendor/lib", commits))(world)

    assert "vendor/lib" in fails(world, "replay_failed")


def test_an_ignored_repository_inside_does_not_matter(world: World) -> None:
    both(edit("LICENSE"), nested(world, "node_modules/lib", True))(world)

    assert created(world, "--replay-dirty").baseline


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src/../../outside", "{tmp}/outside", "../main-too/x"])
def test_an_untracked_link_that_leaves_the_repository_fails_the_whole_and_is_named(world: World, target: str) -> None:
    put(world.tmp / "outside", "o\n")
    both(edit("a.txt"), linked("new-link", target.format(tmp=world.tmp)))(world)

    assert "new-link" in fails(world, "replay_failed")


def test_an_absolute_link_into_the_checkout_is_reproduced_or_refused(world: World) -> None:
    linked("new-link", str(world.root / "LICENSE"))(world)

    reproduced_or_refused(world)


def test_a_committed_link_that_leaves_the_repository_does_not_matter(world: World) -> None:
    linked("tracked-link", "/etc/passwd")(world)
    world.commit()
    edit("LICENSE")(world)

    made = created(world, "--replay-dirty")

    assert_same(world.root, made.path)


def reproduced_or_refused(world: World) -> bool:
    """Never a tree that only looks right."""
    world.manifest()
    before = standing(world.root)
    answer = create(world, "--replay-dirty")
    if answer.code:
        assert_refused(answer, "replay_failed")
        assert_as_before(before, standing(world.root))
        return False
    made = made_by(world, answer)
    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert_same(world.root, made.path)
    return True


def mixed_line_ends(world: World) -> None:
    edit("dos.crlf", "one\ntwo\r\nthree\n")(world)


def new_with_line_ends(world: World) -> None:
    edit("new.auto", "one\r\ntwo\r\n")(world)


def lossy_filter(world: World) -> None:
    put(world.root / ".gitattributes", "*.up filter=up\n")
    world.git("config", "filter.up.clean", "tr a-z A-Z")
    world.commit(write={"a.up": "abc\n"})
    edit("a.up", "abcdef\n")(world)


def new_through_a_lossy_filter(world: World) -> None:
    lossy_filter(world)
    edit("b.up", "abcdef\n")(world)


def expanded_id(world: World) -> None:
    put(world.root / ".gitattributes", "*.id ident\n")
    world.commit(write={"a.id": "$Id$\n"})
    edit("a.id", "$Id: mine $\nmore\n")(world)


def fifo_for_a_file(world: World) -> None:
    (world.root / "LICENSE").unlink()
    os.mkfifo(world.root / "LICENSE")


def repository_for_a_directory(world: World) -> None:
    shutil.rmtree(world.root / "src/core")
    nested(world, "src/core", True)(world)


def repository_around_tracked_files(world: World) -> None:
    world.git("init", "-q", cwd=world.root / "src/core")


def link_on_the_way_to_a_tracked_file(world: World) -> None:
    """Tracked files below a directory that is now a link to a directory outside."""
    (world.root / "src/core").rename(world.tmp / "core")
    (world.root / "src/core").symlink_to(world.tmp / "core")


def link_edited_to_lead_outside(world: World) -> None:
    linked("link", "/etc/passwd")(world)


TRAPS = [mixed_line_ends, new_with_line_ends, lossy_filter, new_through_a_lossy_filter, expanded_id]
TRAPS += [fifo_for_a_file, repository_for_a_directory, repository_around_tracked_files]
TRAPS += [link_on_the_way_to_a_tracked_file, link_edited_to_lead_outside]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_what_git_does_not_keep_byte_for_byte_is_reproduced_or_refused(
    world: World, trap: Callable[[World], None]
) -> None:
    prepare(world)
    trap(world)

    reproduced_or_refused(world)


# -- the baseline


def test_a_baseline_that_cannot_be_signed_fails_the_whole(world: World) -> None:
    world.git("config", "commit.gpgSign", "true")
    world.git("config", "gpg.program", "false")
    both(edit("LICENSE"), edit("new.txt"))(world)

    fails(world, "commit_failed")


def test_without_a_baseline_there_is_nothing_to_sign(world: World) -> None:
    world.git("config", "commit.gpgSign", "true")
    world.git("config", "gpg.program", "false")
    edit("LICENSE")(world)

    assert created(world, "--replay-dirty", "--baseline=none").baseline is None


def test_a_hook_that_forbids_to_move_the_branch_leaves_nothing_or_all(world: World) -> None:
    world.hook("reference-transaction", '[ "$1" != prepared ] || ! grep -q "refs/heads/agent-" || exit 1')
    edit("LICENSE")(world)
    world.manifest()
    before = standing(world.root)

    answer = create(world, "--replay-dirty")

    assert_refused(answer, "commit_failed", "worktree_add_failed", "replay_failed")
    assert_as_before(before, standing(world.root))


# -- what changes while it is copied


def test_a_file_that_vanishes_in_between_leaves_an_equal_tree_or_none(world: World, shim: Shim) -> None:
    both(edit("LICENSE"), edit("new.txt"), edit("other.txt"))(world)
    shim.after("worktree add", f"rm {world.root}/new.txt")
    world.manifest()

    answer = create(world, "--replay-dirty")

    assert shim.calls("worktree add")
    (world.root / "new.txt").unlink(missing_ok=True)
    if answer.code:
        assert_refused(answer, "replay_failed")
        assert not (world.root / ".claude").exists()
        assert list(world.branches()) == ["main"]
    else:
        assert_same(world.root, made_by(world, answer).path)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", ["LICENSE", "new.txt", "staged.txt"])
@pytest.mark.parametrize("when", ["first", "worktree add", "update-index", "write-tree"])
def test_a_file_that_changes_in_between_is_shown_old_or_new(world: World, shim: Shim, path: str, when: str) -> None:
    """Whole, one or the other; and the user's newest edit is on their disk."""
    both(edit("LICENSE", "old\n"), edit("new.txt", "old\n"), staged(edit("staged.txt", "old\n"), "staged.txt"))(world)
    rule = f"printf 'new\\n' >{world.root / path}"
    if when == "first":
        shim.rules.append(f'if count first && [ "$n" = 1 ]; then aside {rule!r}; fi\n')
        shim.install()
    else:
        shim.before(when, rule, nth=1)
    world.manifest()

    answer = create(world, "--replay-dirty")

    if answer.code:
        assert_refused(answer, "replay_failed")
        assert list(world.branches()) == ["main"]
    else:
        made = made_by(world, answer)
        assert (made.path / path).read_text() in ("old\n", "new\n")
        assert world.git("status", "--porcelain", cwd=made.path) == ""
    assert_nothing_pending(world)


# -- no room


@pytest.mark.sampled(2)
@pytest.mark.parametrize("baseline", ["commit", "none"])
def test_a_disk_that_fills_while_files_are_copied_fails_the_whole(world: World, baseline: str) -> None:
    both(edit("LICENSE"), edit("big.bin", os.urandom(3 << 20)))(world)
    place = world.root / "lanes"

    with small_disk(place, 1024):
        world.manifest()
        before = standing(world.root)
        answer = create(world, "--replay-dirty", "--path=lanes/one", f"--baseline={baseline}")
        after = standing(world.root)
        assert list(place.iterdir()) == []

    assert_refused(answer, "replay_failed", "worktree_add_failed")
    assert_as_before(before, after)


def test_objects_that_cannot_be_written_fail_the_whole(world: World) -> None:
    both(edit("LICENSE"), edit("new.txt"))(world)
    world.manifest()
    before = standing(world.root)

    with read_only(world.root / ".git/objects"):
        answer = create(world, "--replay-dirty")

    assert_refused(answer, "replay_failed", "commit_failed")
    assert_as_before(before, standing(world.root))


# -- rolled back after all


def test_a_manifest_that_breaks_after_the_replay_takes_all_of_it_back(world: World, shim: Shim) -> None:
    both(edit("LICENSE"), edit("new.txt"))(world)
    shim.after("worktree add", f"echo '{{' >{world.tmp}/wave.json")
    world.manifest()
    before = standing(world.root)

    answer = create(world, "--replay-dirty")

    assert_refused(answer, "invalid_manifest_json")
    assert_as_before(before, standing(world.root))
    assert not Path(world.root / ".claude").exists()
