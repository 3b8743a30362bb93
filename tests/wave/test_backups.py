"""Refs of our own keep every commit that a wave lets go of, until the user expires them."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from support.calling import Answer, call
from support.ours import everything, journals, our_refs
from support.repo import prose
from support.shim import Shim
from support.world import Agent, World


def gc(world: World, *more: str) -> Answer:
    return call("gc", "--root", str(world.root), *more)


def landed(world: World, *agents: Agent, **entry: Any) -> str:
    """Land them; the wave's id."""
    run = world.wave(*(world.entry(agent, **entry) for agent in agents))
    assert run.code == 0, run.doc
    wave_id: str = run.doc["wave"]["id"]
    return wave_id


def squashed(world: World) -> Agent:
    """An agent with two commits that somebody squashed into main."""
    agent = world.agent("squashed", {"src/app.py": prose("better")})
    tip = world.commit(agent.path, {"two.txt": "2\n"})
    world.git("merge", "-q", "--squash", agent.branch)
    world.git("commit", "-q", "-m", "all of it")
    return Agent(agent.id, agent.path, agent.branch, agent.base, tip)


# -- what is kept, and when


@pytest.mark.parametrize("words", ["merge", "worktree remove"])
def test_head_and_tips_are_on_record_before_the_first_change(world: World, shim: Shim, words: str) -> None:
    one, two = (world.agent("one"), world.agent("two")) if words == "merge" else (squashed(world), world.agent("two"))
    head, seen = world.head(), world.tmp / "seen"
    shim.before(words, f"git -C {world.root} for-each-ref --format='%(refname) %(objectname)' >{seen}", nth=1)

    wave = landed(world, one, two)

    refs = dict(line.split(" ") for line in seen.read_text().splitlines())
    assert refs[f"refs/heads/{one.branch}"] == one.tip
    assert refs["refs/heads/main"] == head
    ours = {name: oid for name, oid in refs.items() if name.startswith("refs/git-wave/")}
    assert ours == {
        f"refs/git-wave/{wave}/head": head,
        f"refs/git-wave/{wave}/heads/{one.branch}": one.tip,
        f"refs/git-wave/{wave}/heads/{two.branch}": two.tip,
    }


def test_commits_of_a_squashed_branch_stay_reachable_without_reflogs(world: World) -> None:
    agent = squashed(world)
    landed(world, agent)
    assert agent.branch not in world.branches()

    world.git("reflog", "expire", "--expire=now", "--all")
    world.git("gc", "-q", "--prune=now")

    assert world.reachable(agent.tip)
    assert world.git("show", f"{agent.tip}:two.txt") == "2"


def test_the_target_can_be_put_back_from_its_backup(world: World) -> None:
    head = world.head()
    wave = landed(world, world.agent("one"))

    assert our_refs(world)[f"refs/git-wave/{wave}/head"] == head != world.head()


@pytest.mark.parametrize("args", [["--dry-run"], ["--expect-branch", "elsewhere"]])
def test_a_wave_that_changes_nothing_leaves_no_refs(world: World, args: list[str]) -> None:
    before = everything(world)

    world.wave(world.agent("one"), args=args)

    assert our_refs(world) == before["ours"] == {}


def test_a_later_wave_leaves_the_refs_of_an_earlier_one(world: World) -> None:
    landed(world, world.agent("one"))
    before = our_refs(world)

    landed(world, world.agent("one", {"again.txt": "again\n"}))

    assert before.items() <= our_refs(world).items()
    assert len(our_refs(world)) == 2 * len(before)


def test_the_refs_are_not_decoration_for_other_commands(world: World) -> None:
    landed(world, world.agent("one"))

    assert "git-wave" not in world.git("branch", "--all")
    assert "git-wave" not in world.git("tag")


# -- expiring


def test_young_backups_stay_by_default(world: World) -> None:
    wave = landed(world, world.agent("one"))
    before, known = everything(world), journals(world)

    answer = gc(world)

    assert (answer.code, answer.doc) == (0, {"ok": True, "reason": "ok", "expired": [], "kept": [wave]})
    assert (everything(world), journals(world)) == (before, known)


def test_a_dry_run_tells_what_it_would_expire_and_changes_nothing(world: World) -> None:
    wave = landed(world, world.agent("one"))
    before, known = everything(world), journals(world)

    answer = gc(world, "--older-than", "0", "--dry-run")

    assert (answer.code, answer.doc["expired"], answer.doc["kept"]) == (0, [wave], [])
    assert (everything(world), journals(world)) == (before, known)


def test_only_refs_of_ours_are_expired(world: World) -> None:
    bystander = world.agent("bystander")
    waves = [landed(world, squashed(world)), landed(world, world.agent("one"))]
    for name in ("refs/backup/mine", "refs/git-waves/mine", "refs/git-wave-mine/x", "refs/heads/git-wave/x"):
        world.git("update-ref", name, bystander.tip)
    before = everything(world)

    answer = gc(world, "--older-than", "0")

    assert (answer.code, answer.doc["expired"], answer.doc["kept"]) == (0, waves, [])
    assert everything(world) == {**before, "ours": {}}


def test_a_ref_below_ours_that_no_wave_made_stays(world: World) -> None:
    wave = landed(world, world.agent("one"))
    world.git("update-ref", "refs/git-wave/precious", "HEAD")
    world.git("update-ref", "refs/git-wave/my-notes/head", "HEAD")

    answer = gc(world, "--older-than", "0")

    assert answer.doc["expired"] == [wave]
    assert set(our_refs(world)) == {"refs/git-wave/precious", "refs/git-wave/my-notes/head"}


@pytest.mark.parametrize(
    ("age", "goes"), [("29d", True), ("5w", False), ("30d", True), ("31d", False), ("800h", False)]
)
def test_what_is_older_than_said_goes(world: World, age: str, goes: bool) -> None:
    """A wave of thirty days and a few hours ago, by the id that all that is kept of it carries."""
    young = landed(world, world.agent("one"))
    old = thirty_days_before(young)
    world.git("update-ref", f"refs/git-wave/{old}/head", "HEAD~1")

    answer = gc(world, "--older-than", age)

    assert (answer.code, answer.doc["expired"]) == (0, [old] if goes else [])
    assert (f"refs/git-wave/{old}/head" in our_refs(world)) is not goes
    assert f"refs/git-wave/{young}/head" in our_refs(world)


def thirty_days_before(wave: str) -> str:
    stamp = datetime.strptime(f"{wave[:15]}Z", "%Y%m%dT%H%M%S%z") - timedelta(days=30, hours=3)
    return f"{stamp:%Y%m%dT%H%M%S}{wave[15:]}"


def test_an_age_that_is_none_is_wrong_usage(world: World) -> None:
    landed(world, world.agent("one"))
    before = everything(world)

    for age in ("soon", "", "-1d", "3", "1e9d", "d"):
        answer = gc(world, f"--older-than={age}")
        assert (answer.code, answer.out) == (2, ""), age

    assert everything(world) == before


def test_a_finished_manifest_is_finished_after_expiry_too(world: World) -> None:
    agent = world.agent("one")
    landed(world, agent)
    gc(world, "--older-than", "0")

    run = world.wave(agent)

    assert (run.code, run.outcome(agent)) == (0, ("merged_removed", "already_landed"))


def test_a_wave_never_expires_anything(world: World) -> None:
    wave = landed(world, world.agent("one"))
    old = thirty_days_before(thirty_days_before(wave))
    world.git("update-ref", f"refs/git-wave/{old}/head", "HEAD~1")

    landed(world, world.agent("two"))

    assert f"refs/git-wave/{old}/head" in our_refs(world)
