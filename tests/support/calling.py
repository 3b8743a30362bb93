"""Call a command of ours in this process, or as a program of its own, and read its answer."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.world import run_command

SCHEMAS = Path(__file__).parents[2] / "schemas"


@dataclass(frozen=True)
class Answer:
    """What a command answered: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def doc(self) -> dict[str, Any]:
        """The one JSON document of standard output; fails when there is anything else."""
        document: dict[str, Any] = json.loads(self.out)
        return document


def call(*argv: str, prog: str = "git-wave") -> Answer:
    return Answer(*run_command(prog, argv))


def program(name: str) -> str:
    """The installed command of this name, from the environment the tests run in."""
    return str(Path(sys.executable).with_name(name))


def call_program(name: str, *argv: str | bytes, **kwargs: Any) -> Answer:
    done = subprocess.run([program(name), *argv], capture_output=True, check=False, timeout=120, **kwargs)
    return Answer(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))


def write_manifest(path: Path, root: Path | str | None, entries: Sequence[object], **extra: object) -> Path:
    """A manifest file; a bare array of entries when there is no root."""
    value = list(entries) if root is None else {"orchestrator_root": str(root), "worktrees": [*entries], **extra}
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path
