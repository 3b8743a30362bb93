"""create --replay-dirty: the agent sees what the user sees, and the user's checkout is never written to."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from support.creating import Made, assert_refused, create, created, made_by, nothing_made
from support.dirt import DIRT, TOGETHER, both, edit, gone, linked, moved, prepare, staged
from support.recording import entries_of
from support.replaying import assert_as_before, assert_same, git_names, shown, standing
from support.repo import put
from support.shim import Shim
from support.world import World


def replayed(world: World, *more: str, root: Path | None = None) -> Made:
    """Create with a replay; the checkout is as before, and both show the same."""
    world.manifest()
    before = standing(world.root)
    made = created(world, "--replay-dirty", *more, root=root)
    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert_same(world.root, made.path)
    return made


def assert_baseline(world: World, made: Made) -> None:
    """One commit on the fork point that holds all there is, and a worktree with nothing to say."""
    assert made.baseline
    assert world.git("rev-parse", f"{made.baseline}^@") == made.base == world.head()
    assert world.git("log", "-1", "--format=%s", made.baseline).startswith("git-wave: baseline")
    assert world.git("status", "--porcelain", "-z", cwd=made.path) == ""
    assert "baseline_holds_edits" in made.codes()


def diffs(where: Path) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Staged, unstaged and untracked, sidecars left out."""
    pins = ["-c", "core.quotePath=false", "diff", "--raw", "-z", "--no-renames", "--no-abbrev"]
    untracked = git_names(where, "ls-files", "-z", "--others", "--exclude-standard")
    mine = [name for name in untracked if not name.startswith(b".claude/worktrees/")]
    return git_names(where, *pins, "--cached"), git_names(where, *pins), mine


# -- each kind of dirt


@pytest.mark.sampled(10)
@pytest.mark.parametrize("kind", DIRT)
def test_a_kind_of_dirt_is_replayed_and_is_the_baseline(world: World, kind: str) -> None:
    prepare(world)
    DIRT[kind](world)

    made = replayed(world)

    if made.baseline:
        assert_baseline(world, made)
    else:
        assert shown(world.root) == shown(made.path)
        assert world.git("status", "--porcelain", cwd=made.path) == ""


def test_many_kinds_at_once_are_replayed_and_are_the_baseline(world: World) -> None:
    prepare(world)
    both(*(DIRT[kind] for kind in TOGETHER))(world)

    made = replayed(world)

    assert_baseline(world, made)
    counts = made.doc["replayed"]
    untracked = git_names(world.root, "ls-files", "-z", "--others", "--exclude-standard", "--", ":!.claude/worktrees")
    assert counts["untracked"] == len(untracked)
    files = [path for name in untracked if not (path := world.root / os.fsdecode(name)).is_symlink()]
    assert counts["bytes"] == sum(path.stat().st_size for path in files)
    assert counts["tracked"] > 10


@pytest.mark.sampled(18)
@pytest.mark.parametrize("kind", DIRT)
def test_without_a_baseline_staged_and_unstaged_stay_apart(world: World, kind: str) -> None:
    prepare(world)
    DIRT[kind](world)
    hidden = any(line[:1] in b"hsS" for line in git_names(world.root, "ls-files", "-v", "-z"))

    made = replayed(world, "--baseline=none")

    assert made.baseline is None
    if not hidden and "meant to be added" not in kind:
        assert diffs(made.path) == diffs(world.root)


def test_without_a_baseline_many_kinds_at_once_stay_apart(world: World) -> None:
    prepare(world)
    both(*(DIRT[kind] for kind in TOGETHER))(world)

    made = replayed(world, "--baseline=none")

    assert diffs(made.path) == diffs(world.root)
    assert (made.baseline, "baseline" in made.doc["entry"]) == (None, False)
    assert "baseline_holds_edits" not in made.codes()
    assert made.doc["replayed"]["tracked"] > 10


