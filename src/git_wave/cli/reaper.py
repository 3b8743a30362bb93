"""Reaping a session's worktrees in the background, after the session has ended."""

from __future__ import annotations

import os
import sys
from datetime import datetime

from git_wave.cli.main import COMMANDS
from git_wave.git.door import start_detached
from git_wave.git.layout import Layout
from git_wave.harness.payload import Payload
from git_wave.state.requests import directory, write_request

ENDS = ("clear", "logout", "prompt_input_exit", "other")
"""Reasons that mean the end. A session that was left for another (`resume`), or for a reason unknown, may come back."""


def ask_for_reaping(layout: Layout, payload: Payload, now: datetime) -> None:
    """Put the request on disk and start the reaper, which outlives this process. Raises OSError."""
    if payload.reason not in ENDS:
        return
    write_request(layout.common_dir, payload.session_id, payload.reason, now)
    if "reap" in COMMANDS:
        argv = [sys.executable, "-m", "git_wave", "reap", "--session", payload.session_id, "--root", str(layout.root)]
        start_detached(argv, dict(os.environ), directory(layout.common_dir) / "reaper.log")
