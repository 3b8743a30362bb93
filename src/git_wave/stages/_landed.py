"""Is it all there already? Proofs that an entry's work is in the target, for a command that is run again.

A wave that was cut short, or a person who merged, squashed or rebased by hand, leaves entries that need no merge
any more. Only proofs count: the pinned commit is in the target's history; merging it would change nothing; each of
its patches is there; or a wave is on record to have landed it, and its commit is still in the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from git_wave.git.reads import Reads
from git_wave.model.entry import lexical
from git_wave.model.errors import GitError
from git_wave.model.messages import subjects
from git_wave.model.names import Oid
from git_wave.model.reasons import Reason
from git_wave.stages._case import Case, Go


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit of this entry's branch that is in the target; `merge` is the commit that brought it, if known."""

    tip: Oid
    merge: Oid | None


def nothing_left_to_judge(case: Case, merge: Oid | None = None) -> Go:
    """Go on with an entry whose work is in the target: its own tip counts as the base from here on."""
    return Go(case.knowing(base=case.tip, merge_commit=merge, reason=Reason.ALREADY_LANDED))


def is_in_target(tip: Oid, case: Case, reads: Reads) -> bool:
    """Whether the target's history holds `tip`. Raises GitError."""
    return reads.merge_bases(case.target.oid, tip) == (tip,)


def is_contained(tip: Oid, case: Case, reads: Reads) -> bool:
    """Whether the target holds all that `tip` changes, though not its commits. Raises GitError.

    A branch whose commits change nothing at all is no proof of anything, and is merged as any other.
    """
    target = case.target.oid
    bases = reads.merge_bases(target, tip)
    if len(bases) != 1 or next(iter(reads.differences(bases[0], tip)), None) is None:
        return False
    tree, conflicts = reads.merged_tree(target, tip)
    if not conflicts:
        return tree == reads.objects.tree(target)
    return reads.all_patches_in(target, tip)


def earlier_landings(case: Case, reads: Reads) -> list[Landing]:
    """What earlier waves brought of this entry's branch and is still in the target, newest first.

    From the journals; and without them from our backups, and from merges in the target's history that carry our
    subject, where the branch forked from what this entry says. Raises GitError.
    """
    entry, root = case.entry, str(reads.layout.root)
    recorded = [
        Landing(Oid(line["tip"]), line["merge_commit"] and Oid(line["merge_commit"]))
        for line in case.terms.earlier.landed
        if line["branch"] == entry.branch
        and line["expected_base"] == entry.expected_base
        and lexical(str(line["worktree_path"])) in (entry.key(root)[0], lexical(entry.worktree_path))
        and reads.objects.commit(line["tip"])
    ]
    found = [landing for landing in recorded if stands(landing.tip, case, reads)]
    known = {landing.tip for landing in found}
    # What a journal knows to be another entry's is not taken for this one's.
    known |= {Oid(line["tip"]) for line in case.terms.earlier.landed}
    allowed = {case.terms.bases.get(name) for name in entry.allowed_bases} | {landing.tip for landing in found}
    for landing, fork in evidence(case, reads):
        if landing.tip in known or not allowed.issuperset(reads.merge_bases(fork, landing.tip)):
            continue
        if is_in_target(landing.tip, case, reads):
            found.append(landing)
            known.add(landing.tip)
            allowed.add(landing.tip)
    return found


def evidence(case: Case, reads: Reads) -> Iterator[tuple[Landing, Oid]]:
    """Landings of a branch of this name that need no journal, each with a commit that it forked from.

    Merges oldest first: a later landing of the same branch forked from an earlier one.
    """
    for subject in subjects(case.terms.merge_message, case.entry.branch, case.entry.agent_id):
        for merge, into, tip in reversed(reads.merges_with_subject(case.target.oid, subject)):
            yield Landing(tip, merge), into
    for head, tip in reads.backups_of(case.entry.branch):
        yield Landing(tip, None), head


def stands(tip: Oid, case: Case, reads: Reads) -> bool:
    return is_in_target(tip, case, reads) or is_contained(tip, case, reads)


def finished(case: Case, reads: Reads) -> Landing | None:
    """The landing of an entry of which nothing is left: no worktree, no registration, no branch."""
    try:
        landings = earlier_landings(case, reads)
    except GitError:
        return None
    return landings[0] if landings else None
