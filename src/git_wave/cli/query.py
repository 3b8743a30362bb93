"""`git wave query worktree.VERB …` and `git wave worktree VERB …`: our verbs, called as gsd-core's are.

A gsd workflow switches over by pointing its `gsd_run` at `git-wave`.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, cast

import click

from git_wave.cli.main import COMMANDS, load
from git_wave.harness.gsd import VERBS, exit_code, objection, prefix, translated, translated_line, verb_in
from git_wave.report.plain import one_line

VERBATIM = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["-h", "--help"]}
words_argument = click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="VERB [FLAGS]...")


@click.command("query", context_settings=VERBATIM)
@words_argument
def query(words: tuple[str, ...]) -> int:
    """Run worktree.cleanup-wave, worktree.record-agent, worktree.create or worktree.reap-orphans as gsd-core would.

    Flags, JSON, reasons, exit codes and the beginning of lines on standard error are those of gsd-core's verbs.
    """
    return answer(words)


@click.command("worktree", context_settings=VERBATIM)
@words_argument
def worktree(words: tuple[str, ...]) -> int:
    """Run cleanup-wave, record-agent, create or reap-orphans as gsd-core's `worktree VERB` would."""
    return answer(("worktree", *words))


def answer(words: Sequence[str]) -> int:
    found = verb_in(words)
    if found is None or found[0] not in COMMANDS:
        known = ", ".join(f"worktree.{verb}" for verb in VERBS if verb in COMMANDS)
        raise click.UsageError(f"no such verb here: {' '.join(words[:2])!r}; known are {known}")
    verb, flags = found
    command = load(verb)
    name = f"worktree {verb}"
    given = command.make_context(name, list(flags), resilient_parsing=False).params
    if refusal := objection(verb, given):
        return refuse(verb, *refusal)
    if verb == "create":
        flags = [*flags, "--path", os.path.abspath(given["path"].strip())]
    return call(verb, command, name, flags)


def refuse(verb: str, reason: str, hint: str) -> int:
    click.echo(json.dumps({"ok": False, "reason": reason, "hint": hint}, indent=2))
    click.echo(f"{prefix(verb)}{reason} — {one_line(hint)}", err=True)
    return 1


def call(verb: str, command: click.Command, name: str, flags: list[str]) -> int:
    """Run a verb of ours, its document held back to be told in gsd's words."""
    out = io.StringIO()
    asks_form = any(isinstance(param, click.Option) and "--format" in param.opts for param in command.params)
    argv = [*flags, "--format", "json"] if asks_form else flags
    with redirect_stdout(out), redirect_stderr(cast(Any, TranslatedStream(verb, sys.stderr))):
        code = command.main(args=argv, prog_name=name, standalone_mode=False)
    code = code if isinstance(code, int) else 0
    if text := out.getvalue():
        document = translated(verb, json.loads(text))
        click.echo(json.dumps(document, indent=2))
        return exit_code(verb, code, document)
    return code


class TranslatedStream:
    """Standard error, each line told as gsd's verb would."""

    def __init__(self, verb: str, stream: Any) -> None:
        self._verb, self._stream = verb, stream

    def write(self, text: str) -> int:
        # click writes b"" to find out whether it has a stream of bytes before it; it must not be told yes.
        if not isinstance(text, str):
            raise TypeError("text is wanted")
        lines = text.splitlines(keepends=True)
        self._stream.write("".join(translated_line(self._verb, line) for line in lines))
        return len(text)

    def isatty(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
