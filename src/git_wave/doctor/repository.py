"""Would a wave start in this checkout: its settings, its identity, what is in progress?"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from git_wave.doctor._check import Check, ok, problem, some, warning
from git_wave.git.door import Door
from git_wave.git.layout import Layout, read_config
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.errors import Refusal
from git_wave.settings import SETTINGS, settings_from

PREFIX = "wave."


def check_settings(door: Door, directory: Path) -> Iterator[Check]:
    """Every `wave.*` in git's config, judged by the reader's own rules."""
    ours = [(key, value) for key, value in read_config(door, directory) if key.startswith(PREFIX)]
    wrong = [check for key, value in ours if (check := judge(key, value))]
    yield from wrong
    if not wrong:
        yield ok("settings", f"{len(ours)} of {PREFIX}* set" if ours else f"no {PREFIX}* set; the defaults hold")


def judge(key: str, value: str) -> Check | None:
    known = {name.lower(): name for name in SETTINGS}
    if key not in known:
        near = difflib.get_close_matches(key, known, 1)
        hint = f" Was {known[near[0]]} meant?" if near else ""
        advice = f"`git config --show-origin --get-all {key}` says where it stands.{hint}"
        return warning("settings", f"{key} is no setting of git-wave", advice)
    try:
        settings_from([(key, value)])
    except Refusal as refusal:
        return problem("settings", refusal.detail, f"Correct it: `git config {known[key]} <value>`.")
    return None


def check_identity(reads: Reads) -> Iterator[Check]:
    if why := reads.identity_problem:
        advice = "Set `user.name` and `user.email` with `git config`: a merge is a commit."
        yield problem("identity", f"git knows no name to commit with: {why.strip().splitlines()[-1]}", advice)
    else:
        yield ok("identity", "user.name and user.email are set")


def check_progress(reads: Reads) -> Iterator[Check]:
    """A checkout in the middle of something refuses a wave; a lock file delays it."""
    operations = reads.operations()
    if operations:
        advice = "If a run was killed, run the same command again; if it is yours, finish or abort it."
        yield warning("checkout", f"in progress: {some(list(operations))}", advice)
    locks = held_locks(reads.layout)
    if locks:
        advice = "Let the git command that holds it finish; if none runs, delete the file yourself."
        yield warning("git locks", f"held: {some(locks)}", advice)
    if not operations and not locks:
        yield ok("checkout", f"{reads.layout.root}: nothing in progress")


def held_locks(layout: Layout) -> list[str]:
    """Lock files of git's that a run would wait for."""
    places = [layout.git_dir / "index.lock", layout.git_dir / "HEAD.lock"]
    places += [layout.common_dir / name for name in ("packed-refs.lock", "config.lock")]
    return [str(path) for path in dict.fromkeys(places) if path.is_symlink() or path.exists()]


def check_registrations(reads: Reads) -> Iterator[Check]:
    """Registered worktrees whose directory is gone, or cannot be looked at."""
    linked = reads.registrations[1:]
    states = {one.path: reads.presence(Path(one.path)) for one in linked}
    gone = [path for path, state in states.items() if state is Presence.GONE]
    unreadable = [path for path, state in states.items() if state is Presence.UNREADABLE]
    if gone:
        advice = "A wave lands those that its manifest names. For the others: `git worktree remove <path>`."
        yield warning("worktrees", f"registered, and their directories are gone: {some(gone)}", advice)
    if unreadable:
        advice = "Mount or unlock what they stand on; nothing of theirs is touched until then."
        yield warning("worktrees", f"cannot be read: {some(unreadable)}", advice)
    if not gone and not unreadable:
        yield ok("worktrees", f"{len(linked)} linked worktrees, all there")
