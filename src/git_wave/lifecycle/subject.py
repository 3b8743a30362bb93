"""Which worktree is meant, and what is known of it: from its path, or from the manifest and an agent's id."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.git.worktrees import spellings
from git_wave.model.entry import Entry, InvalidEntry
from git_wave.model.errors import GitError, Refusal, in_words
from git_wave.model.manifest import entries_in, manifest_from
from git_wave.model.names import Oid, Ref, accepted_forms, heads_ref
from git_wave.model.owner import Owner
from git_wave.model.reasons import Reason
from git_wave.state.manifest_file import load_document
from git_wave.state.owner import UnreadableOwner, load_owner


@dataclass(frozen=True, slots=True)
class Named:
    """What the command line said: a path, or a manifest and an agent in it, or all three."""

    path: Path | None
    manifest: Path | None
    agent_id: str | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A manifest's entry for the worktree: `raw` as the file holds it, `place` where it says the worktree is."""

    manifest: Path
    entry: Entry
    raw: Any
    place: Path


@dataclass(frozen=True, slots=True)
class Subject:
    """A linked worktree on a branch. `worktree` is None when the directory is gone and git still registers it.

    `base` is the commit that the branch forked from and `baseline` the one with the user's uncommitted work; None
    where nobody has said, or git has no such commit.
    """

    path: Path
    branch: str
    tip: Oid
    worktree: Worktree | None
    claim: Claim | None
    owner: Owner | None
    base: Oid | None
    baseline: Oid | None

    @property
    def ref(self) -> Ref:
        return heads_ref(self.branch)

    @property
    def agent_id(self) -> str | None:
        if self.claim and self.claim.entry.agent_id is not None:
            return self.claim.entry.agent_id
        return self.owner.agent_id if self.owner else None


def find_subject(named: Named, claim: Claim | None, reads: Reads, pattern: str, *, strict: bool = True) -> Subject:
    """The worktree that is meant, standing on a branch with nothing in progress. Raises Refusal.

    `claim` is what `find_claim` gave, `pattern` the one for branches. Unless `strict`, a manifest that only the
    owner's record names may be unreadable.
    """
    path = place_of(named, claim)
    found = reads.presence(path)
    if found is Presence.GONE:
        return registered_subject(path, claim, reads)
    try:
        require_linked(path, reads)
        worktree = reads.worktree_at(path)
        tip, branch = standing(worktree, reads)
    except (BrokenLink, OSError) as error:
        raise Refusal(Reason.NOT_A_WORKTREE, f"{path}: {in_words(error)}") from error
    except GitError as error:
        raise Refusal(Reason.DIRT_CHECK_FAILED, str(error)) from error
    owner = owner_of(worktree, branch)
    if claim is None and named.manifest is None and owner and owner.manifest:
        try:
            claim = owners_claim(Path(os.path.realpath(owner.manifest)), path, owner, reads.layout.root, pattern)
        except Refusal:
            if strict:
                raise
    require_claimed(path, branch, claim)
    return complete(Subject(path, branch, tip, worktree, claim, owner, None, None), reads)


def place_of(named: Named, claim: Claim | None) -> Path:
    """Where to look. A path that was typed may be any spelling; one in a manifest must not be a symbolic link."""
    if claim is not None:
        return claim.place
    if named.path is None or named.manifest is not None:
        who = f"agent {named.agent_id}" if named.agent_id is not None else str(named.path)
        raise Refusal(Reason.UNKNOWN_AGENT, f"{named.manifest} has no entry for {who}")
    try:
        return named.path.resolve(strict=True)
    except OSError:
        return real_but_last(named.path)


def real_but_last(path: Path) -> Path:
    path = Path(os.path.normpath(path)) if path.name == ".." else path
    return Path(os.path.realpath(path.parent), path.name)


def require_linked(path: Path, reads: Reads) -> None:
    try:
        main = reads.registrations[0].path if reads.registrations else ""
    except GitError as error:
        raise Refusal(Reason.NOT_A_WORKTREE, str(error)) from error
    if os.path.realpath(main) == os.path.realpath(path):
        raise Refusal(Reason.MAIN_WORKTREE, f"{path} is the main worktree")


def standing(worktree: Worktree, reads: Reads) -> tuple[Oid, str]:
    """The commit and the branch that a worktree stands on. Raises Refusal, GitError or OSError."""
    if operations := reads.operations_in(worktree):
        raise Refusal(Reason.OPERATION_IN_PROGRESS, "\n".join(f"{name} in progress" for name in operations))
    tip, ref = reads.worktree_head(worktree)
    if not ref.startswith("refs/heads/"):
        raise Refusal(Reason.DETACHED_HEAD, f"{worktree.path} is on no branch")
    if tip is None:
        raise Refusal(Reason.UNBORN_HEAD, f"{worktree.path}: {ref} has no commit yet")
    return tip, ref.removeprefix("refs/heads/")


def registered_subject(path: Path, claim: Claim | None, reads: Reads) -> Subject:
    """A worktree whose directory is gone: git's registration is all that tells of it."""
    try:
        registration = reads.registration(path)
        if registration is None:
            raise Refusal(Reason.NOT_A_WORKTREE, f"nothing stands at {path}, and git registers nothing there")
        if registration.branch is None:
            raise Refusal(Reason.DETACHED_HEAD, f"{path} was on no branch")
        tip = reads.objects.commit(registration.branch)
    except GitError as error:
        raise Refusal(Reason.NOT_A_WORKTREE, str(error)) from error
    branch = registration.branch.removeprefix("refs/heads/")
    if tip is None:
        raise Refusal(Reason.BRANCH_MISMATCH, f"{path} is registered on {branch}, which does not exist")
    require_claimed(path, branch, claim)
    return complete(Subject(path, branch, tip, None, claim, None, None, None), reads)


