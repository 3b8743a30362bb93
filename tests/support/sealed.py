"""An environment in which only what a test says is true."""

import os
from pathlib import Path

import pytest

USER_CONFIG = "[user]\n\tname = Test User\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n"
LONG_AGO = 1_000_000_000
UNSET = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "PAGER",
    "EDITOR",
    "VISUAL",
)


def sealed_variables(home: Path) -> dict[str, str]:
    """The variables that keep git and the command away from the machine's own settings; makes `home`."""
    home.mkdir(parents=True, exist_ok=True)
    config = home / ".gitconfig"
    config.write_text(USER_CONFIG)
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_EDITOR": "false",
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_TERMINAL_PROMPT": "0",
        "TZ": "UTC",
        "LC_ALL": "C",
    }


def seal(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Replace the process environment's git, locale and terminal settings by sealed ones."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "XDG_", "LC_")) or name in UNSET:
            monkeypatch.delenv(name)
    for name, value in sealed_variables(home).items():
        monkeypatch.setenv(name, value)
