"""A worktree whose directory does not answer: gone, as harnesses make them go, or something worse?

Two questions, two sources, each asked only what it can prove. Who was registered at the path: git, whose
binding of path to branch outlives the directory. Whether it is gone: the file system, and only a plain "no
such entry" under a directory that can be listed. Git's own `prunable` is no proof; it says so, too, of a
checkout below an unreadable directory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from git_wave.gates._beside import lost_beside
from git_wave.git.links import is_there
from git_wave.git.parse import Difference
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError
from git_wave.model.paths import is_summary
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Go, Status, Step, Stop
from git_wave.stages._landed import finished, is_in_target, nothing_left_to_judge


def accept_absent(case: Case, reads: Reads, why: str) -> Step:
    """Go on without a worktree when it is proven to be this branch's and gone; else `branch_mismatch`.

    `why` tells what failed first; it is the detail when the entry is blocked.
    """
    try:
        registered = reads.registration(case.path)
    except GitError as error:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why}\n{error}")
    found = reads.presence(case.path)
    if found is Presence.PRESENT and registered is None and let_go(case, reads):
        return Stop(case, Reason.WORKTREE_REMOVE_FAILED, f"{LEFT_OVERS}: {case.path}")
    if found is not Presence.GONE:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why} ({found.value})")
    if registered is None and (landed := cleared_before(case, reads)):
        return landed
    if registered is None:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why}\ngit has no worktree registered at {case.path}")
    if registered.branch != case.ref:
        other = registered.branch or "no branch"
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why}\ngit registers {other} at {case.path}")
    try:
        tip = case.tip or reads.objects.commit(case.ref)
    except GitError as error:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why}\n{error}")
    if tip is None:
        return Stop(case, Reason.BRANCH_MISMATCH, f"{why}\nthe branch {case.entry.branch} does not exist")
    warning = case.warning(Reason.ACCEPTED_ABSENT_WORKTREE, case.entry.worktree_path, registered.prunable or None)
    return Go(case.knowing(tip=tip, worktree=None, look=None), (warning,))


def lost_with(case: Case, reads: Reads) -> str:
    """What would be lost with the registration of a worktree that is gone, a line each; "" when nothing would.

    A SUMMARY that was staged is not, where the checkout has the very same. Raises OSError, GitError or BrokenLink.
    """

    def is_rescued(staged: Difference) -> bool:
        return is_summary(staged.path) and has_content(reads.layout.root / staged.path, staged.oid)

    return "\n".join(lost_beside(case.path, case.pinned, reads, is_safe=is_rescued))


def has_content(path: Path, blob: str) -> bool:
    """Whether a regular file holds that blob, byte for byte. Raises OSError."""
    if not is_there(path) or path.is_symlink() or not path.is_file():
        return False
    data = path.read_bytes()
    digest = hashlib.sha1 if len(blob) == SHA1 else hashlib.sha256
    return digest(b"blob %d\0%b" % (len(data), data)).hexdigest() == blob


SHA1 = 40
LEFT_OVERS = "git has let go of the worktree, and its branch is landed; delete what is left of its files yourself"


def let_go(case: Case, reads: Reads) -> bool:
    """Whether an earlier removal could delete only part of the files: git then drops the registration all the same."""
    try:
        tip = reads.objects.commit(case.ref)
        recorded = any(line["branch"] == case.entry.branch and line["tip"] == tip for line in case.terms.earlier.landed)
        return tip is not None and recorded and is_in_target(tip, case, reads)
    except GitError:
        return False


def cleared_before(case: Case, reads: Reads) -> Step | None:
    """An entry that a wave cleared away, or was clearing when it was cut short: nothing at the path, nothing
    registered there. Its branch is gone too, or has nothing that the target has not.
    """
    try:
        tip = reads.objects.commit(case.ref)
        if tip is not None:
            mine = is_in_target(tip, case, reads) and not reads.heads_on(case.ref)
            return Go(case.knowing(tip=tip)) if mine else None
        landing = finished(case, reads)
    except (GitError, OSError):
        return None
    if landing is None:
        return None
    case = case.knowing(tip=landing.tip, merge_commit=landing.merge)
    if case.entry.branch in case.terms.configured_branches:
        return nothing_left_to_judge(case, landing.merge)  # its section of git's config is still to go
    return Stop(case, Reason.ALREADY_LANDED, status=Status.MERGED_REMOVED)
