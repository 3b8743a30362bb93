"""record-agent: what it refuses and how it says so, what it accepts and how it writes it."""

import json
import os
import time
from pathlib import Path

import pytest

from support.calling import call, call_program, write_manifest
from support.recording import BASE, ENTRY, FLAGS, GOOD, assert_refused, entries_of, flags, record


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return write_manifest(tmp_path / "wave.json", tmp_path, [])


# -- success


def test_a_good_entry_is_appended_and_answered(manifest: Path) -> None:
    answer = record(manifest)

    assert answer.code == 0, answer
    assert answer.doc["ok"] is True
    assert answer.doc["reason"] == "ok"
    assert Path(answer.doc["manifest_path"]) == manifest
    assert answer.doc["entry"] == entries_of(manifest)[0]
    assert ENTRY.items() <= answer.doc["entry"].items()


def test_entries_keep_the_order_in_which_they_were_recorded(manifest: Path) -> None:
    for name in ("c", "a", "b"):
        assert record(manifest, path=f"/r/{name}", branch=f"agent-{name}").code == 0

    assert [entry["branch"] for entry in entries_of(manifest)] == ["agent-c", "agent-a", "agent-b"]


def test_values_are_trimmed_before_they_are_written(manifest: Path) -> None:
    answer = record(manifest, agent=" a1\t", path=" /r/wt-a1 ", branch="\tagent-a1\n", base=f" {BASE}\n")

    assert answer.code == 0, answer
    assert ENTRY.items() <= entries_of(manifest)[0].items()


def test_files_and_deletions_split_at_white_space_and_repeat(manifest: Path) -> None:
    answer = record(
        manifest,
        "--files",
        "a.py  b/c.py",
        "--deletions",
        "old.py\tgone/x",
        "--files",
        "d\ne",
        "--deletions",
        "z",
    )

    assert answer.code == 0, answer
    assert entries_of(manifest)[0]["files_modified"] == ["a.py", "b/c.py", "d", "e"]
    assert entries_of(manifest)[0]["declared_deletions"] == ["old.py", "gone/x", "z"]


def test_file_and_deletion_take_one_path_each_verbatim(manifest: Path) -> None:
    answer = record(
        manifest,
        *(
            "--file",
            "a b.py",
            "--file",
            " lead",
            "--file",
            'q"u\n',
            "--deletion",
            "old name",
            "--deletion=-x",
        ),
    )

    assert answer.code == 0, answer
    assert entries_of(manifest)[0]["files_modified"] == ["a b.py", " lead", 'q"u\n']
    assert entries_of(manifest)[0]["declared_deletions"] == ["old name", "-x"]


def test_files_and_file_add_up(manifest: Path) -> None:
    assert record(manifest, "--files", "a b", "--file", "c d").code == 0

    assert sorted(entries_of(manifest)[0]["files_modified"]) == ["a", "b", "c d"]


def test_blank_files_declare_nothing(manifest: Path) -> None:
    assert record(manifest, "--files", "  ", "--deletions", "").code == 0

    assert not entries_of(manifest)[0].get("files_modified")
    assert not entries_of(manifest)[0].get("declared_deletions")


def test_only_path_and_branch_together_make_a_duplicate(
    manifest: Path,
) -> None:
    assert record(manifest).code == 0
    assert record(manifest, branch="agent-a2").code == 0
    assert record(manifest, path="/r/elsewhere").code == 0

    assert len(entries_of(manifest)) == 3


@pytest.mark.parametrize("branch", ["agent-a", "worktree-agent-7", "worktree-wf_x", "agent-a/b.c_d-e"])
def test_every_branch_of_the_namespace_is_recorded(manifest: Path, branch: str) -> None:
    assert record(manifest, branch=branch).code == 0


# -- refusals


@pytest.mark.parametrize("name", sorted(FLAGS))
@pytest.mark.parametrize("blank", [None, "", " \t\n"])
def test_a_missing_or_blank_value_is_refused_and_named_alone(manifest: Path, name: str, blank: str | None) -> None:
    before = manifest.read_bytes()

    hint = assert_refused(record(manifest, **{name: blank}), "missing_field")

    assert [flag for flag in FLAGS.values() if flag in hint] == [FLAGS[name]]
    assert manifest.read_bytes() == before