def require_claimed(path: Path, branch: str, claim: Claim | None) -> None:
    if claim and claim.entry.branch != branch:
        raise Refusal(Reason.BRANCH_MISMATCH, f"{path} is on {branch}, its entry says {claim.entry.branch}")


def owner_of(worktree: Worktree, branch: str) -> Owner | None:
    """The owner on record. One that cannot be read, or is of another branch, tells nothing."""
    try:
        owner = load_owner(worktree.admin)
    except UnreadableOwner:
        return None
    return owner if owner and owner.branch == branch else None


def complete(subject: Subject, reads: Reads) -> Subject:
    """With base and baseline as commits: from the entry, else from the owner's record. Raises Refusal."""
    entry, owner = subject.claim.entry if subject.claim else None, subject.owner
    try:
        base = commit_of((entry.expected_base if entry else None, owner.base if owner else None), reads)
        baseline = commit_of((entry.baseline if entry else None, owner.baseline if owner else None), reads)
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    facts = (subject.path, subject.branch, subject.tip, subject.worktree, subject.claim, subject.owner)
    return Subject(*facts, base, baseline)


def commit_of(ids: tuple[str | None, ...], reads: Reads) -> Oid | None:
    """The commit of the first id that has one here."""
    return next((oid for one in ids if one and (oid := reads.commit_by_id(one))), None)


def find_claim(named: Named, root: Path, pattern: str) -> Claim | None:
    """The entry of the manifest that was named. None without a manifest, or when it has none such.

    Raises Refusal when the manifest cannot be read, or its entry cannot be used or singled out.
    """
    if named.manifest is None:
        return None
    claims = claims_in(named.manifest, root, pattern, named.agent_id)
    if named.path is not None:
        claims = [claim for claim in claims if is_at(claim, named.path)]
    if len(claims) > 1:
        places = ", ".join(str(claim.place) for claim in claims)
        raise Refusal(Reason.UNKNOWN_AGENT, f"several entries; name the path of one as well: {places}")
    return claims[0] if claims else None


def claims_in(manifest: Path, root: Path, pattern: str, agent_id: str | None = None) -> list[Claim]:
    """The entries of a manifest, of one agent or of all. Raises Refusal."""
    document = load_document(manifest)
    raw, known = entries_in(document), manifest_from(document, pattern)
    for entry in known.entries:
        if isinstance(entry, InvalidEntry) and agent_id is not None and entry.as_json()["agent_id"] == agent_id:
            raise Refusal(Reason.INVALID_ENTRY, "; ".join(map(str, entry.problems)))
    home = Path(known.orchestrator_root or root)
    return [
        Claim(manifest, entry, raw[entry.index], real_but_last(home / entry.worktree_path))
        for entry in known.usable
        if agent_id in (None, entry.agent_id)
    ]


def is_at(claim: Claim, path: Path) -> bool:
    return str(claim.place) in (*spellings(path), os.path.realpath(path))


def owners_claim(manifest: Path, path: Path, owner: Owner, root: Path, pattern: str) -> Claim | None:
    """The entry in the manifest that the owner's record names; None where that has gone since."""
    if not os.path.lexists(manifest):
        return None
    found = claims_in(manifest, root, pattern, owner.agent_id)
    return next((c for c in found if is_at(c, path) and c.entry.branch == owner.branch), None)


def require_namespace(branch: str, pattern: str) -> None:
    """Only branches of the namespace are ever deleted. Raises Refusal."""
    if re.search(pattern, branch) is None:
        raise Refusal(Reason.INVALID_ENTRY, f"branch {branch}: {accepted_forms(pattern)}")


def home_of(door: Door, layout: Layout, named: Named, pattern: str) -> Layout:
    """Where to work from in order to remove what was named. Raises Refusal."""
    with Reads(door, layout) as reads:
        claim = find_claim(named, layout.root, pattern)
        path = place_of(named, claim) if claim or named.manifest is None else None
        return home_layout(layout, reads, path)


def home_layout(layout: Layout, reads: Reads, path: Path | None) -> Layout:
    """A layout whose root is not the worktree at `path`, which may be about to go. Raises Refusal."""
    if layout.root != path:
        return layout
    try:
        main = Path(os.path.realpath(reads.registrations[0].path))
    except GitError as error:
        raise Refusal(Reason.GIT_FAILED, str(error)) from error
    if main != layout.common_dir and reads.presence(main) is Presence.PRESENT:
        return Layout(main, layout.common_dir, layout.common_dir)
    return Layout(layout.common_dir, layout.common_dir, layout.common_dir)


def work_of(subject: Subject, tip: Oid, reads: Reads) -> list[str] | None:
    """What the branch holds beyond its base and its baseline, in words; None when nobody knows either.

    A branch without commits of its own may still hold another tree: one that was moved back. Raises GitError.
    """
    known = [oid for oid in (subject.base, subject.baseline) if oid]
    if not known:
        return None
    if beyond := reads.commits_beyond(tip, known):
        return beyond
    if reads.objects.tree(tip) in {reads.objects.tree(oid) for oid in known}:
        return []
    return [f"the tree of {tip} is neither that of the base nor that of the baseline"]
