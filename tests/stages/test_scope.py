"""Did the branch stay within the declared files? Advice only."""

from typing import Any

import pytest

from support.checks import assert_all_landed, assert_landed
from support.shim import Shim, subcommand
from support.world import Agent, Run, World

OUT = "scope_out_of_declared"
UNAVAILABLE = "scope_check_unavailable"
WORK = {"src/app.py": "new\n", "src/core/deep/new.py": "new\n", "docs/guide.md": "new\n"}


def outside(run: Run, agent: Agent) -> list[str]:
    """The paths that the scope warnings name, one warning each."""
    warnings = run.warnings(agent, OUT)
    assert all(warning["branch"] == agent.branch for warning in warnings)
    assert [w for w in run.doc["result"]["warnings"] if w["code"] == OUT] == warnings
    return sorted(warning["path"] for warning in warnings)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (["src", "docs"], []),
        (["src/", "docs/guide.md"], []),
        (["src"], ["docs/guide.md"]),
        (["./src/", r"docs\guide.md"], []),
        (["src/app.py"], ["docs/guide.md", "src/core/deep/new.py"]),
        (["src/core", "docs"], ["src/app.py"]),
        (["sr", "doc"], sorted(WORK)),
        (["src/app.p", "docs/guide.md.bak"], sorted(WORK)),
        (["SRC", "docs"], ["src/app.py", "src/core/deep/new.py"]),
        (["src/*.py", "docs/[g]*"], []),
        (["src/core/**", "docs/**/x"], ["src/app.py"]),
        (["src/c?re/*", "docs"], ["src/app.py"]),
        (["src/co*", "docs"], ["src/app.py"]),
        (["src/x*", "docs"], ["src/app.py", "src/core/deep/new.py"]),
        (["**/*.md"], []),
        (["*.md"], []),
        (["[abc]/x"], []),
        (["?"], []),
        (["", "src"], ["docs/guide.md"]),
        (['"docs/guide.md"', '"src"'], []),
    ],
)
def test_changed_path_outside_the_declared_scope_is_told_and_lands(
    world: World, scope: list[str], expected: list[str]
) -> None:
    agent = world.agent("a", write=WORK)
    run = world.wave(world.entry(agent, files_modified=scope))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == expected


@pytest.mark.parametrize("extra", [{}, {"files_modified": []}, {"files_modified": None}, {"files_modified": [""]}])
def test_scope_that_is_not_declared_is_unknown_and_warns_of_nothing(world: World, extra: dict[str, Any]) -> None:
    agent = world.agent("a", write=WORK)
    run = world.wave(world.entry(agent, **extra))
    assert_all_landed(world, run, agent)
    assert run.codes(agent) == []


@pytest.mark.parametrize("value", ["src", 7, {"src": True}, True])
def test_scope_that_is_no_list_is_ignored(world: World, value: Any) -> None:
    agent = world.agent("a", write=WORK)
    run = world.wave(world.entry(agent, files_modified=value))
    assert_all_landed(world, run, agent)
    assert run.codes(agent) == []


def test_undeclared_scope_costs_no_call_of_git(world: World, shim: Shim) -> None:
    one, two = world.agent("a"), world.agent("b")
    world.wave(one)
    undeclared = [subcommand(call) for call in shim.calls() if one.tip in " ".join(call)]
    shim.forget()
    world.wave(world.entry(two, files_modified=["nowhere"]))
    declared = [subcommand(call) for call in shim.calls() if two.tip in " ".join(call)]
    assert len(undeclared) <= len(declared)
    assert sum("diff" in name for name in undeclared) == 1


