"""Is what git-wave is made of there: git, Python, its own command and its files?"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from git_wave import __version__
from git_wave.doctor._check import Check, ok, problem, warning
from git_wave.git.door import Door
from git_wave.git.layout import OLDEST_GIT
from git_wave.git.parse import parse_version
from git_wave.model.journal import journal_schema
from git_wave.model.manifest import manifest_schema
from git_wave.model.result import result_schema
from git_wave.shipped import shipped

FULL_GIT = (2, 39)
"""From this version on, patches can be compared: `git patch-id --verbatim`."""
SCHEMAS = {"manifest": manifest_schema, "result": result_schema, "journal": journal_schema}


def check_git(door: Door) -> Iterator[Check]:
    version = parse_version(door.run(Path("/"), ["--version"]).text)
    told = ".".join(map(str, version)) if version else "no version"
    if version is None or version < OLDEST_GIT:
        yield problem("git", f"git tells {told}", "Install git 2.38 or newer; 2.39 if you can.")
    elif version < FULL_GIT:
        why = "a branch that somebody rebased by hand cannot be recognised"
        yield warning("git", f"git {told}: {why}", "Install git 2.39 or newer.")
    else:
        yield ok("git", f"git {told}")


def check_python() -> Iterator[Check]:
    yield ok("python", f"Python {platform.python_version()}, git-wave {__version__}")


def check_command(environ: Mapping[str, str]) -> Iterator[Check]:
    """Scripts and hooks call us by name."""
    missing = [name for name in ("git-wave", "cleanup-wave", "record-agent") if not on_path(name, environ)]
    if missing:
        advice = "Put the directory that pip installed them into on PATH; scripts and hooks call them by name."
        yield warning("commands", f"not on PATH: {', '.join(missing)}", advice)
    else:
        yield ok("commands", "git-wave, cleanup-wave and record-agent are on PATH")


def on_path(name: str, environ: Mapping[str, str]) -> bool:
    return shutil.which(name, path=environ.get("PATH", "")) is not None


def check_schemas() -> Iterator[Check]:
    """The files that came with the program say what the program says."""
    wrong = [f"{name}.schema.json" for name, made in SCHEMAS.items() if not is_published(name, made())]
    if wrong:
        yield problem("schemas", f"absent or of another version: {', '.join(wrong)}", "Install git-wave again.")
    else:
        yield ok("schemas", f"{len(SCHEMAS)} published schemas")


def is_published(name: str, schema: dict[str, object]) -> bool:
    path = shipped(f"schemas/{name}.schema.json")
    return path is not None and json.loads(path.read_text("utf-8")) == schema