def test_all_missing_values_are_named_at_once(manifest: Path) -> None:
    hint = assert_refused(record(manifest, **dict.fromkeys(GOOD, None)), "missing_field")

    assert all(flag in hint for flag in FLAGS.values())


def test_no_manifest_is_wrong_usage() -> None:
    answer = call(*flags(), prog="record-agent")

    assert (answer.code, answer.out) == (2, "")
    assert "--manifest" in answer.err
    assert "usage" in answer.err.lower()


def test_an_unknown_flag_is_wrong_usage(manifest: Path) -> None:
    before = manifest.read_bytes()

    answer = record(manifest, "--no-such-flag")

    assert (answer.code, answer.out) == (2, "")
    assert "--no-such-flag" in answer.err
    assert manifest.read_bytes() == before


OUTSIDE = [
    "main",
    "feature/x",
    "agents-a",
    "xagent-a",
    "worktree-a",
    "refs/heads/agent-a",
    "AGENT-a",
    "agent-",
]
ODD = [
    "agent-a b",
    "agent-a\nb",
    "agent-é",
    "agent-a;b",
    "agent-a~1",
    "agent-@{",
    "agent-\x07",
    "agent-\x1b[31m",
]
GIT_REFUSES = ["agent-a..b", "agent-..", "agent-a.lock", "agent-a//b", "agent-a.", "agent-a/", "agent-a/.b"]


@pytest.mark.parametrize("branch", [*OUTSIDE, *ODD, *GIT_REFUSES, "agent-a.lock/b", "-agent-a", "--agent-a"])
def test_a_branch_of_no_good_name_is_an_invalid_entry(manifest: Path, branch: str) -> None:
    before = manifest.read_bytes()

    answer = record(manifest, branch=branch)

    assert (answer.code, answer.doc["reason"]) == (1, "invalid_entry")
    assert "agent-|worktree-wf_" in answer.doc["hint"]
    assert "\x1b" not in answer.err
    assert "\x07" not in answer.err
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("base", ["main", "HEAD", "v1", "abc", "a" * 65, "1234567g", "main~1", "refs/heads/main"])
def test_a_base_that_is_a_name_is_refused_and_how_to_get_the_id_said(manifest: Path, base: str) -> None:
    before = manifest.read_bytes()

    hint = assert_refused(record(manifest, base=base), "invalid_entry")

    assert "git rev-parse" in hint
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("base", ["abc123", "1234", "ABCDEF12", "a" * 64])
def test_a_base_may_be_abbreviated(manifest: Path, base: str) -> None:
    assert record(manifest, base=base).code == 0
    assert entries_of(manifest)[-1]["expected_base"] == base


def test_a_refusal_says_the_same_on_both_streams(manifest: Path) -> None:
    assert_refused(record(manifest, branch="main"), "invalid_entry")


@pytest.mark.parametrize("text", ["", "{", "not json", '{"worktrees": [}', "[1,]"])
def test_a_manifest_that_is_no_json_is_refused_as_it_is(manifest: Path, text: str) -> None:
    manifest.write_text(text)

    assert_refused(record(manifest), "invalid_manifest_json")

    assert manifest.read_text() == text


def test_a_manifest_nested_too_deep_is_refused_as_it_is(manifest: Path) -> None:
    text = "[" * 200_000
    manifest.write_text(text)

    assert_refused(record(manifest), "invalid_manifest_json")

    assert manifest.read_text() == text


@pytest.mark.parametrize("text", ["null", "7", '"text"', "true", '{"worktrees": {}}', '{"worktrees": "x"}'])
def test_a_manifest_of_another_shape_is_refused_as_it_is(manifest: Path, text: str) -> None:
    manifest.write_text(text)

    assert_refused(record(manifest), "manifest_shape_invalid")

    assert manifest.read_text() == text


def test_a_manifest_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    assert_refused(record(tmp_path / "none.json"), "manifest_read_failed")

    assert not (tmp_path / "none.json").exists()


def test_a_manifest_that_is_a_directory_is_refused(tmp_path: Path) -> None:
    assert_refused(record(tmp_path), "manifest_read_failed")


def test_a_manifest_that_is_not_utf8_is_refused_as_it_is(manifest: Path) -> None:
    manifest.write_bytes(b'{"worktrees": [], "note": "\xff"}')

    answer = record(manifest)

    assert answer.code == 1
    assert answer.doc["reason"] in {"invalid_manifest_json", "manifest_read_failed"}
    assert manifest.read_bytes() == b'{"worktrees": [], "note": "\xff"}'


