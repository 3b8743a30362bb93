"""The demo does what it says, and says what it does."""

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from git_wave.cli import demo
from git_wave.model.reasons import Reason
from support.calling import Answer, call, call_program
from support.repo import Repo

LANDED = ("clean", "gone", "summary", "tidy", "roamer")
BLOCKED = {"vandal": "branch_contains_deletions", "dirty": "worktree_dirty", "rival": "merge_failed"}
WARNED = {
    "gone": "accepted_absent_worktree",
    "summary": "summary_rescued",
    "roamer": "scope_out_of_declared",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories go."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


def kept(answer: Answer, place: Path) -> Path:
    (directory,) = place.iterdir()
    assert f"Kept: {directory}" in answer.out
    return directory


def test_demo_exits_0_shows_every_outcome_and_leaves_nothing(place: Path) -> None:
    environ = dict(os.environ)

    answer = call("demo")

    assert answer.code == 0, answer
    words = [line.split()[:2] for line in answer.out.splitlines() if line.startswith("agent-")]
    assert dict(words) == {
        **{f"agent-{name}": "landed" for name in LANDED},
        **{f"agent-{name}": "blocked" for name in BLOCKED},
    }
    for name, code in {**BLOCKED, **WARNED}.items():
        assert f"  {name}: {'blocked' if name in BLOCKED else 'landed'}, {code}" in answer.out
    for name, code in WARNED.items():
        assert f"warning: {code}: agent-{name}" in answer.out
    assert "5 of 8 landed" in answer.out
    assert "exits 1, as intended" in answer.out
    assert list(place.iterdir()) == []
    assert dict(os.environ) == environ


def test_demo_shows_the_repository_before_and_after(place: Path) -> None:
    out = call("demo").out

    before, after = out.split("$ cleanup-wave")
    for part, clean in ((before, True), (after, False)):
        assert "$ git log --graph --oneline --all\n*" in part
        listing = part.split("$ git worktree list\n")[1].split("\n\n")[0]
        assert ("[agent-clean]" in listing) is clean
        assert "[agent-dirty]" in listing
    assert str(place) not in out


def test_demo_is_plain_and_fits_80_columns_in_a_pipe() -> None:
    # Said outright: readline, where pytest loads it, exports a width that os.environ does not show.
    answer = call_program("git-wave", "demo", env=dict(os.environ))

    assert (answer.code, answer.err) == (0, "")
    assert "\x1b" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


def test_demo_kept_is_as_told_by_plain_git(place: Path) -> None:
    answer = call("demo", "--keep")

    assert answer.code == 0, answer
    directory = kept(answer, place)
    repo = Repo(directory / "main", os.environ)
    assert repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split() == [
        *sorted(f"agent-{name}" for name in BLOCKED),
        "main",
    ]
    listing = repo.git("worktree", "list", "--porcelain")
    assert [line[9:] for line in listing.splitlines() if line.startswith("worktree ")] == [
        str(directory / name) for name in ("main", *sorted(BLOCKED))
    ]
    for name in BLOCKED:
        assert repo.git_code("merge-base", "--is-ancestor", f"agent-{name}", "main") == 1
    subjects = repo.git("log", "--first-parent", "--format=%s", "--reverse", "main").splitlines()
    assert subjects == ["start", *(f"chore: merge executor worktree (agent-{name})" for name in LANDED)]
    assert repo.git("ls-tree", "-r", "--name-only", "main").split() == [
        *("LICENSE", "README.md", "docs/guide.md"),
        *("src/app.py", "src/feature.py", "src/gone.py", "src/roamer.py"),
    ]
    assert repo.git("status", "--porcelain", "-uall") == "?? .planning/01-SUMMARY.md"
    assert repo.git("status", "--porcelain", cwd=directory / "dirty") == "?? notes.txt"
    assert repo.git("fsck", "--no-dangling") == ""


def test_demo_manifest_that_was_kept_is_valid(place: Path) -> None:
    directory = kept(call("demo", "--keep"), place)

    assert call("validate", "--manifest", str(directory / "wave.json")).code == 0
    assert len(json.loads((directory / "wave.json").read_text())["worktrees"]) == 8


def test_demo_does_not_depend_on_the_users_configuration(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "[merge]\n\tff = only\n[commit]\n\tgpgSign = true\n[core]\n\thooksPath = /nowhere\n"
    hostile += "[user]\n\tuseConfigOnly = true\n[color]\n\tui = always\n[init]\n\tdefaultBranch = trunk\n"
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text(hostile)
    monkeypatch.setenv("GIT_DIR", str(place / "nowhere"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place.parent / "xdg"))
    (place.parent / "xdg/git").mkdir(parents=True)
    (place.parent / "xdg/git/ignore").write_text("*\n")

    answer = call("demo")

    assert answer.code == 0, answer
    assert "\x1b" not in answer.out


@pytest.mark.parametrize("change", [{"lands": False}, {"code": Reason.BRANCH_MOVED}])
def test_demo_whose_agent_ends_otherwise_exits_1_and_names_it(
    place: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    first, *others = demo.AGENTS
    monkeypatch.setattr(demo, "AGENTS", (replace(first, **change), *others))  # type: ignore[arg-type]

    answer = call("demo")

    assert answer.code == 1
    assert "Not as it should be" in answer.out
    assert first.name in answer.out.splitlines()[-1]
    assert list(place.iterdir()) == []


def test_demo_without_git_says_so_and_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))

    answer = call("demo")

    assert answer.code == 1
    assert "git" in answer.err
    assert list(place.iterdir()) == []
