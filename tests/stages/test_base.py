"""Did the branch fork where it should?"""

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed
from support.repo import put
from support.shim import Shim
from support.world import World

NOWHERE = "0123456789abcdef0123456789abcdef01234567"


def test_branch_that_forked_elsewhere_is_blocked_and_the_next_entry_lands(world: World) -> None:
    astray, fine = world.agent("a"), world.agent("b")
    run = world.wave(world.entry(astray, expected_base=world.git("rev-parse", "HEAD~1")), fine)
    assert_blocked(world, run, astray, "base_mismatch")
    assert_landed(world, run, fine)
    assert astray.path.exists()


def test_mismatch_names_the_commit_that_the_branch_did_fork_from(world: World) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, expected_base=world.git("rev-parse", "HEAD~1")))
    assert agent.base in run.entry()["stderr"]


def test_branch_lands_when_the_target_moved_on_since_it_forked(world: World) -> None:
    agent = world.agent("a")
    world.commit(write={"README.md": "newer\n"})
    assert_all_landed(world, world.wave(agent), agent)


def test_allowed_base_opens_what_the_expected_base_would_block(world: World) -> None:
    agent = world.agent("a")
    older = world.git("rev-parse", "HEAD~1")
    run = world.wave(world.entry(agent, expected_base=older, allowed_bases=[NOWHERE, agent.base]))
    assert_all_landed(world, run, agent)
    assert run.entry()["allowed_bases"][0] == older


def test_expected_base_is_right_also_where_allowed_bases_does_not_name_it(world: World) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, allowed_bases=[NOWHERE]))
    assert_all_landed(world, run, agent)
    assert set(run.entry()["allowed_bases"]) == {agent.base, NOWHERE}


@pytest.mark.parametrize("allowed", [[], [NOWHERE], ["HEAD~2"]])
def test_allowed_bases_that_do_not_name_the_fork_point_open_nothing(world: World, allowed: list[str]) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, expected_base=NOWHERE, allowed_bases=allowed))
    assert_blocked(world, run, agent, "base_mismatch")


def test_branch_that_took_in_a_newer_target_is_judged_by_its_new_base(world: World) -> None:
    agent = world.agent("a")
    newer = world.commit(write={"README.md": "newer\n"})
    world.git("merge", "-q", "-m", "catch up", "main", cwd=agent.path)
    assert world.wave(agent).outcome() == ("blocked", "base_mismatch")
    run = world.wave(world.entry(agent, allowed_bases=[newer]))
    assert run.outcome() == ("merged_removed", "ok")
    assert world.landed(agent)


def test_branch_without_a_common_ancestor_is_a_mismatch_not_a_failure(world: World) -> None:
    agent = world.agent("a")
    stranger = world.git("commit-tree", "-m", "stranger", f"{agent.tip}^{{tree}}")
    world.git("reset", "-q", "--hard", stranger, cwd=agent.path)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", "base_mismatch")
    assert world.branches()[agent.branch] == stranger
    assert not world.merged(stranger)


def test_base_that_cannot_be_asked_blocks_with_gits_words(world: World, shim: Shim) -> None:
    asked, fine = world.agent("a"), world.agent("b")
    shim.fail("merge-base", code=128, stderr="fatal: boom\n", arg=asked.tip)
    run = world.wave(asked, fine)
    assert_blocked(world, run, asked, "base_check_failed")
    assert "boom" in run.entry(asked)["stderr"]
    assert_landed(world, run, fine)


@pytest.mark.parametrize("code", [2, 126, 129])
def test_base_blocks_on_every_exit_code_it_does_not_know(world: World, shim: Shim, code: int) -> None:
    agent = world.agent("a")
    shim.fail("merge-base", code=code)
    assert_blocked(world, world.wave(agent), agent, "base_check_failed")


@pytest.mark.parametrize("stdout", ["", "garbage\n"])
def test_base_blocks_when_success_comes_without_a_commit(world: World, shim: Shim, stdout: str) -> None:
    agent = world.agent("a")
    shim.fail("merge-base", code=0, stdout=stdout)
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert run.outcome()[1] in ("base_check_failed", "base_mismatch")
    assert world.untouched(agent)


@pytest.mark.parametrize("text", ["--all", "-h", "--output=x", "main", "HEAD", ":/start", "$(touch x)", "\x1b[31m"])
def test_base_that_is_no_commit_id_is_data_and_opens_nothing(world: World, text: str) -> None:
    agent = world.agent("a")
    world.commit(write={"README.md": "newer\n"})
    run = world.wave(world.entry(agent, expected_base=text))
    assert run.outcome()[0] == "blocked"
    assert run.outcome()[1] == "invalid_entry"
    assert world.untouched(agent)
    assert "\x1b" not in run.out + run.err


