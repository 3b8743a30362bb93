"""The environment git runs in: the caller's, washed.

A wave may be started from a git hook or from a harness's own git alias. Those export variables that
outrank `-C`, choose another index, or carry `-c` settings, so every `GIT_*` goes except a short list that
says who the user is and where the user's own configuration lives.
"""

from __future__ import annotations

from collections.abc import Mapping

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
DROPPED = frozenset({"LANGUAGE", "PAGER"})


def washed(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as every git command gets it."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in DROPPED and (not name.startswith("GIT_") or name in KEPT)
    }
    return {**kept, **FIXED}


def config_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for one command. Variables, not `-c`: a branch name with `=` cannot be said in the latter."""
    if not settings:
        return {}
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