def test_summary_artifact_is_exempt(world: World) -> None:
    write = {".planning/phases/01/01-SUMMARY.md": "x", ".planning/SUMMARY.md": "x", "src/app.py": "new\n"}
    agent = world.agent("a", write=write)
    run = world.wave(world.entry(agent, files_modified=["src"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == []


@pytest.mark.parametrize(
    "path", ["SUMMARY.md", ".planning/01/SUMMARY.md.txt", "x/.planning/SUMMARY.md", ".planning/PLAN.md"]
)
def test_file_that_only_looks_like_a_summary_is_not_exempt(world: World, path: str) -> None:
    agent = world.agent("a", write={path: "x"})
    run = world.wave(world.entry(agent, files_modified=["src"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == [path]


def test_declared_deletion_is_exempt_and_opens_nothing_beside_it(world: World) -> None:
    agent = world.agent("a", write={"docs/api/index.md": "new\n"}, delete=["docs/guide.md"])
    run = world.wave(world.entry(agent, files_modified=["src"], declared_deletions=["docs/guide.md", "docs"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == ["docs/api/index.md"]


def test_declared_deletion_does_not_count_as_a_declared_scope(world: World) -> None:
    agent = world.agent("a", write=WORK, delete=["setup.cfg"])
    run = world.wave(world.entry(agent, declared_deletions=["setup.cfg"]))
    assert_all_landed(world, run, agent)
    assert run.codes(agent) == []


def test_new_path_of_a_rename_counts_as_changed(world: World) -> None:
    agent = world.agent("a", rename={"docs/guide.md": "elsewhere/guide.md"})
    run = world.wave(world.entry(agent, files_modified=["docs"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == ["elsewhere/guide.md"]


def test_path_that_only_the_target_changed_is_not_the_branchs(world: World) -> None:
    agent = world.agent("a", write={"src/app.py": "new\n"})
    world.commit(write={"README.md": "newer\n"})
    run = world.wave(world.entry(agent, files_modified=["src"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == []


def test_odd_names_are_told_exactly(world: World) -> None:
    names = ["new\nline", 'say "hi"', "größe", "-rf", " space ", "esc\x1b[31m", "back\\slash"]
    agent = world.agent("a", write=dict.fromkeys(names, "x"))
    run = world.wave(world.entry(agent, files_modified=["src"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == sorted(names)
    assert "\x1b" not in run.out + run.err


def test_odd_names_are_covered_when_declared(world: World) -> None:
    names = ["new\nline", 'say "hi"', "größe", "-rf", " space ", "a{b}c", "$(x)"]
    agent = world.agent("a", write={f"{name}/{name}": "x" for name in names})
    run = world.wave(world.entry(agent, files_modified=names))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == []


def test_scope_warning_stays_with_an_entry_that_is_blocked_later(world: World) -> None:
    agent, fine = world.agent("a", write=WORK), world.agent("b")
    (agent.path / "dirt.txt").write_text("x")
    run = world.wave(world.entry(agent, files_modified=["src"]), fine)
    assert run.outcome(agent) == ("blocked", "worktree_dirty")
    assert outside(run, agent) == ["docs/guide.md"]
    assert_landed(world, run, fine)


@pytest.mark.parametrize(
    "setting", ["diff.renames=copies", "diff.noprefix=true", "core.quotePath=true", "diff.relative=true"]
)
def test_users_diff_settings_change_no_warning(world: World, setting: str) -> None:
    world.git("config", "--global", *setting.split("=", 1))
    agent = world.agent("a", write=WORK | {"größe.txt": "x"})
    run = world.wave(world.entry(agent, files_modified=["src"]))
    assert_all_landed(world, run, agent)
    assert outside(run, agent) == ["docs/guide.md", "größe.txt"]


def test_scope_that_cannot_be_checked_is_told_and_blocks_nothing(world: World, shim: Shim) -> None:
    agent = world.agent("a", write=WORK)
    for command in ("diff", "diff-tree"):
        shim.fail(command, code=128, stderr="fatal: boom\n", arg=agent.tip, nth=2)
    run = world.wave(world.entry(agent, files_modified=["src"]))
    if len(shim.calls("diff") + shim.calls("diff-tree")) < 2:
        pytest.skip("scope has no diff of its own: it judges the one that deletions read")
    assert_all_landed(world, run, agent)
    assert run.codes(agent) == [UNAVAILABLE]
