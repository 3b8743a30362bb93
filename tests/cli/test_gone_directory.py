"""The current directory was removed under us: commands that need none work, the others say so."""

import json
from pathlib import Path

import pytest

from support.calling import call
from support.world import World


@pytest.fixture
def gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    monkeypatch.chdir(place)
    place.rmdir()


def test_a_wave_whose_manifest_names_its_checkout_lands(world: World, gone: None) -> None:
    agent = world.agent("a")

    assert world.wave(agent).code == 0
    assert world.landed(agent)


def test_a_wave_that_would_look_around_itself_is_refused(world: World, gone: None) -> None:
    manifest = world.manifest(world.agent("a"))
    manifest.write_text(json.dumps(json.loads(manifest.read_text())["worktrees"]))

    answer = call("--manifest", str(manifest), prog="cleanup-wave")

    assert (answer.code, answer.doc["reason"]) == (1, "not_a_checkout")


@pytest.mark.parametrize("argv", [["log"], ["show", "x"], ["gc"], ["undo"], ["init", "--manifest", "/nowhere/m.json"]])
def test_a_command_that_needs_a_checkout_is_refused(gone: None, argv: list[str]) -> None:
    answer = call(*argv)

    assert answer.code == 1
    assert '"not_a_checkout"' in answer.out


def test_a_relative_path_is_wrong_usage_there(gone: None) -> None:
    answer = call("--manifest", "m.json", prog="cleanup-wave")

    assert answer.code == 2
    assert "the current directory is gone" in answer.err


def test_doctor_tells_what_needs_no_checkout(gone: None) -> None:
    assert "git 2." in call("doctor").out
