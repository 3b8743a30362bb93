"""Reaping a session's worktrees in the background, after the session has ended.

The hook puts a request on disk and starts `python -m git_wave.cli.reaper ROOT`, which outlives it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from git_wave.cli.streams import guarded
from git_wave.git.door import start_detached
from git_wave.git.layout import Layout
from git_wave.harness.payload import Payload
from git_wave.model.interrupts import Interrupts
from git_wave.model.reasons import Reason
from git_wave.state.requests import directory, forget_request, list_requests, write_request

if TYPE_CHECKING:
    from git_wave.reclaim.reap import Sweep
    from git_wave.reclaim.yard import Place

ENDS = ("clear", "logout", "prompt_input_exit", "other")
"""Reasons that mean the end. A session that was left for another (`resume`), or for a reason unknown, may come back."""
PATIENCE = 60.0
"""Seconds for which a session's own processes may take to leave its worktrees."""
LOCK_WAIT = 600.0
STEP = 2.0


def ask_for_reaping(layout: Layout, payload: Payload, now: datetime) -> None:
    """Put the request on disk and start the reaper. Raises OSError."""
    if payload.reason in ENDS:
        write_request(layout.common_dir, payload.session_id, payload.reason, now)
        start_reaper(layout)


def session_is_back(layout: Layout, session: str) -> None:
    """Take a session's own request back, and have those served that still wait. Raises OSError."""
    forget_request(layout.common_dir, session)
    if list_requests(layout.common_dir):
        start_reaper(layout)


def start_reaper(layout: Layout) -> None:
    """In a session of its own, with no more of ours than the environment. Raises OSError."""
    # -P: what stands in the project is not to be taken for a module.
    argv = [sys.executable, "-P", "-m", "git_wave.cli.reaper", str(layout.root)]
    start_detached(argv, dict(os.environ), directory(layout.common_dir) / "reaper.log")


def serve(root: Path, interrupts: Interrupts, patience: float = PATIENCE) -> Iterator[Sweep]:
    """Serve every request of the repository: what was decided for each. Raises WaveError.

    A request is forgotten when all was decided and nobody was in any of the worktrees; when the next session starts,
    the others are served again.
    """
    from git_wave.cli.reclaim import place_of

    place = place_of(root, interrupts)
    common_dir = place.layout.common_dir
    for request in list_requests(common_dir):
        wait_until_left(request.session, place, patience)
        sweep = swept(request.session, place, dry_run=False)
        if sweep.ok and not is_in_use(sweep):
            forget_request(common_dir, request.session)
        yield sweep


def wait_until_left(session: str, place: Place, patience: float) -> None:
    """The session's own processes are in its worktrees for a moment yet."""
    deadline = time.monotonic() + patience
    while is_in_use(swept(session, place, dry_run=True)) and time.monotonic() < deadline:
        time.sleep(STEP)


def swept(session: str, place: Place, *, dry_run: bool) -> Sweep:
    from git_wave.reclaim.reap import Sweep, reap
    from git_wave.reclaim.yard import opened

    sweep = Sweep()
    with opened(place, LOCK_WAIT, dry_run=dry_run) as yard:
        reap(session, sweep, yard, dry_run=dry_run)
    return sweep


def is_in_use(sweep: Sweep) -> bool:
    return any(fate.reason is Reason.WORKTREE_IN_USE for fate in sweep.fates)


def main(root: Path) -> int:
    from git_wave.cli.logs import logging_to
    from git_wave.cli.signals import caught
    from git_wave.model.errors import Interrupted, WaveError

    with logging_to(quiet=False, verbose=False, log_file=None), caught() as interrupts:
        try:
            for sweep in serve(root, interrupts):
                sys.stdout.write(json.dumps({"ok": sweep.ok, "reason": sweep.reason, **sweep.as_json()}) + "\n")
        except WaveError as error:
            sys.stderr.write(f"reap: {error}\n")
            return 1
        except Interrupted as interrupted:
            return 128 + interrupted.signum
    return 0


if __name__ == "__main__":
    sys.exit(guarded("reaper", lambda: main(Path(sys.argv[1]))))
