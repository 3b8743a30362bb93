"""What a person reads when a flag names something that is not there: words, and nothing of Python's own."""

import re
from pathlib import Path

import pytest

from support.calling import call
from support.world import World

PYTHON = re.compile(r"\[Errno|\w+Error\b|\w+Exception\b|PosixPath|Traceback")
NAMING = {
    "cleanup-wave": ["cleanup-wave", "--manifest", "{manifest}", "--root", "{missing}"],
    "cleanup-wave without a manifest": ["cleanup-wave", "--manifest", "{missing}"],
    "cleanup-wave into a log": ["cleanup-wave", "--manifest", "{manifest}", "--log-file", "{folder}"],
    "record-agent": [
        "record-agent",
        "--manifest",
        "{missing}",
        "--agent-id",
        "a",
        "--path",
        "/r/a",
        "--branch",
        "agent-a",
        "--base",
        "1234",
    ],
    "create": ["git-wave", "create", "--manifest", "{manifest}", "--agent-id", "a", "--root", "{missing}"],
    "create without a manifest": [
        "git-wave",
        "create",
        "--manifest",
        "{missing}",
        "--agent-id",
        "a",
        "--root",
        "{root}",
    ],
    "finalize": ["git-wave", "finalize", "{missing}", "--root", "{root}"],
    "discard": ["git-wave", "discard", "x", "--root", "{missing}"],
    "restore": ["git-wave", "restore", "x", "--root", "{missing}"],
    "list": ["git-wave", "list", "--cwd", "{missing}"],
    "validate": ["git-wave", "validate", "--manifest", "{missing}"],
    "init": ["git-wave", "init", "--manifest", "{missing}/m.json"],
    "undo": ["git-wave", "undo", "--root", "{missing}"],
    "log": ["git-wave", "log", "--root", "{missing}"],
    "gc": ["git-wave", "gc", "--root", "{missing}"],
    "doctor": ["git-wave", "doctor", "--root", "{missing}"],
}


@pytest.mark.parametrize("verb", NAMING)
def test_what_is_not_there_is_said_without_the_name_of_an_exception(world: World, verb: str, tmp_path: Path) -> None:
    places = {"missing": tmp_path / "absent", "folder": tmp_path, "root": world.root, "manifest": world.manifest()}
    program, *args = [word.format(**places) for word in NAMING[verb]]

    answer = call(*args, prog=program)

    assert answer.code in (1, 2), answer
    said = answer.out + answer.err
    assert str(tmp_path) in said
    assert PYTHON.findall(said) == []