@pytest.mark.parametrize("baseline", ["commit", "none"])
def test_a_clean_checkout_has_no_baseline(world: World, baseline: str) -> None:
    made = replayed(world, f"--baseline={baseline}")

    assert made.baseline is None
    assert made.doc["replayed"] in (None, {"tracked": 0, "untracked": 0, "bytes": 0})
    assert made.doc["warnings"] == []


def test_without_the_flag_nothing_is_replayed(world: World) -> None:
    both(edit("LICENSE"), edit("new.txt"))(world)

    made = created(world)

    assert (made.doc["replayed"], made.baseline) == (None, None)
    assert world.git("status", "--porcelain", cwd=made.path) == ""
    assert not (made.path / "new.txt").exists()


def test_ignored_files_are_not_replayed(world: World) -> None:
    put(world.root / ".git/info/exclude", "private/\n")
    put(Path(world.env["HOME"]) / "config/git/ignore", "*.swp\n")
    both(edit("run.log"), edit("private/x"), edit("node_modules/a/b"), edit("a.swp"), edit("new.txt"))(world)

    made = replayed(world)

    assert [path.name for path in sorted(made.path.glob("*.*")) if path.name in ("run.log", "a.swp", "new.txt")] == [
        "new.txt"
    ]
    assert not (made.path / "private").exists()


# -- what is not content, and what is not the user's


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "sidecar", [".git-wave", ".claude/worktrees", ".agent_context", ".multica", ".trusty-mpm-worktree"]
)
def test_sidecars_are_never_replayed_at_any_depth(world: World, sidecar: str) -> None:
    both(edit(f"{sidecar}/x"), edit(f"src/{sidecar}/deep/y"), edit("new.txt"))(world)

    made = replayed(world, "--path=lanes/one")

    assert "replay_skipped" in made.codes()
    assert not (made.path / sidecar).exists()
    assert not (made.path / "src" / sidecar).exists()
    assert (made.path / "new.txt").is_file()


def test_more_sidecars_can_be_named(world: World) -> None:
    for name in (".mine", "cache/of-mine"):
        world.git("config", "--add", "wave.sidecar", name)
    both(edit("src/.mine/x"), edit(".mine/x"), edit(".multica/x"), edit("a/cache/of-mine/x"), edit("cache/y"))(world)
    world.manifest()

    made = created(world, "--replay-dirty")

    assert world.git("diff", "--name-only", made.base, str(made.baseline)) == "cache/y"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("folder", ["", "plans/"])
def test_the_manifest_is_never_replayed_and_does_not_stand_in_the_waves_way(world: World, folder: str) -> None:
    """Nor are the files beside it that recorders lock and replace it with."""
    put(world.root / f"{folder}wave.json", json.dumps({"orchestrator_root": str(world.root), "worktrees": []}))
    put(world.root / f"{folder}.wave.json.a1b2c3", "as another recorder writes it")
    edit("new.txt")(world)
    flags = ["--replay-dirty", f"--manifest={world.root / folder / 'wave.json'}"]

    made = [created(world, *flags, agent=name) for name in ("a1", "a2")]

    for one in made:
        assert world.git("diff", "--name-only", one.base, str(one.baseline)) == "new.txt"
    (world.root / "new.txt").unlink()
    (world.root / f"{folder}.wave.json.a1b2c3").unlink()
    run = world.wave(world.root / folder / "wave.json")
    assert (run.code, [entry["status"] for entry in run.entries]) == (0, ["merged_removed"] * 2), run.doc


def test_other_worktrees_in_the_checkout_are_not_replayed(world: World) -> None:
    world.agent("peer", path=world.root / "lanes/peer")
    world.agent("second", path=world.root / ".claude/worktrees/second")
    edit("new.txt")(world)

    made = replayed(world)

    assert "replay_skipped" in made.codes()
    assert not (made.path / "lanes").exists()
    assert not (made.path / ".claude").exists()


