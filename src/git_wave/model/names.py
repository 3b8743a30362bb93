"""Names of branches, refs and commits, and the rules they must meet before git hears them."""

from __future__ import annotations

import re
from typing import NewType

Oid = NewType("Oid", str)
"""A full object id, 40 or 64 lower-case hexadecimal digits."""
Ref = NewType("Ref", str)
"""A full ref name, `refs/heads/...`."""
Branch = NewType("Branch", str)
"""A branch's short name, without `refs/heads/`."""

DEFAULT_BRANCH_PATTERN = r"^((worktree-)?agent-|worktree-wf_)[A-Za-z0-9._/-]+$"
FULL_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
# Git takes no abbreviation of less than four digits, and digits in either case.
COMMIT_ID_PATTERN = r"^[0-9a-fA-F]{4,64}$"
# What git-check-ref-format(1) forbids anywhere in a name.
FORBIDDEN_IN_REF = re.compile(r"[\x00-\x20\x7f ~^:?*\[\\]|\.\.|@\{|//")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def heads_ref(branch: str) -> Ref:
    """The full ref of a branch, so that a tag of the same name is never meant."""
    return Ref(f"refs/heads/{branch}")


def is_full_oid(text: str) -> bool:
    """Whether `text` is a full object id, of either hash."""
    return FULL_OID.fullmatch(text) is not None


def is_commit_id(text: str) -> bool:
    """Whether `text` has the form of an object id, full or abbreviated."""
    return re.fullmatch(COMMIT_ID_PATTERN, text) is not None


def accepted_forms(pattern: str) -> str:
    """Which branch names a wave lands, in words, as a hint."""
    if pattern == DEFAULT_BRANCH_PATTERN:
        forms = "`agent-<id>`, `worktree-agent-<id>` or `worktree-wf_<id>`"
        return f"accepted: {forms} (`wave.branchPattern` is {pattern})"
    return f"accepted: what matches `wave.branchPattern`, {pattern}"


def branch_name_error(name: str) -> str | None:
    """Why git would not take `name` for a branch, or None. The rules are git-check-ref-format's.

    >>> branch_name_error("agent-1")
    >>> branch_name_error("agent-1.lock")
    'no part of a branch name may end in .lock'
    """
    if not name or FORBIDDEN_IN_REF.search(name) or not is_encodable(name):
        return "it holds a character or sequence that git forbids in branch names"
    if name.startswith(("-", "/")) or name.endswith(("/", ".")) or name in ("@", "HEAD"):
        return "git does not allow a branch name that begins or ends so"
    for part in name.split("/"):
        if part.startswith("."):
            return "no part of a branch name may begin with a dot"
        if part.endswith(".lock"):
            return "no part of a branch name may end in .lock"
    return None


def is_encodable(text: str) -> bool:
    """Whether `text` is what UTF-8 can carry; JSON can smuggle in lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
