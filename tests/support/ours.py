"""What git-wave keeps in a repository: its journals and its refs; read with nothing but files and plain git."""

import json
import shutil
from pathlib import Path
from typing import Any

from support.calling import call
from support.repo import Repo
from support.world import World


def waves_dir(world: World) -> Path:
    return world.root / ".git/git-wave/waves"


def journals(world: World) -> list[Path]:
    """All journals, oldest first."""
    return sorted(waves_dir(world).glob("*.jsonl"))


def lines_of(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_bytes().splitlines()]


def forget_journals(world: World) -> None:
    """As if no wave had ever written one."""
    shutil.rmtree(waves_dir(world))


def our_refs(world: Repo) -> dict[str, str]:
    """Ref below refs/git-wave/ to id."""
    lines = world.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/git-wave").splitlines()
    return dict(line.split(" ") for line in lines)


def everything(world: World) -> dict[str, Any]:
    """All of the user's, and our refs too."""
    return {**world.snapshot(), "ours": our_refs(world)}


def has_command(*words: str) -> bool:
    return call(*words, "--help").code == 0
