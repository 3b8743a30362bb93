"""Every change we make through git. Each names the ids it acts on and fails when they no longer hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from git_wave.git.door import Answer, Door
from git_wave.git.reads import MERGE_PINS, Layout
from git_wave.model.names import Oid, Ref

# No housekeeping in the background of a wave, and no guess where a setting could turn one thing into another.
QUIET_PINS = {
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "advice.detachedHead": "false",
}


class Writes:
    """Changes to one checkout and its repository."""

    def __init__(self, door: Door, layout: Layout) -> None:
        self._door = door
        self._layout = layout

    def _short(self, args: Sequence[str], ok: Sequence[int] = (0,), stdin: bytes = b"") -> Answer:
        """A change that takes a moment and is better finished than cut short."""
        return self._door.run(self._layout.root, args, ok=ok, settings=QUIET_PINS, stdin=stdin, shielded=True)

    def merge(self, tip: Oid, target: Ref, subject: str, timeout: float) -> Answer:
        """Merge the commit `tip` into the checkout, hooks included.

        The answer's code is git's; 0 alone proves nothing. Raises GitTimeout with the whole group ended.
        `--no-verify-signatures` is not given: a user who demands signatures gets the refusal.
        """
        settings = {
            **QUIET_PINS,
            **MERGE_PINS,
            "pull.twohead": "ort",
            f"branch.{target.removeprefix('refs/heads/')}.mergeOptions": "",
            "user.useConfigOnly": "true",
        }
        flags = [
            *("--no-ff", "--no-squash", "--commit", "--no-edit", "--no-autostash", "--no-rerere-autoupdate"),
            *("--no-stat", "--no-log", "--no-signoff", "--no-progress", "--strategy=ort", "-m", subject),
        ]
        everything = range(-64, 256)
        return self._door.run(
            self._layout.root, ["merge", *flags, tip], ok=everything, settings=settings, timeout=timeout
        )

    def abort_merge(self) -> Answer:
        """Ask git to undo the merge in progress. Its exit code proves nothing either way."""
        return self._short(["merge", "--abort"], ok=range(-64, 256))

    def reset_merge(self, to: Oid) -> None:
        """Put index and files back to `to` where a merge changed them; edits that are not staged stay.

        Only for a checkout whose index was known to equal `to` before the merge began. Raises GitError.
        """
        self._short(["reset", "--merge", "--quiet", to])

    def restore_files(self, paths: Sequence[str]) -> None:
        """Write these files out of the index where they are missing on disk; none that stands is touched."""
        if paths:
            names = b"\0".join(os.fsencode(path) for path in paths)
            self._short(["checkout-index", "-z", "--stdin"], stdin=names)

    def unlock_worktree(self, path: Path) -> None:
        self._short(["worktree", "unlock", str(path)])

    def lock_worktree(self, path: Path, reason: str) -> None:
        self._short(["worktree", "lock", f"--reason={reason}", str(path)])

    def remove_worktree(self, path: Path) -> None:
        """Remove a worktree and its registration, whatever it still holds. Raises GitError."""
        self._short(["worktree", "remove", "--force", str(path)])

    def drop_registration(self, path: Path) -> None:
        """Drop the registration of a worktree whose directory is gone, and no other registration.

        `git worktree prune` would drop every stale one of the repository; a plain `remove` of an absent
        worktree drops just its own, and refuses if a directory with something in it is there after all.
        """
        self._short(["worktree", "remove", str(path)])

    def delete_branch(self, ref: Ref, standing_at: Oid) -> None:
        """Delete a branch if it still stands at that commit. Raises GitError, also when it moved."""
        self._short(["update-ref", "--no-deref", "-m", "git-wave: landed", "-d", ref, standing_at])

    def remove_branch_config(self, branch: str) -> None:
        """Drop the `branch.<name>` section, which `git branch -D` would drop too; 5 means there was none."""
        self._short(["config", "--local", "--remove-section", f"branch.{branch}"], ok=(0, 5, 128))
