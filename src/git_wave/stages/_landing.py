"""The checkout before a merge and after it: did exactly what was meant happen, and if not, is all as before?

No single sign can be trusted. Git exits 0 without having merged, MERGE_HEAD is not written yet while the
pre-merge-commit hook runs, and an abort that succeeds may have had nothing to abort. So the state is compared
with the one noted attempt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from git_wave.git.parse import SUBMODULE, Difference, Look
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref
from git_wave.model.paths import shown
from git_wave.stages._case import Hands, Target
from git_wave.stages._obstacles import standing_in_the_way
from git_wave.state.kept import set_aside

Sign = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One merge, and the checkout as it stood before: tracked edits, and a sign of each edited file's content.

    `changed` is what the merge is to change; `aside` is where half-written files are set aside, and `shelf` the ref
    under which what the user staged meanwhile is saved. `planned` is the tree that the merge was to make, and `left`
    what an earlier attempt to take it back had to leave.
    """

    target: Target
    tip: Oid
    changed: Iterable[Difference]
    look: Look
    signs: Mapping[str, Sign]
    aside: Path
    shelf: Ref
    planned: Oid
    left: Mapping[str, Sign] = field(default_factory=dict)


def sign(path: Path) -> Sign:
    """What changes when a file is written: mode, inode, size, time; None when it cannot be had."""
    with suppress(OSError):
        found = os.lstat(path)
        return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns)
    return None


def signs_of(look: Look, root: Path) -> dict[str, Sign]:
    return {change.path: sign(root / change.path) for change in look.changes}


def touched_edits(attempt: Attempt, reads: Reads) -> list[str]:
    """The user's own edited files that are not as they were."""
    root = reads.layout.root
    return [path for path, was in attempt.signs.items() if sign(root / path) != was]


def landed_commit(attempt: Attempt, reads: Reads) -> tuple[Oid | None, str]:
    """The merge commit, when HEAD moved by exactly it; else None and what is wrong. Raises GitError."""
    head = reads.objects.commit("HEAD")
    if head is None or head == attempt.target.oid:
        return None, "git reported success, but HEAD did not move"
    if reads.objects.commit(attempt.target.ref) != head:
        return None, f"HEAD moved to {head}, which is not {attempt.target.branch}"
    if reads.objects.parents(head) != (attempt.target.oid, attempt.tip):
        return None, f"HEAD moved to {head}, which is not the merge of {attempt.target.oid} and {attempt.tip}"
    if found := reads.operations():
        return head, f"merged, but git left a {found[0]} in progress"
    return head, ""


def merge_below(attempt: Attempt, reads: Reads) -> Oid | None:
    """Our merge, where a hook put commits of its own on top of it."""
    try:
        commit = reads.objects.commit("HEAD")
        while commit and commit != attempt.target.oid:
            parents = reads.objects.parents(commit)
            if parents == (attempt.target.oid, attempt.tip):
                return commit
            commit = parents[0] if parents else None
    except GitError:
        return None
    return None


def missing_files(attempt: Attempt, reads: Reads) -> list[str]:
    """Paths that the merge brought and that are not on disk, as a failing smudge filter leaves them."""
    root = reads.layout.root
    absent = [
        change.path
        for change in attempt.changed
        if change.status != "D" and change.mode != SUBMODULE and not os.path.lexists(root / change.path)
    ]
    return sorted(reads.tracked(absent)) if absent else []


@dataclass(frozen=True, slots=True)
class PutBack:
    """How putting the checkout back ended.

    `halt`: it is still mid-merge, or not as it was. `left` has the sign of each file that the merge left half-written,
    for whoever tries again.
    """

    halt: bool
    detail: str = ""
    left: Mapping[str, Sign] = field(default_factory=dict)


def put_back(attempt: Attempt, reads: Reads, hands: Hands, *, killed: bool = False) -> PutBack:
    """Take a failed merge back, and nothing else: the index equalled HEAD and no operation stood before it.

    When HEAD is not where it was, something else than a failed merge happened, and nothing is taken back. What the
    user staged while the merge ran is saved first and staged again afterwards. `killed`: git was ended just now, and
    may have left files half-written.
    """
    if moved := head_moved(attempt, reads):
        return PutBack(reads.is_mid_merge(), moved)
    try:
        problem = remaining(attempt, reads, killed)
        if not problem:
            return PutBack(halt=False, detail=strangers(attempt, reads))
        staged = staged_by_others(attempt, reads)
        saved = hands.git.save_tree(reads.index_tree(), attempt.target.oid, attempt.shelf) if staged else None
    except (GitError, OSError) as error:
        return PutBack(True, f"the checkout is not as before: {error}", left(attempt, reads))
    problem = take_back(attempt, reads, hands, killed)
    if saved is not None:
        problem = stage_again(saved, staged, attempt, hands, problem)
    if reads.is_mid_merge():
        return PutBack(True, f"the checkout is still mid-merge: {problem or 'MERGE_HEAD stands'}", left(attempt, reads))
    if problem:
        return PutBack(True, f"the checkout is not as before: {problem}", left(attempt, reads))
    aside = f"half-written files were moved to {attempt.aside}" if os.path.lexists(attempt.aside) else ""
    return PutBack(halt=False, detail="\n".join(filter(None, (aside, strangers(attempt, reads)))))


def left(attempt: Attempt, reads: Reads) -> dict[str, Sign]:
    """Signs of what is still half-written."""
    try:
        return {path: sign(reads.layout.root / path) for path in residue(attempt, reads, killed=True)}
    except (GitError, OSError):
        return {}