def test_sockets_and_fifos_are_not_content(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    edit("run/new.txt")(world)
    os.mkfifo(world.root / "run/fifo")
    monkeypatch.chdir(world.root / "run")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

        made = replayed(world)

    assert [path.name for path in (made.path / "run").iterdir()] == ["new.txt"]


# -- whatever git's settings are


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "setting",
    [
        *("status.showUntrackedFiles=no", "core.splitIndex=true", "core.untrackedCache=true", "core.quotePath=false"),
        *("diff.external=false", "diff.renames=copies", "diff.ignoreSubmodules=all", "core.hooksPath=/nowhere"),
        *("commit.verbose=true", "core.commentChar=g", "commit.cleanup=scissors", "core.safecrlf=true"),
        *("core.bigFileThreshold=1", "index.version=4", "feature.manyFiles=true", "core.autocrlf=input"),
    ],
)
def test_the_users_settings_do_not_change_what_is_replayed(world: World, setting: str) -> None:
    prepare(world)
    name, _, value = setting.partition("=")
    world.git("config", name, value)
    world.git("status")
    many = both(*(DIRT[kind] for kind in TOGETHER if not ("autocrlf" in setting and ("bin" in kind or "line" in kind))))
    many(world)

    assert_baseline(world, replayed(world))


def test_the_baseline_runs_no_hook(world: World) -> None:
    for hook in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "applypatch-msg", "post-applypatch"):
        world.hook(hook, f"echo {hook} >>{world.tmp}/hooks-ran; exit 1")
    edit("LICENSE")(world)

    assert_baseline(world, replayed(world))

    assert not (world.tmp / "hooks-ran").exists()


def identity_of(world: World, commit: str) -> list[str]:
    return world.git("log", "-1", "--format=%an%n%ae%n%cn%n%ce", commit).splitlines()


def test_the_baseline_is_in_the_users_name(world: World) -> None:
    edit("LICENSE")(world)

    made = replayed(world)

    assert identity_of(world, str(made.baseline)) == ["Test User", "test@example.invalid"] * 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("only", ["true", "false"])
def test_where_no_name_is_configured_the_baseline_has_one_of_ours(world: World, only: str) -> None:
    Path(world.env["GIT_CONFIG_GLOBAL"]).write_text(f"[user]\n\tuseConfigOnly = {only}\n")
    edit("LICENSE")(world)
    world.manifest()

    made = created(world, "--replay-dirty")

    assert all("git-wave" in part.lower() for part in identity_of(world, str(made.baseline)))
    assert world.git("config", "--get", "user.email", check=False) == ""


def test_a_name_without_an_address_is_kept(world: World) -> None:
    Path(world.env["GIT_CONFIG_GLOBAL"]).write_text("[user]\n\tname = Only A Name\n\tuseConfigOnly = true\n")
    edit("LICENSE")(world)
    world.manifest()

    assert identity_of(world, str(created(world, "--replay-dirty").baseline))[0] == "Only A Name"


# -- where the user is


def test_below_the_root_of_the_repository_all_of_it_is_replayed(world: World) -> None:
    both(edit("LICENSE"), edit("src/new/deep.txt"), edit("docs/new.txt"))(world)

    made = replayed(world, root=world.root / "src")

    assert made.doc["cwd"] == str(made.path / "src")
    assert_baseline(world, made)


def test_a_new_directory_of_the_users_can_be_the_working_directory(world: World) -> None:
    edit("fresh/new.txt")(world)

    made = replayed(world, root=world.root / "fresh")

    assert (Path(made.doc["cwd"]) / "new.txt").is_file()


def test_a_linked_worktree_of_the_users_is_replayed_as_it_stands(world: World) -> None:
    home = world.agent("home", {"made.txt": "1\n"})
    put(home.path / "LICENSE", "edited at home\n")
    world.git("add", "LICENSE", cwd=home.path)
    put(home.path / "LICENSE", "edited again at home\n")
    put(home.path / "new.txt", "n\n")
    edit("README.md", "this is the main worktree's\n")(world)
    world.manifest()
    before = standing(world.root)

    made = created(world, "--replay-dirty", root=home.path)

    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert_same(home.path, made.path)
    assert (made.base, world.git("diff", "--name-only", made.base, str(made.baseline))) == (
        home.tip,
        "LICENSE\nnew.txt",
    )


