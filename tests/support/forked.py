"""A command in a process of its own that can be killed like a program, without starting an interpreter."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from support.world import run_command


def start_forked(
    prog: str, argv: Sequence[str], prepare: Callable[[], None] = lambda: None, keep: Path | None = None
) -> int:
    """The process id. `prepare` runs in the new process first; `keep` is where its standard output goes in the
    end. It ends itself when it hangs.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.alarm(240)
        prepare()
        code, out, _ = run_command(prog, argv)
        if keep:
            keep.write_text(out)
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for it: its exit code, negative for the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run_forked(prog: str, argv: Sequence[str], prepare: Callable[[], None] = lambda: None) -> int:
    return ended(start_forked(prog, argv, prepare))