def take_back(attempt: Attempt, reads: Reads, hands: Hands, killed: bool) -> str:
    """From the mildest remedy to the last; what then still is not as before, or ""."""
    remedies: tuple[Callable[[], object], ...] = (
        hands.git.abort_merge,
        lambda: hands.git.reset_merge(attempt.target.oid),
        lambda: finish_half_written(attempt, reads, hands),
        lambda: set_residue_aside(attempt, reads, hands, killed),
    )
    problem = ""
    for remedy in remedies:
        try:
            remedy()
            problem = remaining(attempt, reads, killed)
        except (GitError, OSError) as error:
            problem = str(error)
        if not problem:
            break
    return problem


def stage_again(saved: Oid, staged: Sequence[str], attempt: Attempt, hands: Hands, problem: str) -> str:
    """Bring back what the user staged; where that fails it is in the ref, and told."""
    if not problem:
        try:
            hands.git.restore_staged(saved, staged)
        except GitError as error:
            problem = str(error)
    return f"{problem}; what you staged meanwhile is saved in {attempt.shelf}" if problem else ""


def remaining(attempt: Attempt, reads: Reads, killed: bool) -> str:
    """What is not as before, in words, or ""."""
    if found := difference(attempt, reads.target_look(), reads):
        return found
    paths = residue(attempt, reads, killed)
    return "left by the merge: " + ", ".join(map(shown, paths[:5])) if paths else ""


def staged_by_others(attempt: Attempt, reads: Reads) -> list[str]:
    """Staged paths that the merge has nothing to do with."""
    ours = written_paths(attempt)
    return [path for path in reads.target_look().staged if path not in ours]


def written_paths(attempt: Attempt) -> set[str]:
    return {path for change in attempt.changed for path in (change.path, change.old) if path is not None}


def head_moved(attempt: Attempt, reads: Reads) -> str:
    try:
        head = reads.objects.commit("HEAD"), reads.objects.commit(attempt.target.ref)
    except GitError as error:
        return str(error)
    return "" if head == (attempt.target.oid, attempt.target.oid) else f"HEAD is at {head[0]}"


def difference(attempt: Attempt, now: Look, reads: Reads) -> str:
    """How the checkout differs from before, or "". Files that the user edits meanwhile are no difference of ours."""
    if (now.branch, now.oid) != (attempt.target.branch, attempt.target.oid):
        return f"HEAD is {now.branch or 'detached'} at {now.oid}"
    ours = written_paths(attempt)
    if held := now.unmerged or tuple(path for path in now.staged if path in ours):
        return "the index holds " + ", ".join(shown(path) for path in held[:5])
    if found := reads.operations():
        return f"{found[0]} in progress"
    if gone := [path for path in touched_edits(attempt, reads) if not os.path.lexists(reads.layout.root / path)]:
        return "edits are gone: " + ", ".join(map(shown, gone))
    return ""


def residue(attempt: Attempt, reads: Reads, killed: bool) -> list[str]:
    """Paths that the merge was to write and that are not as before.

    When git was ended just now, they are what it was writing. Else somebody may have edited files since, and only
    those that are missing, or have the content that the merge gives them or the first part of it, are its own.
    """
    edited = {change.path for change in attempt.look.changes}
    now = {change.path for change in reads.target_look().changes} - edited
    added = standing_in_the_way(attempt.changed, reads)
    found = [*(change.path for change in attempt.changed if change.path in now), *added]
    if killed or not found:
        return found
    ours = reads.files_like(attempt.planned, found)
    root = reads.layout.root
    known = attempt.left
    return [
        path
        for path in found
        if path in ours
        or not os.path.lexists(root / path)
        or (path in known and sign(root / path) == known[path])
        or is_half_written(root / path, path, attempt, reads)
    ]


def is_half_written(place: Path, path: str, attempt: Attempt, reads: Reads) -> bool:
    """Whether a regular file has the first part of what the merge was to write; a disk that was full leaves such."""
    try:
        return not place.is_symlink() and place.is_file() and reads.is_beginning(attempt.planned, path)
    except (GitError, OSError):
        return False


def strangers(attempt: Attempt, reads: Reads) -> str:
    """New files where the merge was to write, which are none of its own: in words, or ""."""
    try:
        paths = standing_in_the_way(attempt.changed, reads)
    except (GitError, OSError) as error:
        return str(error)
    listed = ", ".join(map(shown, paths[:5]))
    return f"written while the merge ran, and left as it is: {listed}" if paths else ""


def finish_half_written(attempt: Attempt, reads: Reads, hands: Hands) -> None:
    """Where the index has the merge already and a file has not, git will not reset: give it the file, then reset.

    What stands in the file's place is set aside.
    """
    ours = written_paths(attempt)
    torn = [c.path for c in reads.target_look().changes if c.path in ours and c.code[0] != "." and c.code[1] != "."]
    for path in torn:
        if os.path.lexists(reads.layout.root / path):
            set_aside(reads.layout.root, path, attempt.aside)
    hands.git.restore_files(torn)
    hands.git.reset_merge(attempt.target.oid)


def set_residue_aside(attempt: Attempt, reads: Reads, hands: Hands, killed: bool) -> None:
    """Move what an ended merge left half-written aside, and restore the tracked files.

    Moved, not deleted: should one of them be the user's after all, it is there.
    """
    look = reads.target_look()
    if reads.operations() or look.unmerged or not written_paths(attempt).isdisjoint(look.staged):
        return  # still git's to undo, and harder for the user to undo once files were moved
    paths = residue(attempt, reads, killed)
    for path in paths:
        if os.path.lexists(reads.layout.root / path):
            set_aside(reads.layout.root, path, attempt.aside)
    hands.git.restore_files(sorted(reads.tracked(paths)) if paths else [])