def test_a_detached_checkout_is_replayed(world: World) -> None:
    world.git("switch", "-q", "--detach", "HEAD~1")
    edit("LICENSE")(world)

    assert_baseline(world, replayed(world))


def test_head_spelled_out_is_head(world: World) -> None:
    edit("LICENSE")(world)

    assert_baseline(world, replayed(world, f"--base={world.head()}"))


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(world: World) -> None:
    world.git("sparse-checkout", "set", "src")
    edit("src/app.py")(world)
    world.manifest()
    before = standing(world.root)

    made = created(world, "--replay-dirty")

    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert world.git("diff", "--name-status", made.base, str(made.baseline)) == "M\tsrc/app.py"
    assert (made.path / "src/app.py").read_text() == "edited\n"
    assert world.git("status", "--porcelain", cwd=made.path) == ""


# -- submodules


def with_submodule(world: World) -> Path:
    library = world.tmp / "library"
    world.git("clone", "-q", world.root, library)
    world.git("submodule", "--quiet", "add", library, "vendor/library")
    world.commit(message="a library")
    return world.root / "vendor/library"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_staged", [True, False])
def test_a_submodules_pointer_is_in_the_baseline(world: World, is_staged: bool) -> None:
    inner = with_submodule(world)
    tip = world.commit(inner, {"more.txt": "1\n"})
    if is_staged:
        world.git("add", "vendor/library")
    edit("LICENSE")(world)
    world.manifest()
    before = standing(world.root)

    made = created(world, "--replay-dirty")

    assert_as_before(before, standing(world.root, made.path, made.branch), made.path)
    assert tip in world.git("ls-tree", "HEAD", "vendor/library", cwd=made.path)
    assert world.git("status", "--porcelain", cwd=made.path) == ""
    assert (inner / "more.txt").is_file()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_staged", [False, True])
def test_without_a_baseline_a_submodules_pointer_is_in_the_index_or_refused(world: World, is_staged: bool) -> None:
    """Where the submodule is not checked out, a pointer that is not staged is nowhere."""
    inner = with_submodule(world)
    tip = world.commit(inner, {"more.txt": "1\n"})
    if is_staged:
        world.git("add", "vendor/library")

    answer = create(world, "--replay-dirty", "--baseline=none")

    if answer.code == 0 or is_staged:
        made = made_by(world, answer)
        assert tip in world.git("ls-files", "--stage", "vendor/library", cwd=made.path)
    else:
        assert "vendor/library" in assert_refused(answer, "replay_failed")


# -- what the wave makes of it


def test_after_a_stash_the_wave_lands_exactly_the_users_edits_and_the_agents(world: World) -> None:
    prepare(world)
    both(*(DIRT[kind] for kind in TOGETHER))(world)
    seen = shown(world.root)
    made = replayed(world)
    tip = world.commit(made.path, {"agent.txt": "the agent's\n"})
    world.git("stash", "-u", "-q", "--", ":!.claude")

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, run.outcome()) == (0, ("merged_removed", "ok")), run.doc
    assert world.git("rev-parse", "HEAD^{tree}") == world.git("rev-parse", f"{tip}^{{tree}}")
    after = shown(world.root)
    assert after.pop(b"agent.txt")[2] == b"the agent's\n"
    assert {path: (kind, bits & 0o100, data) for path, (kind, bits, data) in after.items()} == {
        path: (kind, bits & 0o100, data) for path, (kind, bits, data) in seen.items()
    }


def test_agents_that_all_have_the_users_edits_land_in_one_wave(world: World) -> None:
    both(edit("LICENSE"), edit("new.txt"), gone("setup.cfg"), moved("src/app.py", "src/main.py"))(world)
    for name in ("a1", "a2", "a3"):
        made = created(world, "--replay-dirty", agent=name)
        world.commit(made.path, {f"{name}.txt": "x\n"})
    world.git("stash", "-u", "-q", "--", ":!.claude")

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, [entry["status"] for entry in run.entries]) == (0, ["merged_removed"] * 3), run.doc


