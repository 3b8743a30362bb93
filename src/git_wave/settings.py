"""Settings: git config `wave.*`, as git's own tools do it. Flags win over config."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from git_wave.model.errors import Refusal
from git_wave.model.names import DEFAULT_BRANCH_PATTERN
from git_wave.model.reasons import Reason

SETTINGS = {
    "wave.branchPattern": "regular expression for branches that a wave may touch",
    "wave.gitTimeout": "seconds for any git command but a merge",
    "wave.mergeTimeout": "seconds for one merge with its hooks",
    "wave.lockTimeout": "seconds for which a change is tried again while a lock file of git's is held",
    "wave.checkoutTimeout": "seconds that git may take to make a worktree, hooks included",
    "wave.sidecar": "a directory name that a replay leaves out; may be given several times",
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
    directories that a replay leaves out.
    """

    branch_pattern: str = DEFAULT_BRANCH_PATTERN
    git_timeout: float = GIT_TIMEOUT
    merge_timeout: float = MERGE_TIMEOUT
    lock_timeout: float = LOCK_TIMEOUT
    configured_branches: frozenset[str] = frozenset()
    checkout_timeout: float = CHECKOUT_TIMEOUT
    sidecars: tuple[str, ...] = ()


def settings_from(config: Iterable[tuple[str, str]]) -> Settings:
    """The settings in git's config (keys as git prints them). Raises Refusal with `config_invalid`."""
    values: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    branches = set()
    for key, value in config:
        values[key] = value
        lists.setdefault(key, []).append(value)
        if key.startswith("branch.") and key.count(".") > 1:
            branches.add(key[len("branch.") : key.rindex(".")])
    return Settings(
        pattern("wave.branchPattern", values.get("wave.branchpattern", DEFAULT_BRANCH_PATTERN)),
        seconds("wave.gitTimeout", values.get("wave.gittimeout"), GIT_TIMEOUT),
        seconds("wave.mergeTimeout", values.get("wave.mergetimeout"), MERGE_TIMEOUT),
        seconds("wave.lockTimeout", values.get("wave.locktimeout"), LOCK_TIMEOUT),
        frozenset(branches),
        seconds("wave.checkoutTimeout", values.get("wave.checkouttimeout"), CHECKOUT_TIMEOUT),
        names("wave.sidecar", lists.get("wave.sidecar", [])),
    )


def names(key: str, values: Iterable[str]) -> tuple[str, ...]:
    """Every value of a key that may stand several times; an empty one takes back those before it, as in git."""
    found: list[str] = []
    for value in values:
        if value.startswith("/") or ".." in value.split("/"):
            raise Refusal(Reason.CONFIG_INVALID, f"{key}: {value!r} is no name below a directory")
        found = [*found, value.strip("/")] if value.strip("/") else []
    return tuple(found)


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