@pytest.mark.parametrize("name", ["HEAD~0", "v1", "refs/heads/main", "abc", "abcdefg", "0" * 65])
def test_base_given_by_a_name_is_an_invalid_entry_though_it_names_the_right_commit(world: World, name: str) -> None:
    world.git("tag", "v1")
    agent, fine = world.agent("a"), world.agent("b")
    run = world.wave(world.entry(agent, expected_base=name), fine)
    assert_blocked(world, run, agent, "invalid_entry")
    assert "expected_base" in run.entry(agent)["stderr"]
    assert_landed(world, run, fine)


@pytest.mark.parametrize("digits", [4, 40])
def test_base_may_be_an_id_in_upper_case(world: World, digits: int) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, expected_base=agent.base[:digits].upper()))
    assert_all_landed(world, run, agent)


def test_branch_that_is_called_like_an_abbreviated_base_opens_nothing(world: World) -> None:
    agent, older = world.agent("a"), world.git("rev-parse", "HEAD~2")
    world.git("branch", older[:8], "main")
    run = world.wave(world.entry(agent, expected_base=older[:8]))
    assert_blocked(world, run, agent, "base_mismatch")


def test_base_may_be_the_id_of_a_tag_object(world: World) -> None:
    world.git("tag", "-a", "-m", "v1", "v1")
    agent = world.agent("a")
    run = world.wave(world.entry(agent, expected_base=world.git("rev-parse", "v1")))
    assert_all_landed(world, run, agent)


def test_allowed_base_given_by_a_name_opens_nothing(world: World) -> None:
    agent = world.agent("a")
    run = world.wave(world.entry(agent, expected_base=NOWHERE, allowed_bases=["main", "HEAD"]))
    assert_blocked(world, run, agent, "base_mismatch")


def test_replace_ref_does_not_move_the_base(world: World) -> None:
    agent = world.agent("a")
    older = world.git("rev-parse", "HEAD~2")
    world.git("replace", "--graft", agent.tip, older)
    run = world.wave(world.entry(agent, expected_base=older))
    assert run.outcome()[0] == "blocked"
    assert world.branches()[agent.branch] == agent.tip


def test_branch_without_a_commit_of_its_own_is_cleared_without_a_merge(world: World) -> None:
    idle, busy = world.agent("idle", write={}), world.agent("busy")
    head = world.head()
    run = world.wave(idle, busy)
    assert run.outcome(idle) == ("merged_removed", "already_landed")
    assert run.entry(idle)["merge_commit"] is None
    assert world.landed(idle)
    assert_landed(world, run, busy)
    assert run.code == 0
    assert world.git("rev-parse", "HEAD^1") == head


def test_second_entry_is_judged_against_the_checkout_as_the_first_left_it(world: World) -> None:
    first = world.agent("a")
    second = world.agent("b", write={"b.txt": "b\n"})
    world.git("rebase", "-q", first.branch, cwd=second.path)
    tip = world.git("rev-parse", "HEAD", cwd=second.path)
    run = world.wave(first, world.entry(second, allowed_bases=[first.tip], expected_base=NOWHERE))
    assert [run.outcome(0), run.outcome(1)] == [("merged_removed", "ok")] * 2
    assert world.merged(tip)


@pytest.mark.parametrize("digits", [7, 12, 40])
def test_a_base_is_still_right_when_the_wave_itself_has_moved_the_branch(world: World, digits: int) -> None:
    fine, blocked = world.agent("fine"), world.agent("blocked")
    put(blocked.path / "new.txt", "not yet\n")
    manifest = world.manifest(*(world.entry(one, expected_base=one.base[:digits]) for one in (fine, blocked)))
    assert world.wave(manifest).outcome(1) == ("blocked", "worktree_dirty")
    (blocked.path / "new.txt").unlink()

    assert world.wave(manifest).code == 0


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_ref_that_is_called_like_an_abbreviated_base_is_not_taken_for_it(world: World, kind: str) -> None:
    agent = world.agent("a")
    late = world.commit(write={"README.md": "newer\n"})
    world.git(kind, agent.base[:8], late)

    run = world.wave(world.entry(agent, expected_base=agent.base[:8]))

    assert run.code == 0, run.entry()
