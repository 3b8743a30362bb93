"""Every change we make through git. Each names the ids it acts on and fails when they no longer hold.

Each is recorded before it is made and after, and waits a while for a lock file that somebody else holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.git.history import MERGE_PINS
from git_wave.git.layout import Layout
from git_wave.git.links import Worktree
from git_wave.git.patience import patiently
from git_wave.git.worktrees import STATUS_PINS
from git_wave.model.names import Oid, Ref, heads_ref
from git_wave.model.recording import Recorder, Unrecorded

# No housekeeping in the background of a wave, and no guess where a setting could turn one thing into another.
QUIET_PINS = {"gc.auto": "0", "maintenance.auto": "false", "submodule.recurse": "false", "core.fsmonitor": "false"}
# For commits that are nobody's work and only keep something.
OWN_IDENTITY = {"user.name": "git-wave", "user.email": "git-wave@invalid"}
ANY_CODE = range(-64, 256)
LOCK_PATIENCE = 5.0


class Writes:
    """Changes to one checkout and its repository. `lock_patience` is in seconds."""

    def __init__(
        self, door: Door, layout: Layout, recorder: Recorder | None = None, lock_patience: float = LOCK_PATIENCE
    ) -> None:
        self._door = door
        self._layout = layout
        self._recorder = recorder or Unrecorded()
        self.lock_patience = lock_patience

    # -- the checkout

    def merge(self, tip: Oid, target: Ref, subject: str, timeout: float) -> Answer:
        """Merge the commit `tip` into the checkout, hooks included; to be recorded by the caller.

        The answer's code is git's; 0 alone proves nothing. Raises GitTimeout with the whole group ended.
        `--no-verify-signatures` is not given: a user who demands signatures gets the refusal.
        """
        settings = {
            **QUIET_PINS,
            **MERGE_PINS,
            "pull.twohead": "ort",
            "diff.ignoreSubmodules": "none",
            f"branch.{target.removeprefix('refs/heads/')}.mergeOptions": "",
        }
        flags = [
            *("--no-ff", "--no-squash", "--commit", "--no-edit", "--no-autostash", "--no-rerere-autoupdate"),
            *("--no-stat", "--no-log", "--no-signoff", "--no-progress", "--cleanup=whitespace"),
            *("--strategy=ort", "-m", subject),
        ]
        command = ["merge", *flags, tip]
        return self._door.run(self._layout.root, command, ok=ANY_CODE, settings=settings, timeout=timeout)

    def abort_merge(self) -> Answer:
        """Ask git to undo the merge in progress. Its exit code proves nothing either way."""
        return self._run(["merge", "--abort"], ok=ANY_CODE)

    def reset_merge(self, to: Oid) -> None:
        """Put index and files back to `to` where a merge changed them; edits that are not staged stay.

        Only for a checkout whose index was known to equal `to` before the merge began. Raises GitError.
        """
        self._run(["reset", "--merge", "--quiet", to])

    def save_tree(self, tree: Oid, parent: Oid, ref: Ref) -> Oid:
        """Keep a tree under a ref of our own, as a commit on `parent`. Raises GitError."""
        command = ["commit-tree", "--no-gpg-sign", "-p", parent, "-m", "git-wave: staged while a merge ran", tree]
        commit = Oid(self._run(command, settings=OWN_IDENTITY).text.strip())
        self._update_refs([f"update {ref}\0{commit}\0\0"])
        return commit

    def restore_staged(self, source: Oid, paths: Sequence[str]) -> None:
        """Put these paths as `source` has them into index and checkout. Raises GitError."""
        names = b"\0".join(os.fsencode(path) for path in paths)
        where = ["--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"]
        self._run(["--literal-pathspecs", "restore", f"--source={source}", *where], stdin=names)

    def restore_files(self, paths: Sequence[str], at: Worktree | None = None) -> None:
        """Write these files out of the index where they are missing on disk; none that stands is touched.

        `at` is the worktree, if it is not the checkout. Raises GitError.
        """
        if paths:
            names = b"\0".join(os.fsencode(path) for path in paths)
            self._run(["checkout-index", "--index", "-z", "--stdin"], stdin=names, at=at)

    def move_target(self, to: Oid, standing_at: Oid) -> None:
        """Move the checked-out branch and its files; git refuses where an edit of the user's would be lost."""
        with self._recorder.step("move_target", to=to, standing_at=standing_at):
            self._run(["reset", "--keep", "--quiet", to])

    # -- worktrees

    def add_worktree(self, path: Path, branch: str, *, files: bool = True) -> None:
        """Check an existing branch out at a path where nothing stands, or only register it. Raises GitError."""
        flags = [] if files else ["--no-checkout"]
        with self._recorder.step("add_worktree", path=str(path), name=branch):
            self._run(["worktree", "add", "--quiet", *flags, str(path), branch])

    def fill_worktree(self, worktree: Worktree, files: Oid, index: Oid) -> None:
        """Write the files of one commit into a worktree that has neither files nor an index, and index another.

        Git refuses where a file stands in the way. Raises GitError.
        """
        with self._recorder.step("fill_worktree", path=str(worktree.path), files=files, index=index):
            self._run(["read-tree", "-m", "-u", files], at=worktree)
            if index != files:
                self._run(["read-tree", "--reset", index], at=worktree)
            self._run(["update-index", "-q", "--refresh"], ok=(0, 1), at=worktree)

    def set_index(self, worktree: Worktree, commit: Oid, marked: Sequence[str]) -> None:
        """Have a worktree's index hold what `commit` does; no file is touched. Raises GitError.

        The `marked` paths lose their marks (assume-unchanged, skip-worktree): git would not replace them.
        """
        settings = {"core.hooksPath": os.devnull}
        names = b"".join(os.fsencode(path) + b"\0" for path in marked)
        with self._recorder.step("set_index", path=str(worktree.path), to=commit):
            for mark in ("--no-assume-unchanged", "--no-skip-worktree") if names else ():
                self._run(["update-index", mark, "-z", "--stdin"], stdin=names, settings=settings, at=worktree)
            self._run(["read-tree", "--reset", commit], settings=settings, at=worktree)
            self._run(["update-index", "-q", "--refresh"], ok=(0, 1), settings=settings, at=worktree)

    def create_worktree(self, path: Path, branch: str, lock_reason: str, timeout: float) -> None:
        """Check an existing branch out in a new worktree, hooks included. It is locked from the start.

        Raises GitError, and GitTimeout with the whole group ended. Git makes the directories above `path`.
        """
        lock = ["--lock", f"--reason={lock_reason}"]
        command = ["worktree", "add", "--quiet", *lock, "--", str(path), branch]
        with self._recorder.step("create_worktree", path=str(path), name=branch):
            patiently(
                lambda: self._door.run(self._layout.root, command, settings=QUIET_PINS, timeout=timeout),
                self.lock_patience,
            )

    def take_back_worktree(self, path: Path) -> None:
        """Remove a worktree that this run has made and locked, whatever is in it. Raises GitError."""
        with self._recorder.step("take_back_worktree", path=str(path)):
            self._run(["worktree", "remove", "--force", "--force", str(path)])

    def unlock_worktree(self, path: Path, **facts: Any) -> None:
        """`facts` go on record: with `reason` and `since`, a run that is killed has its lock put back."""
        with self._recorder.step("unlock_worktree", path=str(path), **facts):
            self._run(["worktree", "unlock", str(path)])

    def lock_worktree(self, path: Path, reason: str) -> None:
        with self._recorder.step("lock_worktree", path=str(path)):
            self._run(["worktree", "lock", f"--reason={reason}", str(path)])

    def remove_worktree(self, path: Path, tip: Oid, *, force: bool = False) -> None:
        """Remove a worktree and its registration. Raises GitError.

        Without `force` git looks once more itself, right before it deletes, and refuses for anything uncommitted;
        ignored files go either way.
        """
        flags = ["--force"] if force else []
        with self._recorder.step("remove_worktree", path=str(path), tip=tip):
            self._run(["worktree", "remove", *flags, str(path)], settings=STATUS_PINS)

    def drop_registration(self, path: Path, tip: Oid) -> None:
        """Drop the registration of a worktree whose directory is gone, and no other registration.

        `git worktree prune` would drop every stale one of the repository; a plain `remove` of an absent
        worktree drops just its own, and refuses if a directory with something in it is there after all.
        """
        with self._recorder.step("drop_registration", path=str(path), tip=tip):
            self._run(["worktree", "remove", str(path)])

    # -- refs, replaced only while they hold the id that was seen

    def back_up(self, wave_id: str, head: Oid, tips: Mapping[str, Oid]) -> None:
        """Keep HEAD and every branch's tip under refs of our own, so that nothing depends on reflogs."""
        names = {f"{backup_prefix(wave_id)}head": head}
        names |= {f"{backup_prefix(wave_id)}heads/{branch}": tip for branch, tip in tips.items()}
        with self._recorder.step("back_up", refs=len(names)):
            self._update_refs([f"update {name}\0{oid}\0\0" for name, oid in names.items()])

    def keep_commits(self, refs: Mapping[Ref, Oid]) -> None:
        """Keep commits under refs of our own, all or none of them."""
        with self._recorder.step("back_up", refs=len(refs)):
            self._update_refs([f"update {ref}\0{oid}\0\0" for ref, oid in refs.items()])

    def move_branch(self, branch: str, to: Oid, standing_at: Oid, keeping: Mapping[Ref, Oid]) -> None:
        """Move a branch if it still stands at that commit, and keep other commits, in one transaction.

        Raises GitError, also when it moved or a hook refused.
        """
        ref = heads_ref(branch)
        with self._recorder.step("move_branch", ref=ref, to=to, standing_at=standing_at):
            kept = [f"update {name}\0{oid}\0\0" for name, oid in keeping.items()]
            self._update_refs([*kept, f"option no-deref\0update {ref}\0{to}\0{standing_at}\0"])

    def delete_branch(self, branch: str, standing_at: Oid, wave_id: str) -> None:
        """Delete a branch if it still stands at that commit, which is kept under a ref of our own, in one
        transaction. Raises GitError, also when it moved.
        """
        ref, backup = heads_ref(branch), f"{backup_prefix(wave_id)}heads/{branch}"
        with self._recorder.step("delete_branch", ref=ref, oid=standing_at):
            self._update_refs(
                [f"update {backup}\0{standing_at}\0\0", f"option no-deref\0delete {ref}\0{standing_at}\0"]
            )

    def create_branch(self, branch: str, at: Oid, why: str = "git-wave") -> None:
        """Create a branch where there is none; its reflog begins with `why`. Raises GitError."""
        with self._recorder.step("create_branch", ref=heads_ref(branch), oid=at):
            self._update_refs([f"create {heads_ref(branch)}\0{at}\0"], why, "--create-reflog")

    def advance_branch(self, branch: str, to: Oid, standing_at: Oid) -> None:
        """Move a branch on if it still stands at that commit. Raises GitError."""
        with self._recorder.step("advance_branch", ref=heads_ref(branch), oid=to, standing_at=standing_at):
            self._update_refs([f"option no-deref\0update {heads_ref(branch)}\0{to}\0{standing_at}\0"])

    def drop_branch(self, branch: str, standing_at: Oid) -> None:
        """Delete a branch that this run has made, if it still stands at that commit. Raises GitError."""
        with self._recorder.step("drop_branch", ref=heads_ref(branch), oid=standing_at):
            self._update_refs([f"option no-deref\0delete {heads_ref(branch)}\0{standing_at}\0"])

    def delete_refs(self, refs: Mapping[str, Oid]) -> None:
        """Delete refs of our own, each only while it holds that id."""
        self._update_refs([f"option no-deref\0delete {ref}\0{oid}\0" for ref, oid in refs.items()])

    def remove_branch_config(self, branch: str) -> None:
        """Drop the `branch.<name>` section, as `git branch -D` does. Raises GitError when it is still there."""
        with self._recorder.step("remove_branch_config", name=branch):
            section = f"branch.{branch}"
            answer = self._run(["config", "--local", "--remove-section", section], ok=(0, 5, 128))
            if answer.code == 128:
                # Said of a missing section, and of much else.
                pattern = f"^{re.escape(section)}\\.[^.]*$"
                if self._run(["config", "--local", "--get-regexp", pattern], ok=(0, 1)).code == 0:
                    raise answer.error()

    def _update_refs(self, commands: Sequence[str], why: str = "git-wave", *flags: str) -> None:
        """All or nothing."""
        self._run(["update-ref", *flags, "-m", why, "-z", "--stdin"], stdin="".join(commands).encode())

    def _run(
        self,
        args: Sequence[str],
        ok: Sequence[int] = (0,),
        stdin: bytes = b"",
        settings: Mapping[str, str] = MappingProxyType({}),
        at: Worktree | None = None,
    ) -> Answer:
        """A change that takes a moment and is better finished than cut short; `at` is where, if not here."""
        pins = {**QUIET_PINS, **settings}
        where = at.path if at else self._layout.root
        args = [f"--git-dir={at.admin}", f"--work-tree={at.path}", *args] if at else args

        def run() -> Answer:
            return self._door.run(where, args, ok=ok, settings=pins, stdin=stdin, shielded=True)

        return patiently(run, self.lock_patience)


def backup_prefix(wave_id: str) -> str:
    """Where a wave's backup refs are."""
    return f"refs/git-wave/{wave_id}/"
