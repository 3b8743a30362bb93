"""Where a checkout's parts are, and what its config says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from git_wave.git.door import Door
from git_wave.git.parse import parse_config_list, parse_version
from git_wave.model.errors import GitError, Refusal
from git_wave.model.reasons import Reason

OLDEST_GIT = (2, 38)  # merge-tree --write-tree, cat-file -z


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a checkout's parts are, all real paths. `git_dir` is its own, `common_dir` the repository's."""

    root: Path
    git_dir: Path
    common_dir: Path


def layout_of(door: Door, directory: Path) -> Layout:
    """The checkout around `directory`. Raises Refusal with `not_a_checkout`, `git_too_old` or `git_failed`."""
    try:
        version = parse_version(door.run(Path("/"), ["--version"]).text)
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    if version is None or version < OLDEST_GIT:
        told = "no version" if version is None else ".".join(map(str, version))
        raise Refusal(Reason.GIT_TOO_OLD, f"git tells {told}, and 2.38 is needed")
    if not directory.is_dir():
        raise Refusal(Reason.NOT_A_CHECKOUT, f"{directory}: there is no such directory")
    question = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]
    try:
        lines = door.run(directory, question).text.removesuffix("\n").split("\n")
    except GitError as error:
        raise Refusal(Reason.NOT_A_CHECKOUT, f"{directory}: {error}") from error
    if len(lines) != len(question) - 2:
        raise Refusal(Reason.NOT_A_CHECKOUT, f"{directory}: its path holds a line feed")
    return Layout(*(Path(line).resolve() for line in lines))


def read_config(door: Door, directory: Path) -> list[tuple[str, str]]:
    """All of git's config as seen from `directory`, in git's order: the last value of a key wins."""
    return list(parse_config_list(door.run(directory, ["config", "--list", "-z"]).records()))


def read_setting(door: Door, directory: Path, key: str) -> str | None:
    """One setting as seen from `directory`, which need be in no repository; None when it is not set."""
    answer = door.run(directory, ["config", "--get", key], ok=(0, 1))
    return answer.text.removesuffix("\n") if answer.code == 0 else None
