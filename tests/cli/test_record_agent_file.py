"""record-agent as a writer: what else is in the file stays, and no write is lost or half done."""

import errno
import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from support.calling import call_program, program, write_manifest
from support.recording import BASE, ENTRY, entries_of, flags, record

OTHER = {"worktree_path": "/r/b", "branch": "agent-b", "expected_base": BASE}


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A manifest with one entry, alone in its directory."""
    (tmp_path / "alone").mkdir()
    return write_manifest(tmp_path / "alone" / "m.json", "/r", [ENTRY])


def names_beside(manifest: Path) -> list[str]:
    """What lies beside the manifest, lock files apart."""
    names = {path.name for path in manifest.parent.iterdir()}
    return sorted(name for name in names - {manifest.name} if not name.endswith(".lock"))


def test_unknown_keys_are_kept_at_both_levels(tmp_path: Path) -> None:
    before = {
        "worktree_path": "/r/b",
        "branch": "agent-b",
        "expected_base": BASE,
        "model": {"name": "x"},
        "n": 10**30,
    }
    manifest = write_manifest(tmp_path / "m.json", "/r", [before], wave=7, notes=["é", None, 1.5])

    assert record(manifest).code == 0

    written = json.loads(manifest.read_text(encoding="utf-8"))
    assert written["worktrees"][0] == before
    assert {**written, "worktrees": []} == {
        "orchestrator_root": "/r",
        "worktrees": [],
        "wave": 7,
        "notes": ["é", None, 1.5],
    }


def test_a_lone_surrogate_somewhere_else_in_the_file_is_kept(tmp_path: Path) -> None:
    manifest = tmp_path / "m.json"
    manifest.write_text('{"worktrees": [], "note": "\\ud800"}')

    assert record(manifest).code == 0

    assert json.loads(manifest.read_text(encoding="utf-8"))["note"] == "\ud800"


def test_a_number_too_big_for_a_float_is_kept_or_the_file_refused(tmp_path: Path) -> None:
    manifest = tmp_path / "m.json"
    text = '{"worktrees": [], "big": 1e999}'
    manifest.write_text(text)

    if record(manifest).code:
        assert manifest.read_text() == text
    else:
        assert "Infinity" not in manifest.read_text()
        assert json.loads(manifest.read_text())["big"] == json.loads("1e999")


def test_a_bare_array_stays_a_bare_array(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", None, [OTHER])

    answer = record(manifest)

    assert answer.code == 0, answer
    written = json.loads(manifest.read_text())
    assert isinstance(written, list)
    assert written[0] == OTHER
    assert ENTRY.items() <= written[1].items()


def test_the_manifest_is_rewritten_in_utf8_that_ends_in_a_newline(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [])

    assert record(manifest, agent="Zoë").code == 0

    assert manifest.read_bytes().endswith(b"\n")
    assert entries_of(manifest)[0]["agent_id"] == "Zoë"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_of_the_file_is_kept(tmp_path: Path, mode: int) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [])
    manifest.chmod(mode)

    assert record(manifest).code == 0

    assert manifest.stat().st_mode & 0o7777 == mode


def test_a_manifest_that_is_a_symlink_is_written_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = write_manifest(tmp_path / "real" / "m.json", "/r", [])
    link = tmp_path / "link.json"
    link.symlink_to(Path("real") / "m.json")

    assert record(link).code == 0

    assert os.readlink(link) == "real/m.json"
    assert len(entries_of(real)) == 1


def test_nothing_is_left_beside_the_manifest(alone: Path) -> None:
    assert record(alone, path="/r/b", branch="agent-b").code == 0
    assert record(alone).code == 1
    assert record(alone, branch="main").code == 1

    assert names_beside(alone) == []


def test_a_write_that_fails_leaves_the_file_as_it_was(alone: Path) -> None:
    """The file size limit stands in for a full disk: every written byte is refused."""
    before = alone.read_bytes()

    answer = call_program(
        "record-agent",
        *("--manifest", str(alone)),
        *flags(path="/r/b", branch="agent-b"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert answer.code == 1, answer
    assert answer.doc["ok"] is False, answer
    assert "Traceback" not in answer.err
    assert alone.read_bytes() == before
    assert names_beside(alone) == []


def test_a_failed_replacement_leaves_the_file_as_it_was(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = alone.read_bytes()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "no")

    for name in ("replace", "rename", "link"):
        monkeypatch.setattr(os, name, refuse)
    answer = record(alone, path="/r/b", branch="agent-b")

    assert answer.code == 1, answer
    assert answer.doc["ok"] is False
    assert alone.read_bytes() == before
    assert names_beside(alone) == []


def test_fifty_recorders_at_once_lose_nothing(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [], kept=True)
    names = [f"agent-{number}" for number in range(50)]

    recorders = [
        subprocess.Popen(
            [program("record-agent"), "--manifest", str(manifest), *flags(path=f"/r/{name}", branch=name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in names
    ]
    answers = [recorder.communicate() for recorder in recorders]

    assert [recorder.returncode for recorder in recorders] == [0] * 50, answers
    assert sorted(entry["branch"] for entry in entries_of(manifest)) == sorted(names)
    assert json.loads(manifest.read_text())["kept"] is True


def test_of_ten_recorders_of_one_entry_exactly_one_wins(tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", "/r", [])
    recorders = [
        subprocess.Popen(
            [program("record-agent"), "--manifest", str(manifest), *flags()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(10)
    ]
    reasons = sorted(json.loads(recorder.communicate()[0])["reason"] for recorder in recorders)

    assert reasons == ["duplicate_entry"] * 9 + ["ok"]
    assert len(entries_of(manifest)) == 1


def test_a_reader_sees_a_whole_manifest_at_every_moment(tmp_path: Path) -> None:
    """A held open file is still the whole old text after a recorder replaced it."""
    manifest = write_manifest(tmp_path / "m.json", "/r", [ENTRY])
    with manifest.open(encoding="utf-8") as held:
        assert record(manifest, path="/r/b", branch="agent-b").code == 0

        assert len(json.load(held)["worktrees"]) == 1
    assert len(entries_of(manifest)) == 2
