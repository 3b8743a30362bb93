"""`git wave explain`: what a reason or warning means, from the registry that the stages use."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict

import click

from git_wave.model.explanations import EXPLANATIONS, Explanation
from git_wave.model.reasons import Reason


@click.command("explain")
@click.argument("code", required=False)
@click.option("--format", "output", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def command(code: str | None, output: str) -> int:
    """Say what CODE means and what to do about it. Without a CODE: all of them."""
    if code is not None and code not in list(Reason):
        raise click.UsageError(f"{code!r} is no reason or warning; `git wave explain` lists them all")
    chosen = {Reason(code): EXPLANATIONS[Reason(code)]} if code else EXPLANATIONS
    click.echo({"text": as_text, "json": as_json, "markdown": as_markdown}[output](chosen))
    return 0


def as_text(chosen: dict[Reason, Explanation]) -> str:
    width = 78
    blocks = []
    for reason, explanation in chosen.items():
        head = f"{reason}  ({where(explanation)})"
        body = [textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ") for text in
                (explanation.meaning, f"What to do: {explanation.advice}")]  # fmt: skip
        blocks.append("\n".join([head, *body]))
    return "\n\n".join(blocks)


def as_json(chosen: dict[Reason, Explanation]) -> str:
    return json.dumps([{"code": reason, **asdict(explanation)} for reason, explanation in chosen.items()], indent=2)


def as_markdown(chosen: dict[Reason, Explanation]) -> str:
    lines = [
        "# Reasons and warnings",
        "",
        "Made from the registry in `src/git_wave/model/explanations` by `make generate`; `git wave explain CODE` "
        "prints one of them.",
    ]
    for reason, explanation in chosen.items():
        lines += ["", f"## `{reason}`", "", f"*{where(explanation)}*", "", explanation.meaning, ""]
        lines += [f"**What to do:** {explanation.advice}"]
    return "\n".join(lines)


def where(explanation: Explanation) -> str:
    kinds = ", ".join(explanation.kinds)
    return f"{kinds}; stage {explanation.stage}" if explanation.stage else kinds
