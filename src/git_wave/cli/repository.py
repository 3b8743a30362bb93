"""The repository that a command works in, opened with the caller's environment and settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.layout import Layout, layout_of, read_config, read_setting
from git_wave.model.errors import GitError, Refusal
from git_wave.model.interrupts import Interrupts
from git_wave.model.names import DEFAULT_BRANCH_PATTERN
from git_wave.model.reasons import Reason
from git_wave.settings import GIT_TIMEOUT, Settings, pattern, settings_from


@dataclass(frozen=True, slots=True)
class Repository:
    door: Door
    layout: Layout
    settings: Settings


def open_repository(
    directory: Path,
    *,
    git_timeout: float | None = None,
    interrupts: Interrupts | None = None,
    environ: Mapping[str, str] | None = None,
) -> Repository:
    """The checkout around `directory`. Raises Refusal."""
    door = Door(os.environ if environ is None else environ, git_timeout or GIT_TIMEOUT, interrupts)
    layout = layout_of(door, directory)
    try:
        settings = settings_from(read_config(door, layout.root))
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    door.timeout = git_timeout or settings.git_timeout
    return Repository(door, layout, settings)


def require_same_repository(repository: Repository, root: Path | None, named_root: str | None) -> None:
    """A root that was given may name another checkout than the manifest, never another repository."""
    if root is None or named_root is None or os.path.realpath(named_root) == str(repository.layout.root):
        return
    try:
        named = layout_of(repository.door, Path(named_root))
    except Refusal as refusal:
        raise Refusal(Reason.ROOT_MISMATCH, f"the manifest's root: {refusal.detail}") from refusal
    if named.common_dir != repository.layout.common_dir:
        raise Refusal(Reason.ROOT_MISMATCH, f"{root} and {named_root} are not of one repository")


def here() -> Path:
    """The current directory. Raises Refusal: one that was removed under us is no place to look for a checkout from."""
    try:
        return Path.cwd()
    except OSError as error:
        raise Refusal(Reason.NOT_A_CHECKOUT, f"the current directory cannot be read: {error.strerror}") from error


def branch_pattern_for(document: Any) -> str:
    """The branch pattern that holds for a parsed manifest: its repository's, else the default.

    One question to git and no more: `record-agent` asks it once per agent.
    """
    from git_wave.model.manifest import root_in  # pydantic, for those that read a manifest only

    try:
        directory = Path(root_in(document) or Path.cwd())
        found = read_setting(Door(os.environ, GIT_TIMEOUT), directory, "wave.branchPattern")
    except (GitError, OSError):
        return DEFAULT_BRANCH_PATTERN
    except Refusal as refusal:
        if refusal.reason is not Reason.GIT_MISSING:
            raise
        return DEFAULT_BRANCH_PATTERN
    return pattern("wave.branchPattern", found) if found is not None else DEFAULT_BRANCH_PATTERN
