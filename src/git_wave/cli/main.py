"""The command line: which command, and how it ends.

    0  done            1  refused, blocked or failed
    2  wrong usage     128+n  ended by signal n

Commands live one to a module and are imported only when they are called: `record-agent` runs once per agent
and must not pay for what it does not use.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from git_wave import __version__
from git_wave.cli.streams import guarded

COMMANDS = {
    "cleanup-wave": ("git_wave.cli.cleanup", "Land a wave of agents' worktrees and clear them away."),
    "record-agent": ("git_wave.cli.record", "Record one agent's worktree in the manifest."),
    "create": ("git_wave.cli.create", "Make a worktree and a branch for one agent, and record them."),
    "finalize": ("git_wave.cli.finalize", "Commit what an agent left in its worktree."),
    "discard": ("git_wave.cli.discard", "Take a worktree and its branch away without landing."),
    "restore": ("git_wave.cli.restore", "Bring back what was discarded."),
    "list": ("git_wave.cli.list", "List every worktree, whose it is, and whether it may go."),
    "remove": ("git_wave.cli.reclaim:remove", "Remove one worktree; its branch stays."),
    "reap": ("git_wave.cli.reclaim:reap", "Clear away what a session that has ended left behind."),
    "reap-orphans": ("git_wave.cli.reclaim:reap_orphans", "Clear away locked worktrees whose owner is dead."),
    "init": ("git_wave.cli.manifest:init", "Write an empty manifest for this checkout."),
    "validate": ("git_wave.cli.manifest:validate", "Show every error in a manifest, with its place."),
    "undo": ("git_wave.cli.undo", "Take a wave back."),
    "log": ("git_wave.cli.history:log", "List the waves of this repository."),
    "show": ("git_wave.cli.history:show", "Tell one wave, entry by entry."),
    "gc": ("git_wave.cli.history:gc", "Expire the backups of old waves."),
    "kept": ("git_wave.cli.kept", "List, restore or drop the ignored files that waves kept."),
    "query": ("git_wave.cli.query:query", "Run a verb as gsd-core's `query worktree.VERB` does."),
    "worktree": ("git_wave.cli.query:worktree", "The same, as its `worktree VERB` does."),
    "hook": ("git_wave.cli.hook", "Answer an event of Claude Code's, told on standard input."),
    "hooks": ("git_wave.cli.hooks", "Let Claude Code call git-wave: install, uninstall, status."),
    "doctor": ("git_wave.cli.doctor", "Check git, settings and leftovers, and say what to do."),
    "schema": ("git_wave.cli.manifest:schema", "Print a published JSON Schema."),
    "explain": ("git_wave.cli.explain", "Say what a reason or warning means and what to do."),
    "completion": ("git_wave.cli.completion", "Print the completion script for a shell."),
    "demo": ("git_wave.cli.demo", "Land a wave in a throwaway repository and explain each outcome."),
}


def load(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(importlib.import_module(module), attribute or "command")
    return command


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and none to list them all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="git-wave")
def group() -> None:
    """Land the work of many parallel agents, each in its own git worktree, and lose nothing."""


def run(argv: Sequence[str], *, prog: str = "git-wave") -> int:
    """Run a command in this process and return its exit code. `prog` is the name it is called by."""
    command = group if prog == "git-wave" else load(prog)
    try:
        ended = command.main(args=list(argv), prog_name=prog, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    return ended if isinstance(ended, int) else 0


def program(prog: str) -> NoReturn:
    """The installed command of that name, from the command line to the exit code."""
    argv = sys.argv[1:]
    name = argv[0] if prog == "git-wave" and argv and argv[0] in COMMANDS else prog
    sys.exit(guarded(name, lambda: run(argv, prog=prog)))


def git_wave() -> None:
    program("git-wave")


def cleanup_wave() -> None:
    program("cleanup-wave")


def record_agent() -> None:
    program("record-agent")
