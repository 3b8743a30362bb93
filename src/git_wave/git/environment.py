"""The environment git runs in: the caller's, washed.

A wave may be started from a git hook or from a harness's own git alias. Those export variables that
outrank `-C`, choose another index, or carry `-c` settings, so every `GIT_*` goes except a short list that
says who the user is and where the user's own configuration lives. Of the settings that it carries, only those stay that
say whom to trust and who commits: containers and build services have them nowhere else.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

KEPT = frozenset(
    f"GIT_{name}"
    for name in (
        *(
            "AUTHOR_NAME",
            "AUTHOR_EMAIL",
            "AUTHOR_DATE",
            "COMMITTER_NAME",
            "COMMITTER_EMAIL",
            "COMMITTER_DATE",
        ),
        *("CONFIG_GLOBAL", "CONFIG_SYSTEM", "CONFIG_NOSYSTEM"),
        *("EXEC_PATH", "CEILING_DIRECTORIES", "ALLOW_PROTOCOL"),
    )
)

# Replace refs show other parents than the commits have; what is judged and merged are the commits themselves.
# No question may wait for a person, and output must be the same everywhere. `false` as editor makes an
# editor that opens after all a failure instead of an accepted default.
FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "LC_ALL": "C",
    "TERM": "dumb",
}
CARRIED = frozenset({"safe.directory", "user.name", "user.email"})
MOST = 1000
"""Settings that an environment is believed to carry."""
DROPPED = frozenset({"LANGUAGE", "PAGER"})


def washed(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as every git command gets it."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in DROPPED and (not name.startswith("GIT_") or name in KEPT)
    }
    return {**kept, **FIXED}


def carried_settings(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Trust and identity out of the caller's environment, in git's order: a key may stand several times."""
    return tuple((key, value) for key, value in settings_in(environ) if key.lower() in CARRIED)


def settings_in(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings that an environment carries, as git reads them: what `git -c` exports, then numbered ones.

    What git itself would refuse counts as none.
    """
    with suppress(ValueError):
        for words in shlex.split(environ.get("GIT_CONFIG_PARAMETERS", "")):
            key, _, value = words.partition("=")
            yield key, value
    with suppress(ValueError, KeyError):
        for number in range(min(int(environ.get("GIT_CONFIG_COUNT", "0")), MOST)):
            yield environ[f"GIT_CONFIG_KEY_{number}"], environ[f"GIT_CONFIG_VALUE_{number}"]


def left_out(environ: Mapping[str, str]) -> list[str]:
    """What of the caller's environment git is not told: names of variables and settings, for the log."""
    carriers = "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS"
    dropped = (name for name in environ if name.startswith("GIT_") and name not in KEPT and name not in FIXED)
    variables = sorted(name for name in dropped if not name.startswith(carriers))
    return [*variables, *(f"setting {key}" for key, _ in settings_in(environ) if key.lower() not in CARRIED)]


def config_variables(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Settings for one command, the last of a key winning. Variables, not `-c`: a branch name with `=` cannot be said
    in the latter.
    """
    settings = tuple(settings)
    if not settings:
        return {}
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