def test_edits_that_were_not_stashed_stay_and_block(world: World) -> None:
    both(edit("LICENSE"), edit("new.txt"))(world)
    made = replayed(world)
    before = world.snapshot()

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, run.outcome()[0]) == (1, "blocked")
    assert world.snapshot() == before
    assert made.path.is_dir()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "deletion", [gone("LICENSE"), moved("LICENSE", "COPYING"), staged(moved("LICENSE", "COPYING"))]
)
@pytest.mark.parametrize("scope", [[], ["--files=agent.txt"]])
def test_a_deletion_of_the_users_own_does_not_block_the_wave(
    world: World, deletion: Callable[[World], object], scope: list[str]
) -> None:
    deletion(world)
    made = replayed(world, *scope, "--deletion=setup.cfg")
    world.commit(made.path, {"agent.txt": "x\n"}, delete=["setup.cfg"])
    world.git("stash", "-u", "-q", "--", ":!.claude")

    run = world.wave(world.tmp / "wave.json")

    assert (run.code, run.outcome()) == (0, ("merged_removed", "ok")), run.doc
    assert not (world.root / "LICENSE").exists()
    assert "setup.cfg" in made.doc["entry"]["declared_deletions"]


def test_a_deletion_by_the_agent_still_blocks_the_wave(world: World) -> None:
    gone("LICENSE")(world)
    made = replayed(world)
    world.commit(made.path, delete=["setup.cfg"])
    world.git("checkout", "-q", "--", "LICENSE")

    run = world.wave(world.tmp / "wave.json")

    assert run.outcome() == ("blocked", "branch_contains_deletions")
    assert run.entry()["stderr"].split() == ["setup.cfg"]


def test_the_dry_run_accepts_a_branch_with_nothing_but_the_baseline(world: World) -> None:
    edit("new.txt")(world)
    made = replayed(world)
    (world.root / "new.txt").unlink()

    run = world.wave(world.tmp / "wave.json", args=["--dry-run"])

    assert (run.code, run.outcome(made.branch)) == (0, ("would_land", "ok"))
    assert entries_of(world.tmp / "wave.json")[0]["baseline"] == made.baseline


# -- limits


def test_exactly_as_much_as_the_limits_allow_is_replayed(world: World) -> None:
    both(edit("a/1", "12345"), edit("a/2", "12345"), edit("run.log", "x" * 99), edit(".multica/x", "y" * 99))(world)

    made = replayed(world, "--max-untracked-files=2", "--max-untracked-bytes=10")

    assert made.doc["replayed"] == {"tracked": 0, "untracked": 2, "bytes": 10}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("flag", ["--max-untracked-files=1", "--max-untracked-bytes=9", "--max-untracked-files=0"])
def test_more_than_the_limits_allow_is_refused_whole(world: World, flag: str) -> None:
    both(edit("a/1", "12345"), edit("a/2", "12345"), edit("LICENSE"))(world)

    with nothing_made(world):
        hint = assert_refused(create(world, "--replay-dirty", flag), "replay_too_large")

    assert flag.partition("=")[2] in hint


def test_tracked_edits_do_not_count_as_untracked_bytes(world: World) -> None:
    both(edit("LICENSE", "x" * 5000), staged(edit("new.txt", "y" * 5000)))(world)

    assert replayed(world, "--max-untracked-bytes=10", "--max-untracked-files=0").baseline


def test_a_link_counts_as_a_file(world: World) -> None:
    both(linked("one", "LICENSE"), linked("two", "LICENSE"))(world)

    with nothing_made(world):
        assert_refused(create(world, "--replay-dirty", "--max-untracked-files=1"), "replay_too_large")


# -- calls


def test_a_replay_asks_few_questions_of_git_however_much_there_is(world: World, shim: Shim) -> None:
    prepare(world)
    both(*(DIRT[kind] for kind in TOGETHER), *(edit(f"many/{n}", f"{n}") for n in range(300)))(world)

    replayed(world)

    assert len(shim.calls()) <= 40, [call[-4:] for call in shim.calls()]
