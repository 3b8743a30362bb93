"""Does the branch delete only what was declared?"""

import os

import pytest

from support.checks import assert_all_landed, assert_blocked, assert_landed, offending
from support.repo import put
from support.shim import Shim
from support.world import World

UNDECLARED = "branch_contains_deletions"
ODD_NAMES = [
    "with space.txt",
    " leading and trailing ",
    'say "hi".txt',
    '"quoted"',
    "it's.txt",
    "new\nline.txt",
    "tab\there.txt",
    "größe.txt",
    "日本語.md",
    "-rf",
    "--",
    "back\\slash.txt",
    "bell\x07.txt",
    "esc\x1b[31m.txt",
    ":(top)magic",
    "*.md",
    "a => b",
]

SETTINGS = [
    "diff.renames=false",
    "diff.renames=copies",
    "diff.renames=true",
    "diff.noprefix=true",
    "diff.relative=true",
    "diff.external=true",
    "diff.orderFile=/dev/null",
    "diff.wordRegex=.",
    "diff.context=0",
    "diff.algorithm=patience",
    "diff.ignoreSubmodules=all",
    "diff.mnemonicPrefix=true",
    "diff.statGraphWidth=1",
    "color.ui=always",
    "core.quotePath=false",
    "core.pager=false",
    "core.attributesFile={attributes}",
]


def test_undeclared_deletion_is_blocked_and_the_next_entry_lands(world: World) -> None:
    deleting, fine = world.agent("a", delete=["setup.cfg"]), world.agent("b")
    run = world.wave(deleting, fine)
    assert_blocked(world, run, deleting, UNDECLARED)
    assert offending(run, deleting) == ["setup.cfg"]
    assert_landed(world, run, fine)
    assert (world.root / "setup.cfg").exists()


def test_declared_deletion_lands(world: World) -> None:
    agent = world.agent("a", delete=["setup.cfg", "docs/guide.md"])
    run = world.wave(world.entry(agent, declared_deletions=["docs/guide.md", "setup.cfg", "never/there"]))
    assert_all_landed(world, run, agent)
    assert not (world.root / "setup.cfg").exists()
    assert not (world.root / "docs/guide.md").exists()


def test_only_the_undeclared_deletions_are_listed(world: World) -> None:
    agent = world.agent("a", delete=["setup.cfg", "docs/guide.md", "src/app.py"])
    run = world.wave(world.entry(agent, declared_deletions=["docs/guide.md"]))
    assert_blocked(world, run, agent, UNDECLARED)
    assert sorted(offending(run)) == ["setup.cfg", "src/app.py"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "declared",
    [
        "*.md",
        "docs/*.md",
        "**",
        "docs",
        "docs/",
        "docs/guide",
        "docs/guide.md.bak",
        "guide.md",
        "DOCS/GUIDE.MD",
        "/docs/guide.md",
        "",
        "docs/../docs/guide.md",
        "docs/guide.m?",
        "docs/[g]uide.md",
        ".",
        "/",
        "-h",
    ],
)
def test_declaration_that_is_not_the_path_itself_opens_nothing(world: World, declared: str) -> None:
    agent = world.agent("a", delete=["docs/guide.md"])
    run = world.wave(world.entry(agent, declared_deletions=[declared]))
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["docs/guide.md"]


def test_declared_directory_opens_none_of_its_files(world: World) -> None:
    agent = world.agent("a", delete=["tests/test_app.py"])
    run = world.wave(world.entry(agent, declared_deletions=["tests", "*.md"]))
    assert_blocked(world, run, agent, UNDECLARED)


@pytest.mark.parametrize(
    "declared",
    [
        r"./docs/guide.md",
        r"././docs/guide.md",
        r"docs/guide.md/",
        r"docs\guide.md",
        r".\docs\guide.md",
        r'"\144ocs/guide.md"',
    ],
)
def test_declaration_is_compared_after_normalizing(world: World, declared: str) -> None:
    agent = world.agent("a", delete=["docs/guide.md"])
    run = world.wave(world.entry(agent, declared_deletions=[declared]))
    assert_all_landed(world, run, agent)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_name_is_matched_as_it_is_and_blocked_when_undeclared(world: World, name: str) -> None:
    world.commit(write={f"odd/{name}": "x", name: "y"})
    agent = world.agent("a", delete=[f"odd/{name}", name])
    blocked = world.wave(world.entry(agent, declared_deletions=["odd", "elsewhere"]))
    assert_blocked(world, blocked, agent, UNDECLARED)
    run = world.wave(world.entry(agent, declared_deletions=[name, f"odd/{name}"]))
    assert_all_landed(world, run, agent)


@pytest.mark.parametrize(
    "name", ["größe.txt", "new\nline.txt", 'say "hi".txt', "back\\slash.txt", os.fsdecode(b"caf\xe9")]
)
def test_declaration_in_gits_own_quoting_is_matched(world: World, name: str) -> None:
    world.commit(write={name: "x"})
    agent = world.agent("a", delete=[name])
    quoted = world.git("diff", "--name-only", agent.base, agent.tip)
    assert quoted.startswith('"')
    assert_blocked(world, world.wave(agent), agent, UNDECLARED)
    run = world.wave(world.entry(agent, declared_deletions=[quoted]))
    assert_all_landed(world, run, agent)


