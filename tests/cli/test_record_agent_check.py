"""record-agent next to a repository: `--check`, the branch pattern, and what the wave reads back."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.calling import Answer, call, write_manifest
from support.recording import BASE, assert_refused, entries_of, flags, record
from support.world import Agent, World, run_command


def check(world: World, agent: Agent, manifest: Path | None = None, **over: str | None) -> Answer:
    """Record an agent as it is, with some values replaced, and have git asked about it."""
    known = {"agent": agent.id, "path": str(agent.path), "branch": agent.branch, "base": agent.base, **over}
    return record(manifest or world.manifest(), "--check", **known)


# -- --check


def test_check_passes_an_agent_that_is_as_it_says(world: World) -> None:
    answer = check(world, world.agent("a"))

    assert answer.code == 0, answer
    assert answer.doc["ok"] is True


def test_check_passes_a_registered_worktree_that_is_gone(world: World) -> None:
    agent = world.agent("a")
    shutil.rmtree(agent.path)

    assert check(world, agent).code == 0
    assert world.registered(agent)


def test_check_passes_a_relative_path(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent("a", path=world.root / "trees" / "a")

    monkeypatch.chdir(world.root)
    assert check(world, agent, path="trees/a").code == 0


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"base": "1" * 40}, "1" * 40),
        ({"base": "no-such-commit"}, "no-such-commit"),
        ({"branch": "agent-none"}, "agent-none"),
        ({"path": "/nowhere/wt"}, "/nowhere/wt"),
    ],
)
def test_check_refuses_what_git_does_not_know(world: World, over: dict[str, str], named: str) -> None:
    agent = world.agent("a")
    manifest = world.manifest()
    before = manifest.read_bytes()

    hint = assert_refused(check(world, agent, manifest, **over), "check_failed")

    assert named in hint
    assert manifest.read_bytes() == before


def test_check_refuses_a_base_that_is_no_commit(world: World) -> None:
    tree = world.git("rev-parse", "HEAD^{tree}")

    assert_refused(check(world, world.agent("a"), base=tree), "check_failed")


def test_check_takes_a_name_and_records_the_id_that_it_has_now(world: World) -> None:
    agent, manifest = world.agent("a"), world.manifest()

    assert check(world, agent, manifest, base="main").code == 0
    assert entries_of(manifest)[-1]["expected_base"] == agent.base


def test_check_records_an_abbreviated_base_in_full(world: World) -> None:
    agent, manifest = world.agent("a"), world.manifest()

    assert check(world, agent, manifest, base=agent.base[:7]).code == 0
    assert entries_of(manifest)[-1]["expected_base"] == agent.base


def test_check_refuses_a_worktree_that_is_on_another_branch(world: World) -> None:
    one, two = world.agent("one"), world.agent("two")

    hint = assert_refused(check(world, one, branch=two.branch), "check_failed")

    assert one.branch in hint or two.branch in hint


def test_check_refuses_a_tag_in_the_place_of_a_branch(world: World) -> None:
    agent = world.agent("a")
    world.git("tag", "agent-tag")

    assert_refused(check(world, agent, branch="agent-tag"), "check_failed")


def test_check_refuses_a_directory_that_is_no_worktree(world: World) -> None:
    agent = world.agent("a")
    plain = world.tmp / "plain"
    plain.mkdir()

    assert_refused(check(world, agent, path=str(plain)), "check_failed")


def test_check_names_everything_that_is_wrong_at_once(world: World) -> None:
    hint = assert_refused(check(world, world.agent("a"), base="2" * 40, branch="agent-none"), "check_failed")

    assert "2" * 40 in hint
    assert "agent-none" in hint


def test_check_refuses_when_git_cannot_be_asked(world: World, tmp_path: Path) -> None:
    agent = world.agent("a")
    manifest = write_manifest(tmp_path / "m.json", tmp_path / "nowhere", [])
    before = manifest.read_bytes()

    assert_refused(check(world, agent, manifest), "check_failed")

    assert manifest.read_bytes() == before


def test_without_check_git_is_not_asked_about_the_entry(world: World) -> None:
    assert record(world.manifest()).code == 0


# -- the pattern of the repository


def test_the_configured_pattern_of_the_root_replaces_the_default(world: World) -> None:
    world.git("config", "wave.branchPattern", "^bot/.+$")
    manifest = world.manifest()

    assert record(manifest, branch="bot/one").code == 0
    hint = assert_refused(record(manifest, branch="agent-a"), "invalid_entry")

    assert "^bot/.+$" in hint


def test_the_configured_pattern_of_the_current_repository_counts_for_a_bare_array(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.git("config", "wave.branchPattern", "^bot/.+$")
    monkeypatch.chdir(world.root)
    manifest = write_manifest(world.tmp / "bare.json", None, [])

    assert record(manifest, branch="bot/one").code == 0
    assert_refused(record(manifest, branch="agent-a"), "invalid_entry")


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "a.lock", "HEAD", "@", "x\x7f"])
def test_a_pattern_that_takes_anything_still_takes_only_branch_names(world: World, branch: str) -> None:
    world.git("config", "wave.branchPattern", ".*")

    assert_refused(record(world.manifest(), branch=branch), "invalid_entry")


def test_a_configured_pattern_that_is_no_pattern_is_refused_and_nothing_written(world: World) -> None:
    world.git("config", "wave.branchPattern", "agent-(")
    manifest = world.manifest()
    before = manifest.read_bytes()

    answer = record(manifest)

    assert answer.code == 1, answer
    assert answer.doc["ok"] is False
    assert "agent-(" in answer.doc["hint"]
    assert manifest.read_bytes() == before


# -- what is accepted is read back

WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.one_of(
    st.from_regex(r"(worktree-)?agent-[A-Za-z0-9._/-]{1,10}", fullmatch=True),
    st.from_regex(r"worktree-wf_[a-z./]{1,6}\s?", fullmatch=True),
    WORD.map("agent-".__add__),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    agent=WORD,
    path=st.one_of(WORD.map("/r/".__add__), WORD),
    branch=NAMES,
    base=st.one_of(st.just(BASE), WORD),
    files=st.lists(WORD, max_size=3),
)
def test_what_the_recorder_accepts_the_wave_reads_back(
    world: World, agent: str, path: str, branch: str, base: str, files: list[str]
) -> None:
    manifest = world.manifest()
    before = manifest.read_bytes()

    words = [f"--file={name}" for name in files]
    answer = record(manifest, *words, agent=agent, path=path, branch=branch, base=base)

    if answer.code:
        assert answer.code == 1, answer
        assert answer.doc["reason"] in {"missing_field", "invalid_entry"}
        assert manifest.read_bytes() == before
        return
    (written,) = entries_of(manifest)
    assert call("validate", "--manifest", str(manifest)).code == 0
    code, out, _ = run_command("cleanup-wave", ["--manifest", str(manifest), "--dry-run", "--format", "json"])
    (read,) = json.loads(out)["result"]["entries"]
    assert code == 1
    assert read["reason"] != "invalid_entry"
    for field in ("agent_id", "branch", "expected_base"):
        assert read[field] == written[field]
    assert read.get("files_modified", []) == [name for name in written.get("files_modified", []) if name.strip()]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(branch=NAMES)
def test_a_recorded_branch_is_a_branch_name_to_git(world: World, branch: str) -> None:
    manifest = world.manifest()
    if record(manifest, branch=branch).code == 0:
        (written,) = entries_of(manifest)
        assert world.git_code("check-ref-format", "--branch", written["branch"]) == 0


def test_flags_given_twice_do_not_make_two_entries(world: World) -> None:
    manifest = world.manifest()

    answer = call("--manifest", str(manifest), *flags(), *flags(branch="agent-b"), prog="record-agent")

    assert len(entries_of(manifest)) == (1 if answer.code == 0 else 0)
