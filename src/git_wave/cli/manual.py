"""The man pages, made from the commands themselves: `python -m git_wave.cli.manual DIRECTORY` writes them.

`git wave --help` is `git help wave`, which shows the page of that name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from git_wave import __version__
from git_wave.cli.main import group, load
from git_wave.settings import SETTINGS

STANDALONE = ("cleanup-wave", "record-agent")
EXITS = {
    "0": "Done: what was asked for is so.",
    "1": "Refused, blocked or failed; standard output and standard error say why.",
    "2": "Wrong usage.",
    "130, 143, 129": "Ended by SIGINT, SIGTERM or SIGHUP.",
}
FILES = {
    "git-wave/ in the common git directory": "Journals, locks and kept output.",
    "refs/git-wave/": "Backups of what a run may delete or move, until `git wave gc`.",
}


def pages() -> dict[str, str]:
    """File name -> page, for every page there is."""
    return {"git-wave.1": "\n".join(git_wave_page()) + "\n"} | {
        f"{name}.1": "\n".join(command_page(name)) + "\n" for name in STANDALONE
    }


def git_wave_page() -> Iterator[str]:
    yield from head("git-wave", group)
    yield from ("\\fBgit wave\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".SH DESCRIPTION")
    yield from paragraphs(group)
    yield from (".PP", "Every command tells its own usage with \\fB\\-\\-help\\fR.", ".SH COMMANDS")
    for name in group.list_commands(click.Context(group)):
        yield from section(f"git wave {name}", load(name))
    yield from (".SH SETTINGS", "In git's config, at any level; a flag wins.")
    yield from terms({roff(name): roff(words) for name, words in SETTINGS.items()})
    yield from (".SH FILES", *terms({roff(name): roff(words) for name, words in FILES.items()}))
    yield from tail([*STANDALONE, "git-worktree", "git-merge"])


def command_page(name: str) -> Iterator[str]:
    command = load(name)
    yield from head(name, command)
    yield from (synopsis(name, command), ".SH DESCRIPTION")
    yield from paragraphs(command)
    yield from (".PP", f"The same as \\fBgit wave {roff(name)}\\fR.", ".SH OPTIONS")
    yield from options(command)
    yield from tail(["git-wave"])


def head(name: str, command: click.Command) -> Iterator[str]:
    first = inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ").rstrip(".")
    yield f'.TH "{name.upper()}" 1 "" "git-wave {__version__}" "git-wave"'
    yield from (".SH NAME", f"{roff(name)} \\- {roff(first)}", ".SH SYNOPSIS")


def tail(others: list[str]) -> Iterator[str]:
    yield from (".SH EXIT STATUS", *terms({roff(code): roff(words) for code, words in EXITS.items()}))
    yield from (".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others))


def section(name: str, command: click.Command) -> Iterator[str]:
    """One command, and those below it."""
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            child = command.get_command(click.Context(command), below)
            if child is not None:
                yield from section(f"{name} {below}", child)
        return
    yield from (f'.SS "{synopsis(name, command)}"', *paragraphs(command), *options(command))


def synopsis(name: str, command: click.Command) -> str:
    flags = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    needed = [f"{flag.opts[0]} {metavar(flag)}" for flag in flags if flag.required]
    rest = ["[OPTIONS]"] if len(flags) > len(needed) else []
    words = [metavar(param) for param in command.params if isinstance(param, click.Argument)]
    return roff(" ".join([name, *needed, *rest, *words]))


def paragraphs(command: click.Command) -> Iterator[str]:
    for number, text in enumerate(inspect.cleandoc(command.help or "").split("\n\n")):
        yield from ([".PP"] if number else [])
        yield roff(text.replace("\n", " "))


def options(command: click.Command) -> Iterator[str]:
    found = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    for option in found:
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in [*option.opts, *option.secondary_opts])
        value = "" if option.is_flag else f" \\fI{roff(metavar(option))}\\fR"
        yield from (".TP", names + value, roff(told(option)))


def told(option: click.Option) -> str:
    """The help of an option, with what it is when it is not given or must be."""
    text = (option.help or "").replace("  [", " [")
    if option.required:
        return f"{text} [required]"
    if option.show_default and isinstance(option.default, str | int | float):
        return f"{text} [default: {option.default}]"
    return text


def metavar(param: click.Parameter) -> str:
    if isinstance(param.type, click.Choice):
        return "|".join(map(str, param.type.choices))
    if param.metavar:
        return param.metavar
    return param.human_readable_name.upper() if isinstance(param, click.Argument) else param.type.name.upper()


def terms(pairs: dict[str, str]) -> Iterator[str]:
    for term, words in pairs.items():
        yield from (".TP", f"\\fB{term}\\fR", words)


def roff(text: str) -> str:
    """`text` so that roff shows it and takes nothing in it for a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("`", "")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def write_pages(directory: Path) -> None:
    for name, page in pages().items():
        (directory / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