def test_name_with_a_backslash_is_not_opened_by_a_declaration_of_another_file(world: World) -> None:
    world.commit(write={r"docs\guide.md": "another file"})
    agent = world.agent("a", delete=[r"docs\guide.md"])
    run = world.wave(world.entry(agent, declared_deletions=["docs/guide.md"]))
    assert_blocked(world, run, agent, UNDECLARED)


def test_detail_stays_one_path_a_line_and_shows_no_raw_control_character(world: World) -> None:
    world.commit(write={"new\nline.txt": "x", "esc\x1b[31m.txt": "x"})
    agent = world.agent("a", delete=["new\nline.txt", "esc\x1b[31m.txt"])
    run = world.wave(agent)
    assert_blocked(world, run, agent, UNDECLARED)
    assert len(offending(run)) == 2
    assert "\x1b" not in run.out + run.err


def test_file_replaced_by_a_directory_counts_as_deleted(world: World) -> None:
    agent = world.agent("a", write={})
    (agent.path / "setup.cfg").unlink()
    put(agent.path / "setup.cfg/part", "x")
    world.commit(agent.path)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", UNDECLARED)
    assert offending(run) == ["setup.cfg"]


@pytest.mark.parametrize("change", ["emptied", "linked", "executable"])
def test_file_that_is_changed_but_still_there_is_no_deletion(world: World, change: str) -> None:
    agent = world.agent("a", write={})
    path = agent.path / "setup.cfg"
    if change == "emptied":
        path.write_text("")
    elif change == "executable":
        path.chmod(0o755)
    else:
        path.unlink()
        path.symlink_to("README.md")
    world.commit(agent.path)
    assert world.wave(agent).outcome() == ("merged_removed", "ok")


def test_deletion_made_by_the_target_is_not_the_branchs(world: World) -> None:
    agent = world.agent("a")
    world.commit(delete=["setup.cfg"])
    assert_all_landed(world, world.wave(agent), agent)


def test_file_deleted_and_restored_on_the_branch_is_no_deletion(world: World) -> None:
    agent = world.agent("a", delete=["setup.cfg"])
    world.git("revert", "--no-edit", "HEAD", cwd=agent.path)
    assert world.wave(agent).outcome() == ("merged_removed", "ok")


def test_deletion_hidden_in_a_merge_on_the_branch_is_blocked(world: World) -> None:
    agent = world.agent("a")
    side = world.git("commit-tree", "-p", agent.base, "-m", "side", f"{agent.base}^{{tree}}")
    world.git("merge", "-q", "--no-ff", "--no-commit", side, cwd=agent.path)
    world.git("rm", "-q", "setup.cfg", cwd=agent.path)
    world.git("commit", "-q", "-m", "evil merge", cwd=agent.path)
    run = world.wave(agent)
    assert run.outcome() == ("blocked", UNDECLARED)
    assert offending(run) == ["setup.cfg"]


def test_deletions_that_cannot_be_listed_block_with_gits_words(world: World, shim: Shim) -> None:
    agent, fine = world.agent("a"), world.agent("b")
    for command in ("diff", "diff-tree"):
        shim.fail(command, code=128, stderr="fatal: boom\n", arg=agent.tip)
    run = world.wave(agent, fine)
    assert_blocked(world, run, agent, "deletion_check_failed")
    assert "boom" in run.entry(agent)["stderr"]
    assert_landed(world, run, fine)


@pytest.mark.parametrize("code", [1, 2, 129])
def test_deletions_block_on_every_exit_code_they_do_not_know(world: World, shim: Shim, code: int) -> None:
    agent = world.agent("a")
    for command in ("diff", "diff-tree"):
        shim.fail(command, code=code)
    assert_blocked(world, world.wave(agent), agent, "deletion_check_failed")


def test_truncated_answer_is_not_taken_for_an_answer(world: World, shim: Shim) -> None:
    agent = world.agent("a", delete=["setup.cfg"])
    for command in ("diff", "diff-tree"):
        shim.rewrite(command, "head -c 60")
    run = world.wave(agent)
    assert run.outcome()[0] == "blocked"
    assert world.untouched(agent)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "setting",
    SETTINGS,
)
def test_users_diff_settings_change_nothing(world: World, setting: str) -> None:
    put(world.tmp / "attributes", "* diff=odd\n")
    name, _, value = setting.partition("=")
    world.git("config", "--global", "diff.odd.command", "true")
    world.git("config", "--global", name, value.format(attributes=world.tmp / "attributes"))
    agent = world.agent("a", delete=["setup.cfg", "docs/guide.md"])
    run = world.wave(world.entry(agent, declared_deletions=["docs/guide.md"]))
    assert_blocked(world, run, agent, UNDECLARED)
    assert offending(run) == ["setup.cfg"]
    run = world.wave(world.entry(agent, declared_deletions=["docs/guide.md", "setup.cfg"]))
    assert_all_landed(world, run, agent)