def test_a_key_said_twice_never_makes_an_entry_disappear(manifest: Path) -> None:
    """JSON readers take the last of two equal keys: a rewrite would drop the first one's entries."""
    text = json.dumps({"worktrees": [ENTRY]})[:-1] + ', "worktrees": []}'
    manifest.write_text(text)

    answer = record(manifest, path="/r/other", branch="agent-other")

    assert answer.code == 1, answer
    assert manifest.read_text() == text


# -- duplicates


@pytest.mark.parametrize("path", ["/r/wt-a1", "/r/wt-a1/", "/r//wt-a1", "/r/./wt-a1", "/r/wt-a1/."])
def test_an_entry_recorded_before_is_refused_however_its_path_is_spelled(manifest: Path, path: str) -> None:
    assert record(manifest).code == 0
    before = manifest.read_bytes()

    hint = assert_refused(record(manifest, path=path, agent="someone-else"), "duplicate_entry")

    assert "spawn" in hint.lower()
    assert manifest.read_bytes() == before


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("wt", "repo/src/wt"), ("./wt/", "repo/src/wt"), ("../../w1", "w1"), (".", "repo/src"), ("..", "repo")],
)
def test_a_relative_path_is_the_absolute_one_from_where_it_was_typed(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, meant: str
) -> None:
    (tmp_path / "repo/src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo/src")

    assert record(manifest, path=typed).code == 0
    assert entries_of(manifest)[-1]["worktree_path"] == str(tmp_path / meant)


def test_a_relative_path_of_an_entry_recorded_before_is_taken_from_the_root(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [{**ENTRY, "worktree_path": "wt-a1"}])

    assert_refused(record(manifest, path="/r/wt-a1"), "duplicate_entry")


def test_a_refused_branch_is_told_the_accepted_forms_in_words(manifest: Path) -> None:
    hint = assert_refused(record(manifest, branch="feature/x"), "invalid_entry")

    assert all(form in hint for form in ("agent-<id>", "worktree-agent-<id>", "worktree-wf_<id>", "wave.branchPattern"))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_is_not_finite_is_no_json(manifest: Path, number: str) -> None:
    text = manifest.read_text().replace("{", f'{{"more": {number},', 1)
    manifest.write_text(text if "more" in text else f'[{{"more": {number}}}]')
    before = manifest.read_bytes()

    assert_refused(record(manifest), "invalid_manifest_json")
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_a_manifest_that_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    manifest = tmp_path / "m.json"
    if kind == "fifo":
        os.mkfifo(manifest)
    else:
        manifest = Path("/dev/zero")

    began = time.monotonic()
    assert_refused(record(manifest), "manifest_read_failed")
    assert time.monotonic() - began < 3


def test_an_entry_under_the_alias_path_counts_as_recorded(tmp_path: Path) -> None:
    entry = {"path": "/r/wt-a1", "branch": "agent-a1", "expected_base": BASE}
    manifest = write_manifest(tmp_path / "m.json", "/r", [entry])

    assert_refused(record(manifest), "duplicate_entry")


@pytest.mark.parametrize(
    "left",
    [
        {"worktree_path": "/r/wt-a1", "branch": "agent-a1"},
        {**ENTRY, "branch": ["agent-a1"]},
        "agent-a1",
        None,
    ],
)
def test_an_entry_that_the_reader_would_not_keep_is_no_duplicate(tmp_path: Path, left: object) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [left])

    answer = record(manifest)

    assert answer.code == 0, answer
    assert entries_of(manifest)[0] == left
    assert ENTRY.items() <= entries_of(manifest)[1].items()


# -- bytes that are no text


def test_recording_a_path_that_is_not_utf8_reads_back_or_is_refused(manifest: Path) -> None:
    before = manifest.read_bytes()

    answer = call_program(
        "record-agent", "--manifest", str(manifest), *flags(path=None), b"--path=/r/\xff", cwd=manifest.parent
    )

    if answer.code:
        assert (answer.code, manifest.read_bytes()) == (1, before)
        assert answer.doc["reason"] == "invalid_entry"
    else:
        json.loads(manifest.read_bytes().decode("utf-8"))
        assert entries_of(manifest)[0]["worktree_path"].encode("utf-8", "surrogateescape") == b"/r/\xff"
