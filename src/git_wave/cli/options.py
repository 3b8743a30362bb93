"""Flag types that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class Filled(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """Text that is not blank: a flag whose shell variable was unset is a mistake, not a value."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip() or "\0" in str(value):
            self.fail("it is blank; is a shell variable unset?", param, ctx)
        return str(value)


class FilledPath(Filled):
    """A path, made absolute where the command runs."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(super().convert(value, param, ctx))
        # An absolute path is good even where the working directory is gone.
        if path.is_absolute():
            return path
        try:
            return Path.cwd() / path
        except OSError as error:
            self.fail(f"{value!r} is relative, and the current directory is gone: {error.strerror}", param, ctx)


class Wait(Filled):
    """Seconds, 0 included."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return number


class Seconds(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            self.fail(f"{value!r} is no positive number of seconds", param, ctx)
        return number


manifest_option = click.option("--manifest", type=FilledPath(), required=True, help="The manifest file.")
format_option = click.option(
    "--format",
    "output",
    type=click.Choice(["auto", "json", "text"]),
    default="auto",
    show_default=True,
    help="auto: text on a terminal, JSON elsewhere.",
)


def which_worktree(command: Callable[..., int]) -> Callable[..., int]:
    """What names one worktree: its path, or a manifest and an agent in it."""
    where = "A checkout of the repository.  [default: found by PATH or manifest]"
    for name_it in (
        click.option("--root", type=FilledPath(), help=where),
        click.option("--agent-id", type=Filled(), help="Whose worktree; needs --manifest."),
        click.option("--manifest", type=FilledPath(), help="The manifest with the agent's entry."),
        click.argument("path", required=False, metavar="[PATH]", type=FilledPath()),
    ):
        command = name_it(command)
    return command
