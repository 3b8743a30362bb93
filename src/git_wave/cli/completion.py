"""`git wave completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from git_wave.cli.main import group, load

# `git wave <TAB>` in bash goes through git's own completion, which looks for a function of this name.
GIT_SUBCOMMAND = """
_git_wave() {
    local IFS=$'\\n' reply
    reply=$(env COMP_WORDS="git-wave ${words[*]:2}" COMP_CWORD=$((cword - 1)) \\
        _GIT_WAVE_COMPLETE=bash_complete git-wave)
    COMPREPLY=($(printf '%s\\n' "$reply" | sed 's/^[a-z]*,//'))
}
"""


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for SHELL, for all three commands.

    bash and zsh: eval "$(git-wave completion bash)"; fish: git-wave completion fish | source
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"no completion for {shell}")
    commands = {"git-wave": group, "cleanup-wave": load("cleanup-wave"), "record-agent": load("record-agent")}
    for program, target in commands.items():
        variable = f"_{program}_COMPLETE".replace("-", "_").upper()
        script = kind(target, {}, program, variable).source_vars()
        click.echo(kind.source_template % script)
    if shell == "bash":
        click.echo(GIT_SUBCOMMAND)
    return 0
