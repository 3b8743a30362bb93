"""A file of the user's that git does not track, where the merge would write, is never overwritten."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.repo import put
from support.shim import Shim
from support.world import World, files_below

# Each puts something of the user's into the checkout and names the path that the branch adds.


def untracked_file(world: World) -> str:
    put(world.root / "new.txt", "the user's\n")
    return "new.txt"


def untracked_file_below(world: World) -> str:
    put(world.root / "fresh/deep/new.txt", "the user's\n")
    return "fresh/deep/new.txt"


def ignored_file(world: World) -> str:
    put(world.root / "secret.env", "the user's\n")
    return "secret.env"


def ignored_file_in_an_ignored_directory(world: World) -> str:
    put(world.root / "node_modules/a.js", "the user's\n")
    return "node_modules/a.js"


def ignored_directory_where_a_file_must_come(world: World) -> str:
    put(world.root / "secret.env/inner.txt", "the user's\n")
    return "secret.env"


def untracked_directory_where_a_file_must_come(world: World) -> str:
    put(world.root / "thing/inner.txt", "the user's\n")
    return "thing"


def ignored_file_where_a_directory_must_come(world: World) -> str:
    put(world.root / "secret.env", "the user's\n")
    return "secret.env/inner.txt"


def untracked_file_where_a_directory_must_come(world: World) -> str:
    put(world.root / "thing", "the user's\n")
    return "thing/inner.txt"


def ignored_file_excluded_by_info_exclude(world: World) -> str:
    put(world.root / ".git/info/exclude", "mine.txt\n")
    put(world.root / "mine.txt", "the user's\n")
    return "mine.txt"


def symlink_in_the_place(world: World) -> str:
    target = put(world.tmp / "outside.txt", "the user's\n")
    (world.root / "new.txt").symlink_to(target)
    return "new.txt"


def ignored_symlink_in_the_place(world: World) -> str:
    target = put(world.tmp / "outside.txt", "the user's\n")
    (world.root / "secret.env").symlink_to(target)
    return "secret.env"


def dangling_symlink_in_the_place(world: World) -> str:
    (world.root / "secret.env").symlink_to("nowhere")
    return "secret.env"


def symlink_to_a_directory_outside(world: World) -> str:
    (world.tmp / "outside").mkdir()
    (world.root / "secret.env").symlink_to(world.tmp / "outside")
    return "secret.env/inner.txt"


def awkward_name(world: World) -> str:
    put(world.root / 'q"uo\nté [x].log', "the user's\n")
    return 'q"uo\nté [x].log'


IN_THE_WAY = [
    untracked_file,
    untracked_file_below,
    ignored_file,
    ignored_file_in_an_ignored_directory,
    ignored_directory_where_a_file_must_come,
    untracked_directory_where_a_file_must_come,
    ignored_file_where_a_directory_must_come,
    untracked_file_where_a_directory_must_come,
    ignored_file_excluded_by_info_exclude,
    symlink_in_the_place,
    ignored_symlink_in_the_place,
    dangling_symlink_in_the_place,
    symlink_to_a_directory_outside,
    awkward_name,
]


def plain_part(path: str) -> str:
    """The letters at the start of a path's first part that come after no quote."""
    return path.split("/")[0].split('"')[-1].split("\n")[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("in_the_way", IN_THE_WAY, ids=lambda f: f.__name__)
def test_what_stands_in_the_way_stays_and_the_next_entry_lands(
    world: World, in_the_way: Callable[[World], str]
) -> None:
    bad, good = world.agent("bad", {}), world.agent("good")
    path = in_the_way(world)
    put(bad.path / path, "the agent's\n")
    world.git("add", "--force", "--", path, cwd=bad.path)
    world.git("commit", "-q", "-m", "add", cwd=bad.path)
    before, outside = files_below(world.root), files_below(world.tmp / "outside")

    run = world.wave(bad, good)

    assert run.outcome(bad) == ("blocked", "would_overwrite"), run.doc
    assert plain_part(path) in run.entry(bad)["stderr"]
    assert {name: files_below(world.root)[name] for name in before} == before
    assert files_below(world.tmp / "outside") == outside
    assert not world.merged(world.branches()[bad.branch])
    assert bad.path.is_dir()
    assert world.landed(good)


def test_an_ignored_file_in_a_directory_that_becomes_a_file_stays(world: World) -> None:
    bad = world.agent("bad", {}, ["docs/api/index.md", "docs/api/notes.md"], commit=False)
    (bad.path / "docs/api").rmdir()
    put(bad.path / "docs/api", "now a file\n")
    world.commit(bad.path)
    put(world.root / "docs/api/debug.log", "the user's\n")
    gone = ["docs/api/index.md", "docs/api/notes.md"]
    before = world.snapshot()

    run = world.wave(world.entry(bad, declared_deletions=gone))

    assert run.outcome()[0] == "blocked", run.doc
    assert run.outcome()[1] in {"would_overwrite", "merge_failed"}
    assert world.snapshot() == before


def test_a_file_of_the_users_beside_what_the_merge_writes_is_in_nobodys_way(world: World) -> None:
    agent = world.agent("a", {"fresh/new.txt": "the agent's\n"})
    put(world.root / "fresh/mine.log", "the user's\n")
    put(world.root / "fresh/scratch.txt", "the user's\n")

    run = world.wave(agent)

    assert run.outcome() == ("merged_removed", "ok"), run.doc
    assert (world.root / "fresh/mine.log").read_text() == "the user's\n"
    assert (world.root / "fresh/scratch.txt").read_text() == "the user's\n"
    assert (world.root / "fresh/new.txt").read_text() == "the agent's\n"


def test_a_path_that_only_an_earlier_entry_brought_is_in_nobodys_way(world: World) -> None:
    one, two = world.agent("one", {"shared.txt": "same\n"}), world.agent("two", {"shared.txt": "same\n"})

    run = world.wave(one, two)

    assert run.code == 0, run.doc
    assert world.landed(one)
    assert run.outcome(two) == ("merged_removed", "already_landed")
    assert two.branch not in world.branches()


def test_an_ignored_file_of_the_users_that_the_branch_never_names_stays(world: World) -> None:
    agent = world.agent("a")
    put(world.root / "secret.env", "the user's\n")
    put(world.root / "node_modules/x/y.js", "the user's\n")

    run = world.wave(agent)

    assert run.code == 0, run.doc
    assert (world.root / "secret.env").read_text() == "the user's\n"
    assert (world.root / "node_modules/x/y.js").read_text() == "the user's\n"


def test_a_dry_run_says_what_would_be_overwritten(world: World) -> None:
    agent = world.agent("a", {"new.txt": "the agent's\n"})
    put(world.root / "new.txt", "the user's\n")

    run = world.wave(agent, args=["--dry-run"])

    assert run.code == 1
    assert run.outcome() == ("blocked", "would_overwrite")


WRITING = 'mkdir -p deep && head -c {bytes} {source} >{path}; echo "fatal: no space left" >&2; exit 128'


def half_written(world: World, shim: Shim, path: str, source: Path, count: int) -> None:
    """A merge that stops while it writes a new file, as on a disk that is full."""
    run = WRITING.format(bytes=count, source=source, path=path)
    shim.rules.append(f'if [ "$sub" = merge ] && has --no-ff "$@"; then cd {world.root}; {run}; fi\n')
    shim.install()


@pytest.mark.parametrize("count", [0, 100, 70_000])
def test_a_new_file_that_a_merge_left_half_written_is_set_aside_and_the_next_wave_lands(
    world: World, shim: Shim, count: int
) -> None:
    agent = world.agent("a", {"deep/big.txt": "".join(f"line {number}\n" for number in range(20_000))})
    half_written(world, shim, "deep/big.txt", agent.path / "deep/big.txt", count)
    before = world.snapshot()

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    (place,) = world.root.glob(".git/git-wave/kept/*/.residue")
    assert f"half-written files were moved to {place}" in run.entry()["stderr"]
    assert world.snapshot() == before
    shim.rules.clear()
    shim.install()
    assert world.wave(agent).code == 0


def test_a_new_file_that_no_merge_was_writing_stays_and_is_named(world: World, shim: Shim) -> None:
    agent = world.agent("a", {"deep/big.txt": "theirs\n"})
    mine = put(world.tmp / "mine", "mine\n")
    half_written(world, shim, "deep/big.txt", mine, 5)

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert "written while the merge ran, and left as it is: deep/big.txt" in run.entry()["stderr"]
    assert (world.root / "deep/big.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("cause", "advice"), [("hook", "a hook of yours"), ("edit", "commit or stash"), ("staged", "unstage")]
)
def test_what_to_do_about_a_merge_that_failed_fits_the_cause(world: World, cause: str, advice: str) -> None:
    agent = world.agent("a", {"LICENSE": "theirs\n"})
    if cause == "hook":
        world.hook("commit-msg", "exit 1")
    else:
        put(world.root / "LICENSE", "mine\n")
    if cause == "staged":
        world.git("add", "LICENSE")

    run = world.wave(agent)

    assert run.outcome() == ("blocked", "merge_failed")
    assert advice in run.entry()["next_step"]


def test_the_message_of_a_merge_is_a_setting(world: World) -> None:
    world.git("config", "wave.mergeMessage", "land {agent}: {branch}")
    agent = world.agent("a")

    assert world.wave(agent).code == 0
    assert world.git("log", "-1", "--format=%s") == f"land {agent.id}: {agent.branch}"
    assert world.wave(agent).outcome() == ("merged_removed", "already_landed")


def test_a_wave_that_is_refused_tells_each_entry_what_would_help(world: World) -> None:
    agent = world.agent("a")
    world.git("checkout", "-q", "--detach")

    run = world.wave(agent)

    (pending,) = run.doc["result"]["pending"]
    assert pending["next_step"] not in ("", "run again")
