"""`git wave hook EVENT`: what Claude Code calls when worktrees, agents and sessions come and go.

Standard output is what Claude Code reads, so nothing but a hook's answer ever gets there. A refusal is exit 1, never
2: that would keep an agent from stopping.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from git_wave.cli.logs import logging_to
from git_wave.cli.repository import Repository, here, open_repository
from git_wave.cli.signals import caught
from git_wave.harness.hooks import EVENTS
from git_wave.harness.payload import LARGEST, Payload, payload_from
from git_wave.model.errors import GitError, Interrupted, Refusal, WaveError
from git_wave.model.interrupts import Interrupts
from git_wave.model.reasons import Reason
from git_wave.report.plain import one_line

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Call:
    """A checked payload, the project it is about, and when it came."""

    payload: Payload
    project: Path
    now: datetime
    interrupts: Interrupts

    def repository(self) -> Repository:
        """Raises Refusal."""
        return open_repository(self.project, interrupts=self.interrupts)


@click.command("hook")
@click.argument("event", metavar="EVENT")
def command(event: str) -> int:
    """Answer an EVENT of Claude Code's: WorktreeCreate, WorktreeRemove, SubagentStop, SessionEnd or SessionStart.

    Reads the event as JSON from standard input. `git wave hooks install` makes Claude Code call this.
    """
    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            # Whatever is printed on the way is chatter; Claude Code takes the first line for its answer.
            with contextlib.redirect_stdout(sys.stderr):
                answer = answer_to(event, interrupts)
        except WaveError as error:
            click.echo(f"hook {one_line(event)}: {error.reason} — {one_line(error.detail)}", err=True)
            return 1
        except (GitError, OSError) as error:
            click.echo(f"hook {one_line(event)}: {Reason.GIT_FAILED} — {one_line(str(error))}", err=True)
            return 1
        except Interrupted as interrupted:
            return 128 + interrupted.signum
    if answer is not None:
        # Bytes, since Claude Code takes a path as it stands: no terminal's encoding may change it.
        click.echo(os.fsencode(answer))
    return 0


def answer_to(event: str, interrupts: Interrupts) -> str | None:
    """The line to print, if any. Raises WaveError, GitError or OSError."""
    if event not in EVENTS:
        raise Refusal(Reason.PAYLOAD_INVALID, f"{event} is no event that is answered here")
    payload = payload_from(read_input(), event)
    project = project_dir()
    # Not where the session happens to stand: that may be the very worktree that is to go, or gone already.
    os.chdir(project)
    return ANSWERS[event](Call(payload, project, datetime.now(UTC), interrupts))


def read_input() -> bytes:
    """Standard input up to its end, or to the end of a whole JSON object: not every caller closes it."""
    if sys.stdin.isatty():
        raise Refusal(Reason.PAYLOAD_INVALID, "the event is to be given as JSON on standard input")
    data = b""
    while len(data) <= LARGEST:
        try:
            chunk = os.read(sys.stdin.fileno(), CHUNK)
        except OSError as error:
            raise Refusal(Reason.PAYLOAD_INVALID, f"standard input cannot be read: {error.strerror}") from error
        data += chunk
        if not chunk or (len(chunk) < CHUNK and is_whole(data)):
            break
    return data


def is_whole(data: bytes) -> bool:
    import json

    if not data.rstrip().endswith(b"}"):
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def project_dir() -> Path:
    """`CLAUDE_PROJECT_DIR`; without one, where this process was started. Raises Refusal."""
    named = os.environ.get("CLAUDE_PROJECT_DIR")
    if named is None:
        return here()
    if not named.startswith("/") or not os.path.isdir(named):
        raise Refusal(Reason.NOT_A_CHECKOUT, f"CLAUDE_PROJECT_DIR is no directory: {named!r}")
    return Path(os.path.realpath(named))


def in_a_checkout(call: Call) -> Repository | None:
    """The project's repository; None when the project is in none, which is no business of ours."""
    try:
        return call.repository()
    except Refusal as refusal:
        if refusal.reason is Reason.NOT_A_CHECKOUT:
            return None
        raise


def worktree_create(call: Call) -> str:
    from git_wave.cli.worktrees import made_or_reused

    return str(made_or_reused(call.repository(), call.payload, call.interrupts))


def worktree_remove(call: Call) -> None:
    from git_wave.cli.worktrees import remove

    remove(call.repository, Path(call.payload.worktree_path or ""))


def agent_stopped(call: Call) -> None:
    """A turn may go on: nothing is finished, nothing is removed."""
    from git_wave.git.reads import Reads
    from git_wave.harness.seen import note_seen

    if (repository := in_a_checkout(call)) is not None:
        with Reads(repository.door, repository.layout) as reads:
            note_seen(reads, call.payload, call.now)


def session_end(call: Call) -> None:
    from git_wave.cli.reaper import ask_for_reaping

    if (repository := in_a_checkout(call)) is not None:
        ask_for_reaping(repository.layout, call.payload, call.now)


def session_start(call: Call) -> str | None:
    from git_wave.cli.reaper import session_is_back
    from git_wave.doctor.leftovers import leftovers_line
    from git_wave.git.reads import Reads

    if (repository := in_a_checkout(call)) is None:
        return None
    session_is_back(repository.layout, call.payload.session_id)
    with Reads(repository.door, repository.layout) as reads:
        return leftovers_line(reads, call.payload.session_id)


ANSWERS: dict[str, Callable[[Call], str | None]] = {
    "WorktreeCreate": worktree_create,
    "WorktreeRemove": worktree_remove,
    "SubagentStop": agent_stopped,
    "SessionEnd": session_end,
    "SessionStart": session_start,
}
