"""Worktrees for Claude Code: made or found again, and removed, as its hooks ask for."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from git_wave.cli.create import run
from git_wave.cli.repository import Repository
from git_wave.gates.containment import managed_root
from git_wave.git.links import BrokenLink, is_there
from git_wave.git.presence import Presence, presence
from git_wave.git.reads import Reads
from git_wave.harness.payload import Payload
from git_wave.lifecycle.include import copy_included
from git_wave.lifecycle.plan import Order
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.interrupts import Interrupts
from git_wave.model.names import heads_ref
from git_wave.model.reasons import Reason
from git_wave.reclaim.remove import Removal
from git_wave.reclaim.remove import remove as remove_worktree
from git_wave.reclaim.yard import Place, main_layout, opened
from git_wave.state.manifest_file import locked, write_document

logger = logging.getLogger("git_wave.harness")
LOCK_WAIT = 60.0
"""Seconds for which a removal waits for a wave."""
PLAIN_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def made_or_reused(repository: Repository, payload: Payload, interrupts: Interrupts) -> Path:
    """The real path of the session's worktree of that name. Raises WaveError, GitError, OSError or Interrupted."""
    layout, name = repository.layout, payload.name or ""
    branch = branch_for(name, repository.settings.branch_pattern)
    home = home_of(repository)
    path = managed_root(home, repository.settings.managed_root) / name
    with Reads(repository.door, layout) as reads:
        if not is_reusable(reads, path, branch):
            order = Order(
                session_manifest(repository, payload.session_id),
                name,
                home,
                path=str(path),
                branch=branch,
                base=reads.objects.commit("HEAD"),
                unique=True,
                session=payload.session_id,
                parent=payload.session_id,
            )
            path = run(order, None, None, interrupts).path
        for included in copy_included(reads, path):
            logger.info("copied %s", included)
    return path.resolve(strict=True)


def home_of(repository: Repository) -> Path:
    """The main worktree, below which worktrees stand wherever the session is; its own checkout where that is bare."""
    layout = main_layout(repository.door, repository.layout)
    return repository.layout.root if layout.root == layout.common_dir else layout.root


def branch_for(name: str, pattern: str) -> str:
    """The branch for a worktree's name: one that a wave may land, whatever the name."""
    usual = f"worktree-{name}"
    return usual if re.search(pattern, usual) else f"worktree-agent-{name}"


def is_reusable(reads: Reads, path: Path, branch: str) -> bool:
    """Whether the worktree stands there already, on its branch (or on one that was numbered to tell it apart)."""
    registered = reads.registration(path)
    if registered is None or reads.presence(path) is not Presence.PRESENT:
        return False
    usual = heads_ref(branch)
    if re.fullmatch(f"{re.escape(usual)}(-[0-9]+)?", registered.branch or "") is None:
        raise Refusal(Reason.PATH_EXISTS, f"{path} is there, and on {registered.branch or 'no branch'}")
    try:
        reads.worktree_at(path)
    except BrokenLink as error:
        raise Refusal(Reason.PATH_EXISTS, f"{path} is there, and not the worktree it was: {error}") from error
    return True


def session_manifest(repository: Repository, session: str) -> Path:
    """The manifest in which a session's worktrees are recorded, so that a wave can land them. Raises WaveError."""
    plain = session if PLAIN_SESSION.fullmatch(session) else hashlib.sha256(session.encode()).hexdigest()
    home = repository.layout.common_dir / "git-wave" / "sessions"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(Reason.STATE_UNWRITABLE, f"{home}: {error.strerror}") from error
    path = home / f"{plain}.json"
    with locked(path):
        if not path.exists():
            write_document(path, {"orchestrator_root": str(repository.layout.root), "worktrees": []})
    return path


def remove(repository_of: Callable[[], Repository], path: Path) -> None:
    """Remove a worktree unless work would be lost; never its branch. No error is one that is gone, or a directory that
    is no worktree of anybody's: there is nothing to remove.

    Raises WaveError, with the worktree left, or Interrupted.
    """
    if presence(path) is Presence.GONE:
        return
    try:
        remove_there(repository_of(), path)
    except WaveError as error:
        nothing = error.reason in (Reason.TARGET_UNKNOWN, Reason.NOT_A_CHECKOUT) and not is_there(path / ".git")
        if not nothing:
            raise


def remove_there(repository: Repository, path: Path) -> None:
    """The same, once the repository is known."""
    home = main_layout(repository.door, repository.layout)
    # The session may have had its project in the very worktree; this process at least is not in it.
    os.chdir(home.root)
    removal = Removal(str(path))
    place = Place(repository.door, home, repository.settings, home.root)
    with opened(place, LOCK_WAIT, dry_run=False) as yard:
        remove_worktree(removal, yard, preserve=False, dry_run=False)
    if not removal.ok:
        raise WaveError(removal.reason, removal.hint or f"{path} stays")
