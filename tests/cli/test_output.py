"""What the commands print: one JSON document for programs, plain text for pipes, explanations for people."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.calling import SCHEMAS, call, call_program, program
from support.contract import validator
from support.naming import names_in_code
from support.repo import put
from support.world import World

DOCS = Path(__file__).parents[2]
ESCAPE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# fmt: off
DESIGN_CODES = [
    "branch_mismatch", "main_worktree", "accepted_absent_worktree", "base_mismatch",
    "branch_contains_deletions", "deletion_check_failed", "scope_out_of_declared",
    "scope_check_unavailable", "summary_rescue_failed", "worktree_dirty", "merge_failed",
    "merge_timed_out", "would_overwrite", "target_moved", "worktree_remove_failed", "worktree_locked",
    "branch_moved", "branch_delete_failed", "invalid_entry", "duplicate_entry", "empty_manifest",
    "manifest_read_failed", "invalid_manifest_json", "manifest_shape_invalid", "missing_field",
    "check_failed", "manifest_not_empty", "repo_busy", "detached_head", "unborn_head", "root_mismatch",
    "unexpected_branch", "not_a_checkout", "git_too_old", "git_missing", "base_check_failed",
    "dirt_check_failed", "summary_rescued", "ignored_output_kept", "already_landed", "cleanup_blocked",
    "ok",
]
# fmt: on


# -- JSON


def test_hooks_that_print_leave_one_document_on_stdout(world: World) -> None:
    for name in ("pre-merge-commit", "commit-msg", "post-merge", "post-checkout", "reference-transaction"):
        world.hook(name, "echo chatter on stdout; echo chatter on stderr >&2")
    agent, bad = world.agent("a"), world.agent("bad", {}, ["LICENSE"])

    answer = call_program("cleanup-wave", "--manifest", str(world.manifest(agent, bad)))

    assert answer.code == 1
    assert len(answer.doc["result"]["entries"]) == 2
    assert "chatter" not in answer.out
    assert answer.out.endswith("}\n")


def test_json_is_the_default_when_stdout_is_no_terminal(world: World) -> None:
    answer = call("--manifest", str(world.manifest(world.agent("a"))), prog="cleanup-wave")

    assert answer.doc["ok"] is True


def test_every_kind_of_document_satisfies_the_published_schema(world: World) -> None:
    """`World.wave` holds every document against the schema; here is one of each kind."""
    good, dirty, absent = world.agent("good"), world.agent("dirty"), world.agent("absent")
    put(dirty.path / "left.txt", "left")
    absent.path.rename(world.tmp / "away")
    mixed = [good, dirty, absent, "no entry", {"branch": 7, "files_modified": 7}, good]

    runs = [world.wave(*mixed, args=["--dry-run"]), world.wave(*mixed), world.wave(world.manifest())]
    runs += [world.wave(put(world.tmp / "m.json", text)) for text in ("{", "7")]
    runs += [world.wave(world.tmp / "none.json"), world.wave(dirty, args=["--expect-branch", "release"])]

    assert [run.code for run in runs] == [1] * 7


@pytest.mark.parametrize("change", [("ok", 7), ("reason", None), ("plan", []), ("result", "x")])
def test_the_published_schema_refuses_a_document_of_another_shape(world: World, change: tuple[str, object]) -> None:
    document = world.wave(world.agent("a")).doc

    assert not validator("result").is_valid({**document, change[0]: change[1]})


def test_unknown_keys_of_an_entry_come_back_with_it(world: World) -> None:
    run = world.wave(world.entry(world.agent("a"), ticket={"id": 7}))

    assert run.entry()["ticket"] == {"id": 7}


def test_an_unknown_key_never_hides_one_of_ours(world: World) -> None:
    lies = {"status": "merged_removed", "reason": "ok", "stderr": "x", "warnings": "x", "merge_commit": "x"}
    run = world.wave(world.entry(world.agent("a", {}, ["LICENSE"]), **lies))

    assert run.outcome() == ("blocked", "branch_contains_deletions")
    assert run.entry()["merge_commit"] is None
    assert run.warnings() == []


# -- text


def text_of(world: World, *entries: object, **environ: str) -> str:
    answer = call_program(
        "cleanup-wave",
        *("--manifest", str(world.manifest(*entries)), "--format", "text"),
        env={**os.environ, "COLUMNS": "80", **environ},
    )
    assert answer.code in {0, 1}
    return answer.out


def test_text_in_a_pipe_is_plain_and_names_what_matters(world: World) -> None:
    good, bad = world.agent("good"), world.agent("bad", {}, ["LICENSE"])

    text = text_of(world, good, bad, COLUMNS="120")

    assert not ESCAPE.search(text)
    assert "agent-good" in text
    assert "agent-bad" in text
    assert "branch_contains_deletions" in text
    assert "LICENSE" in text


def test_text_fits_into_80_columns(world: World) -> None:
    agents = [world.agent(f"a-rather-long-name-of-an-agent-{n}", {}, ["docs/api/index.md"]) for n in range(2)]
    dirty = world.agent("dirty")
    put(dirty.path / ("deep/" * 30 + "left.txt"), "left")

    text = text_of(world, *agents, dirty, {"branch": "x" * 200}, FORCE_COLOR="", COLUMNS="80")

    assert max(len(line) for line in text.splitlines()) <= 80, text
    assert "branch_contains_deletions" in re.sub(r"[\s│|]+", "", text)


HOSTILE = "x\x1b[31mred\x07\x9b2J\u202ey\r\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("field", ["agent_id", "worktree_path", "branch", "expected_base"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_control_characters_of_a_manifest_are_never_printed_raw(world: World, field: str, form: str) -> None:
    entry = world.entry(world.agent("a"), **{field: HOSTILE})

    answer = call_program("cleanup-wave", "--manifest", str(world.manifest(entry)), "--format", form, "-v")

    assert not ESCAPE.search(answer.out)
    assert not ESCAPE.search(answer.err)
    assert "\u202e" not in answer.out or form == "json"
    assert "Traceback" not in answer.err


def test_control_characters_of_paths_and_hooks_are_never_printed_raw(world: World) -> None:
    world.hook("pre-merge-commit", r"printf 'no \033[31mred\007\n' >&2; exit 1")
    dirty, refused = world.agent("dirty"), world.agent("refused")
    put(dirty.path / "left\x1b[2J\x07.txt", "left")

    manifest = str(world.manifest(dirty, refused))
    answers = [
        call_program("cleanup-wave", "--manifest", manifest, "--format", form, "-v") for form in ("text", "json")
    ]

    for answer in answers:
        assert answer.code == 1
        assert not ESCAPE.search(answer.out)
        assert not ESCAPE.search(answer.err)


def test_undecodable_bytes_in_a_path_are_told(world: World) -> None:
    dirty = world.agent("dirty")
    Path(os.fsdecode(os.fsencode(dirty.path) + b"/left\xff.txt")).write_text("left")

    for form in ("json", "text"):
        answer = call_program("cleanup-wave", "--manifest", str(world.manifest(dirty)), "--format", form)
        assert answer.code == 1
        assert "Traceback" not in answer.err
        assert "left" in answer.out


def test_quiet_says_nothing_on_stderr_and_the_document_on_stdout(world: World) -> None:
    answer = call_program("cleanup-wave", "--manifest", str(world.manifest(world.agent("a"))), "-q")

    assert (answer.code, answer.err) == (0, "")
    assert answer.doc["ok"] is True


def test_a_log_file_tells_the_git_commands(world: World) -> None:
    log = world.tmp / "wave.log"
    agent = world.agent("a")

    answer = call_program("cleanup-wave", "--manifest", str(world.manifest(agent)), "--log-file", str(log))

    assert answer.code == 0, answer
    assert "merge" in log.read_text()
    assert agent.tip in log.read_text()


def test_a_log_file_that_cannot_be_written_is_said_before_anything_is_touched(world: World) -> None:
    agent, log = world.agent("a"), put(world.tmp / "file", "") / "wave.log"
    before = world.snapshot()

    answer = call("--manifest", str(world.manifest(agent)), "--log-file", str(log), prog="cleanup-wave")

    assert answer.code in {1, 2}
    assert "Traceback" not in answer.err
    assert world.snapshot() == before


# -- explain


def listed() -> list[str]:
    """The codes of the generated list, in its order."""
    text = call("explain", "--format", "markdown").out
    return list(dict.fromkeys(re.findall(r"^(?:#+ |\| |- )\**`([a-z0-9_]+)`", text, flags=re.MULTILINE)))


@pytest.mark.parametrize("code", DESIGN_CODES)
def test_every_code_of_the_contract_is_explained(code: str) -> None:
    answer = call("explain", code)

    assert answer.code == 0, answer
    assert code in answer.out
    assert len(answer.out.split()) > 10


def test_every_listed_code_is_explained_alone_and_every_code_is_listed() -> None:
    codes = listed()

    assert set(DESIGN_CODES) <= set(codes)
    assert all(call("explain", code).code == 0 for code in codes)
    overview = call("explain")
    assert overview.code == 0
    assert all(code in overview.out for code in codes)


def test_an_unknown_code_is_wrong_usage() -> None:
    answer = call("explain", "worktree_dirt")

    assert (answer.code, answer.out) == (2, "")
    assert "worktree_dirt" in answer.err


def test_the_list_of_reasons_in_the_docs_is_the_generated_one() -> None:
    assert call("explain", "--format", "markdown").out == (DOCS / "docs/REASONS.md").read_text(encoding="utf-8")


def test_no_code_in_the_docs_is_unknown() -> None:
    keys = {key for schema in SCHEMAS.glob("*.json") for key in re.findall(r'"([a-z_]+)"', schema.read_text())}
    # Words of Claude Code and of gsd-core that our code looks for.
    theirs = [
        path.read_text() for path in (DOCS / "src/git_wave").rglob("*.py") if path.stem in ("payload", "reaper", "gsd")
    ]
    names = names_in_code(DOCS / "src") | {"git_wave", *re.findall(r'"([a-z_]+)"', "".join(theirs))}
    assert "worktree_dirt" not in names | keys
    pages = [*(DOCS / "docs").rglob("*.md"), DOCS / "README.md", DOCS / "CHANGELOG.md"]
    assert pages[0].is_file()

    for page in pages:
        words = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", page.read_text(encoding="utf-8")))
        assert words - set(listed()) - keys - names == set(), page


# -- help and completion


@pytest.mark.parametrize("command", ["cleanup-wave", "record-agent", "validate", "init", "schema", "explain"])
def test_every_command_has_help(command: str) -> None:
    answer = call(command, "--help")

    assert answer.code == 0
    assert "Usage" in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


@pytest.mark.parametrize("prog", ["git-wave", "cleanup-wave", "record-agent"])
def test_every_program_has_help(prog: str) -> None:
    answer = call("--help", prog=prog)

    assert answer.code == 0
    assert "Usage" in answer.out


def test_git_wave_says_its_version() -> None:
    assert re.search(r"\d+\.\d+", call("--version").out)


def test_git_wave_runs_as_a_command_of_git(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(program("git-wave")).parent
    monkeypatch.setenv("PATH", f"{here}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(["git", "wave", "explain", "ok"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done
    assert "ok" in done.stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(name: str) -> None:
    answer = call("completion", name)

    assert answer.code == 0, answer
    assert all(command in answer.out for command in ("git-wave", "cleanup-wave", "record-agent"))


def test_the_completion_for_bash_is_a_script_that_bash_takes(tmp_path: Path) -> None:
    script = put(tmp_path / "completion.bash", call("completion", "bash").out)

    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_completion_for_another_shell_is_wrong_usage() -> None:
    assert call("completion", "tcsh").code == 2
