"""Is it inside the managed root, with nothing in it that is not its own?

Where a directory really is decides, not how its path is spelled: the root may be reached through a link, but no link
may stand at the worktree or between the root and it. File systems mounted inside, and other worktrees, are not the
worktree's to take along.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from git_wave.gates._answer import Answer, blocks_for
from git_wave.gates._subject import Gate, Subject
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason

MANAGED = Path(".claude/worktrees")
"""Where worktrees are kept below the main worktree, unless `wave.managedRoot` says otherwise."""


def check(subject: Subject) -> Answer:
    why: list[str] = []
    root = subject.terms.managed_root
    if root is not None:
        why += misplaced(subject.path, root)
    why += holds_repository(subject, asks_main=root is not None)
    if not why:
        why += inside(subject)
    return blocks_for(Reason.OUTSIDE_MANAGED_ROOT, why)


def managed_root(main_root: Path, setting: str | None) -> Path:
    """The root below which worktrees are ours to remove; a relative setting is taken from the main worktree."""
    return main_root / (os.path.expanduser(setting) if setting else MANAGED)


def misplaced(path: Path, root: Path) -> Iterator[str]:
    """Why the path is not strictly inside the root. Raises OSError when that cannot be seen."""
    real, home = strictly_real(path), strictly_real(root)
    if real == home or not real.is_relative_to(home):
        yield f"{shown(str(path))} is really {shown(str(real))}, which is not inside {shown(str(home))}"
        return
    below = real.relative_to(home).parts
    outer = Path(*path.parts[: -len(below)])
    if path.parts[-len(below) :] != below or strictly_real(outer) != home:
        yield f"a symbolic link leads to {shown(str(real))} from {shown(str(path))}"


def holds_repository(subject: Subject, *, asks_main: bool) -> Iterator[str]:
    """Whether it is, or is around, what no worktree may take along. Raises OSError."""
    real = strictly_real(subject.path)
    layout = subject.reads.layout
    kept = {"the git directory": layout.common_dir, "the checkout": layout.root}
    if asks_main:
        kept["the main worktree"] = subject.inspection.main_root.resolve()
    for name, place in kept.items():
        if place.is_relative_to(real):
            yield f"{name} is inside: {shown(str(place))}"


def strictly_real(path: Path) -> Path:
    return Path(os.path.realpath(path, strict=True))


def inside(subject: Subject) -> Iterator[str]:
    """What stands in it and is not its own. Raises OSError or NotKnown."""
    worktree = subject.worktree
    yield from (f"mounted inside: {shown(point)}" for point in subject.reads.mounts_below(worktree))
    below = f"{worktree.path}/"
    yield from (f"another worktree inside: {shown(p)}" for p in subject.inspection.places if p.startswith(below))


GATE = Gate("containment", "Is it inside the managed root, with nothing in it that is not its own?", check)
