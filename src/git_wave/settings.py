"""Settings: git config `wave.*`, as git's own tools do it. Flags win over config."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import overload

from git_wave.model.errors import Refusal
from git_wave.model.ignored import IgnoredOutput
from git_wave.model.messages import MERGE_MESSAGE, unknown_places
from git_wave.model.names import DEFAULT_BRANCH_PATTERN
from git_wave.model.reasons import Reason

SETTINGS = {
    "wave.branchPattern": "regular expression for branches that a wave may touch",
    "wave.gitTimeout": "seconds for any git command but a merge",
    "wave.mergeMessage": "the message of each merge, in which {branch} and {agent} are filled in",
    "wave.mergeTimeout": "seconds for one merge with its hooks",
    "wave.lockTimeout": "seconds for which a change is tried again while a lock file of git's is held",
    "wave.checkoutTimeout": "seconds that git may take to make a worktree, hooks included",
    "wave.sidecar": "a directory name that a replay leaves out; may be given several times",
    "wave.ignoredOutput": "keep, block or discard: what a wave does with ignored files that no build makes again",
    "wave.regenerable": "a directory name that a build makes again; may be given several times",
    "wave.managedRoot": "the directory below which agents' worktrees stand",
}
"""Every key there is, as people write it (git's config knows no case there), and what it is."""
GIT_TIMEOUT = 120.0
MERGE_TIMEOUT = 600.0
LOCK_TIMEOUT = 5.0
CHECKOUT_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What `wave.*` says, or the defaults. Times are in seconds.

    `configured_branches` are the branches that have a section of their own (`branch.<name>.*`), `sidecars` more
    directories that a replay leaves out, and `regenerable` the names of directories that a build makes again besides
    the known ones. `managed_root` is as written.
    """

    branch_pattern: str = DEFAULT_BRANCH_PATTERN
    git_timeout: float = GIT_TIMEOUT
    merge_timeout: float = MERGE_TIMEOUT
    lock_timeout: float = LOCK_TIMEOUT
    configured_branches: frozenset[str] = frozenset()
    checkout_timeout: float = CHECKOUT_TIMEOUT
    sidecars: tuple[str, ...] = ()
    regenerable: frozenset[str] = frozenset()
    ignored_output: IgnoredOutput = IgnoredOutput.KEEP
    managed_root: str | None = None
    merge_message: str = MERGE_MESSAGE


def settings_from(config: Iterable[tuple[str, str]]) -> Settings:
    """The settings in git's config (keys as git prints them). Raises Refusal with `config_invalid`."""
    values: dict[str, list[str]] = defaultdict(list)
    branches = set()
    for key, value in config:
        values[key].append(value)
        if key.startswith("branch.") and key.count(".") > 1:
            branches.add(key[len("branch.") : key.rindex(".")])
    return Settings(
        pattern("wave.branchPattern", last(values, "wave.branchPattern", DEFAULT_BRANCH_PATTERN)),
        seconds("wave.gitTimeout", last(values, "wave.gitTimeout"), GIT_TIMEOUT),
        seconds("wave.mergeTimeout", last(values, "wave.mergeTimeout"), MERGE_TIMEOUT),
        seconds("wave.lockTimeout", last(values, "wave.lockTimeout"), LOCK_TIMEOUT),
        frozenset(branches),
        seconds("wave.checkoutTimeout", last(values, "wave.checkoutTimeout"), CHECKOUT_TIMEOUT),
        names("wave.sidecar", values["wave.sidecar"]),
        directory_names("wave.regenerable", values["wave.regenerable"]),
        ignored_output("wave.ignoredOutput", last(values, "wave.ignoredOutput")),
        directory("wave.managedRoot", last(values, "wave.managedRoot")),
        message("wave.mergeMessage", last(values, "wave.mergeMessage", MERGE_MESSAGE)),
    )


@overload
def last(values: Mapping[str, list[str]], key: str) -> str | None: ...
@overload
def last(values: Mapping[str, list[str]], key: str, default: str) -> str: ...
def last(values: Mapping[str, list[str]], key: str, default: str | None = None) -> str | None:
    """The value that counts: git gives keys in lower case, and the last one wins."""
    found = values.get(key.lower())
    return found[-1] if found else default


def names(key: str, values: Iterable[str]) -> tuple[str, ...]:
    """Every value of a key that may stand several times; an empty one takes back those before it, as in git."""
    found: list[str] = []
    for value in values:
        if value.startswith("/") or ".." in value.split("/"):
            raise Refusal(Reason.CONFIG_INVALID, f"{key}: {value!r} is no name below a directory")
        found = [*found, value.strip("/")] if value.strip("/") else []
    return tuple(found)


def directory_names(key: str, values: Iterable[str]) -> frozenset[str]:
    """The same where each is the name of a directory, wherever that stands."""
    found = frozenset(names(key, values))
    for name in found:
        if name == "." or "/" in name:
            raise Refusal(Reason.CONFIG_INVALID, f"{key}: {name!r} is no name of a directory")
    return found


def directory(key: str, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: it is blank")
    return value


def message(key: str, value: str) -> str:
    if not value.strip() or "\0" in value:
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: it is blank")
    if unknown := unknown_places(value):
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: {unknown[0]} is neither {{branch}} nor {{agent}}")
    return value


def ignored_output(key: str, value: str | None) -> IgnoredOutput:
    try:
        return IgnoredOutput(value or IgnoredOutput.KEEP)
    except ValueError as error:
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: {value!r} is none of keep, block, discard") from error


def pattern(key: str, value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: {value!r} is no regular expression: {error}") from error
    return value


def seconds(key: str, value: str | None, default: float) -> float:
    if value is None:
        return default
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise Refusal(Reason.CONFIG_INVALID, f"{key}: {value!r} is no number of seconds")
    return number
