"""`git-wave init`, `validate` and `schema`: the commands around a manifest."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.calling import SCHEMAS, Answer, call, call_program, write_manifest
from support.recording import ENTRY, record
from support.repo import put
from support.world import World

# -- validate


def validate(manifest: Path, text: str | None = None) -> Answer:
    if text is not None:
        put(manifest, text)
    return call("validate", "--manifest", str(manifest))


def assert_told(answer: Answer, pointer: str, line: int, column: int) -> None:
    """An error is told with its JSON pointer and its place, in whatever form the answer has."""
    known = answer.out + answer.err
    apart = rf'"pointer": "{pointer}"[^{{}}]*"line": {line},\s*"column": {column}\b'
    assert re.search(rf"{pointer}\b[^\n]*\b{line}:{column}\b|\b{line}:{column}\b[^\n]*{pointer}\b|{apart}", known), (
        known
    )


BROKEN = """\
{
  "orchestrator_root": "/r",
  "worktrees": [
    {"worktree_path": "/r/a", "branch": "agent-a", "expected_base": "1111111"},
    {"worktree_path": "/r/b",
     "branch": "main", "expected_base": 7},
    {"branch": "agent-c", "expected_base": "1111111"},
      "no entry"
  ]
}
"""


def test_a_good_manifest_is_valid(tmp_path: Path) -> None:
    answer = validate(write_manifest(tmp_path / "m.json", "/r", [ENTRY]))

    assert answer.code == 0, answer


def test_a_good_bare_array_is_valid(tmp_path: Path) -> None:
    assert validate(write_manifest(tmp_path / "m.json", None, [ENTRY])).code == 0


def test_every_error_is_told_in_one_run_with_its_place(tmp_path: Path) -> None:
    answer = validate(tmp_path / "m.json", BROKEN)

    assert answer.code == 1
    assert_told(answer, "/worktrees/1/branch", 6, 16)
    assert_told(answer, "/worktrees/1/expected_base", 6, 41)
    assert_told(answer, "/worktrees/2(/worktree_path)?", 7, 5)
    assert_told(answer, "/worktrees/3", 8, 7)
    assert "/worktrees/0" not in answer.out + answer.err


def test_an_error_in_a_bare_array_has_its_place(tmp_path: Path) -> None:
    answer = validate(tmp_path / "m.json", '[\n {"path": "/r/a", "expected_base": "1",\n  "branch": "x"}]')

    assert answer.code == 1
    assert_told(answer, "/0/branch", 3, 13)


def test_a_key_with_a_slash_or_tilde_does_not_confuse_the_places(tmp_path: Path) -> None:
    text = '{"a/b~c": {"x": [1, {"y": "]}"}]}, "worktrees":\n[null]}'
    answer = validate(tmp_path / "m.json", text)

    assert answer.code == 1
    assert_told(answer, "/worktrees/0", 2, 2)


def test_broken_json_is_told_with_its_place(tmp_path: Path) -> None:
    answer = validate(tmp_path / "m.json", '{\n  "worktrees": [,]\n}')

    assert answer.code == 1
    assert "invalid_manifest_json" in answer.out + answer.err
    assert re.search(r"\b2:17\b|line 2 column 17|\"line\": 2,\s*\"column\": 17", answer.out + answer.err), answer


def test_a_manifest_of_another_shape_is_told(tmp_path: Path) -> None:
    answer = validate(tmp_path / "m.json", '{"worktrees": 7}')

    assert answer.code == 1
    assert "manifest_shape_invalid" in answer.out + answer.err
    assert "/worktrees" in answer.out + answer.err


def test_a_manifest_that_is_not_there_is_told(tmp_path: Path) -> None:
    answer = validate(tmp_path / "none.json")

    assert answer.code == 1
    assert "manifest_read_failed" in answer.out + answer.err


@pytest.mark.parametrize("depth", [500, 900, 960, 980, 2_000, 100_000])
def test_deep_nesting_never_ends_in_a_trace(tmp_path: Path, depth: int) -> None:
    text = '{"worktrees": [], "deep": ' + "[" * depth + "]" * depth + "}"
    put(tmp_path / "m.json", text)

    answer = call_program("git-wave", "validate", "--manifest", str(tmp_path / "m.json"))

    assert answer.code in {0, 1}
    assert "Traceback" not in answer.err


def test_validate_tells_of_a_base_that_is_a_name_and_notes_an_allowed_one(tmp_path: Path) -> None:
    entries = [{**ENTRY, "expected_base": "main"}, {**ENTRY, "branch": "agent-b", "allowed_bases": ["HEAD"]}]

    answer = validate(tmp_path / "m.json", json.dumps(entries))

    assert answer.code == 1
    assert re.search(r"error: /0/expected_base: 'main'.*git rev-parse", answer.out)
    assert re.search(r"note: /1/allowed_bases/0: 'HEAD'", answer.out)


def test_validate_changes_nothing(tmp_path: Path) -> None:
    validate(tmp_path / "m.json", BROKEN)

    assert (tmp_path / "m.json").read_text() == BROKEN


def test_validate_without_a_manifest_is_wrong_usage() -> None:
    answer = call("validate")

    assert (answer.code, answer.out) == (2, "")
    assert "--manifest" in answer.err


def test_validate_uses_the_pattern_of_the_root(world: World) -> None:
    world.git("config", "wave.branchPattern", "^bot/")
    entry = {**ENTRY, "branch": "bot/x"}

    assert validate(world.manifest(entry)).code == 0
    assert validate(world.manifest(ENTRY)).code == 1


# -- init


def init(manifest: Path, *more: str) -> Answer:
    return call("init", "--manifest", str(manifest), *more)


def shell(root: Path) -> dict[str, Any]:
    return {"orchestrator_root": str(root), "worktrees": []}


def test_init_writes_the_shell_with_the_root_it_is_given(world: World) -> None:
    manifest = world.tmp / "new.json"

    answer = init(manifest, "--root", str(world.root))

    assert answer.code == 0, answer
    assert json.loads(manifest.read_text()) == shell(world.root)


@pytest.mark.parametrize("place", [".", "src/core"])
def test_init_finds_the_root_from_below(world: World, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.root / place)

    assert init(world.tmp / "new.json").code == 0

    assert json.loads((world.tmp / "new.json").read_text()) == shell(world.root)


def test_init_writes_the_real_root_for_a_symlink_to_it(world: World) -> None:
    link = world.tmp / "link"
    link.symlink_to(world.root)

    assert init(world.tmp / "new.json", "--root", str(link)).code == 0

    assert json.loads((world.tmp / "new.json").read_text()) == shell(world.root)


def test_what_init_wrote_can_be_recorded_into_and_read(world: World) -> None:
    manifest = world.tmp / "new.json"
    agent = world.agent("a")

    assert init(manifest, "--root", str(world.root)).code == 0
    known = {"agent": agent.id, "path": str(agent.path), "branch": agent.branch, "base": agent.base}
    assert record(manifest, "--check", **known).code == 0
    run = world.wave(manifest)

    assert run.code == 0, run.doc
    assert world.landed(agent)


def test_init_outside_a_repository_refuses_and_writes_nothing(tmp_path: Path) -> None:
    answer = init(tmp_path / "new.json")

    assert answer.code == 1, answer
    assert not (tmp_path / "new.json").exists()
    assert "Traceback" not in answer.err


def test_init_refuses_a_root_that_is_a_bare_repository(world: World) -> None:
    bare = world.tmp / "bare.git"
    world.git("init", "-q", "--bare", bare)

    answer = init(world.tmp / "new.json", "--root", str(bare))

    assert answer.code == 1, answer
    assert not (world.tmp / "new.json").exists()


@pytest.mark.parametrize("entries", [[ENTRY], ["no entry"], [None], [{}]])
@pytest.mark.parametrize("bare", [False, True])
def test_init_refuses_a_manifest_that_holds_entries(world: World, entries: list[object], bare: bool) -> None:
    manifest = write_manifest(world.tmp / "m.json", None if bare else world.root, entries)
    before = manifest.read_bytes()

    answer = init(manifest, "--root", str(world.root))

    assert answer.code == 1
    assert "manifest_not_empty" in answer.out + answer.err
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("text", ["{", "7", '{"worktrees": {"a": 1}}', "\0"])
def test_init_does_not_overwrite_what_it_cannot_read(world: World, text: str) -> None:
    manifest = put(world.tmp / "m.json", text)

    answer = init(manifest, "--root", str(world.root))

    assert answer.code == 1, answer
    assert manifest.read_text() == text


@pytest.mark.parametrize("text", ["[]", '{"worktrees": []}', '{"orchestrator_root": "/r", "worktrees": []}'])
def test_init_over_an_empty_manifest_leaves_an_empty_manifest(world: World, text: str) -> None:
    manifest = put(world.tmp / "m.json", text)

    assert init(manifest, "--root", str(world.root)).code == 0

    written = json.loads(manifest.read_text())
    assert written in ([], shell(world.root), json.loads(text))


# -- schema


@pytest.mark.parametrize("name", ["manifest", "result"])
def test_the_published_schema_is_what_the_command_prints(name: str) -> None:
    answer = call("schema", name)

    assert answer.code == 0, answer
    assert answer.out == (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["manifest", "result"])
def test_a_schema_is_a_schema_of_2020_12(name: str) -> None:
    schema = call("schema", name).doc

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_schema_of_anything_else_is_wrong_usage() -> None:
    answer = call("schema", "nothing")

    assert (answer.code, answer.out) == (2, "")


@pytest.mark.parametrize(
    ("document", "good"),
    [
        ({"worktrees": []}, True),
        ({"orchestrator_root": "/r", "worktrees": [ENTRY], "more": 1}, True),
        ([ENTRY], True),
        ([{**ENTRY, "agent_id": None, "allowed_bases": ["2222"], "files_modified": [], "more": 1}], True),
        ([{"path": "/r", "branch": "agent-a", "expected_base": "abc123"}], True),
        ([{"path": "/r", "branch": "main", "expected_base": "abc123"}], False),
        ([{"branch": "agent-a", "expected_base": "abc123"}], False),
        ([{"path": "/r", "branch": "agent-a", "expected_base": "main"}], False),
        ([{"path": "/r", "branch": "agent-a"}], False),
        ({"orchestrator_root": "/r"}, False),
        (7, False),
    ],
)
def test_the_manifest_schema_tells_good_from_bad(document: object, good: bool) -> None:
    assert jsonschema.Draft202012Validator(call("schema", "manifest").doc).is_valid(document) is good


def test_what_is_recorded_satisfies_the_manifest_schema(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [])
    assert record(manifest, "--files", "a b", "--deletion", "c d").code == 0

    jsonschema.Draft202012Validator(call("schema", "manifest").doc).validate(json.loads(manifest.read_text()))
