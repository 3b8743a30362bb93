"""SIGKILL for whoever calls git, at a call that a test names; and the command run until that happens."""

from collections.abc import Mapping
from pathlib import Path

from support.calling import Answer, call_program
from support.shim import Shim

KILLED = -9


def kill_when(shim: Shim, condition: str, when: str = "before") -> None:
    """Kill the caller at the call for which a line of shell is true, `before` or `after` git does its work."""
    work = "" if when == "before" else '"$real" "$@"; '
    shim.rules.append(f"if {condition}; then {work}kill -9 $PPID; exit 1; fi\n")
    shim.install()


def kill_at_call(shim: Shim, number: int, when: str = "before") -> None:
    """Kill the caller at its call of that number, counted from 1."""
    kill_when(shim, f'count calls-so-far && [ "$n" = {number} ]', when)


def calm(shim: Shim) -> None:
    """Back to a `git` that only logs."""
    (shim.state / "calls-so-far").unlink(missing_ok=True)
    shim.rules.clear()
    shim.install()


def wave_program(manifest: Path, *more: str, env: Mapping[str, str] | None = None) -> Answer:
    """`cleanup-wave` as a program of its own, which can be killed."""
    return call_program("cleanup-wave", "--manifest", str(manifest), "--format", "json", *more, env=env)
