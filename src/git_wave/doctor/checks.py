"""All checks, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from git_wave.doctor import hooks, installation, leftovers, repository
from git_wave.doctor._check import Check, made, problem, warning
from git_wave.git.door import Door
from git_wave.git.layout import Layout, layout_of
from git_wave.git.links import is_there
from git_wave.git.reads import Reads
from git_wave.model.errors import Refusal
from git_wave.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at: the caller's environment and clock, and a directory."""

    environ: Mapping[str, str]
    directory: Path
    git_timeout: float
    now: datetime


def examine(patient: Patient) -> Iterator[Check]:
    """Every check that can be made. Changes nothing, and takes no lock."""
    yield from installation.check_python()
    yield from made("commands", lambda: installation.check_command(patient.environ))
    yield from made("schemas", installation.check_schemas)
    try:
        door = Door(patient.environ, patient.git_timeout)
    except Refusal as refusal:
        yield problem("git", refusal.detail, "Install git 2.38 or newer.")
        return
    yield from made("git", lambda: installation.check_git(door))
    yield from made("settings", lambda: repository.check_settings(door, patient.directory))
    try:
        layout = layout_of(door, patient.directory)
    except Refusal as refusal:
        if refusal.reason is Reason.NOT_A_CHECKOUT:
            yield no_checkout(patient.directory, refusal.detail)
        yield from made("hooks", lambda: hooks.check_hooks(None, patient.environ))
        return
    yield from made("hooks", lambda: hooks.check_hooks(layout.root, patient.environ))
    with Reads(door, layout) as reads:
        yield from checkout_checks(reads, layout, patient.now)


def no_checkout(directory: Path, words: str) -> Check:
    """There is no repository, which is no problem of anybody's; or there is one, and git will not work in it."""
    if not directory.is_dir():
        return problem("checkout", words, "Name a directory that is there with `--root`.")
    if any(is_there(place / ".git") for place in (directory, *directory.absolute().parents)):
        return problem("checkout", words, "Do what git says there: no wave can start before git works in it.")
    return warning("checkout", words, "Run it in a checkout, or name one with `--root`, to see what stands there.")


def checkout_checks(reads: Reads, layout: Layout, now: datetime) -> Iterator[Check]:
    common_dir = layout.common_dir
    yield from made("identity", lambda: repository.check_identity(reads))
    yield from made("checkout", lambda: repository.check_progress(reads))
    yield from made("worktrees", lambda: repository.check_registrations(reads))
    yield from made("lock", lambda: leftovers.check_lock(common_dir))
    yield from made("journals", lambda: leftovers.check_journals(common_dir))
    yield from made("creates", lambda: leftovers.check_creates(common_dir))
    yield from made("sessions", lambda: leftovers.check_requests(common_dir))
    yield from made("scratch", lambda: leftovers.check_scratch(common_dir))
    yield from made("kept output", lambda: leftovers.check_kept(common_dir))
    yield from made("backups", lambda: leftovers.check_backups(reads, now))
