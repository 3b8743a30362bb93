"""How a wave has the gates look at an entry's worktree: anywhere, with the rescued SUMMARYs counting as safe."""

from __future__ import annotations

from git_wave.gates import Inspection, Terms
from git_wave.git.reads import Reads
from git_wave.model.ignored import IgnoredOutput
from git_wave.stages._case import Case


def inspection_of(case: Case, reads: Reads, *, full_census: bool) -> Inspection:
    terms = Terms(
        safe=frozenset(case.rescued),
        regenerable=case.terms.regenerable,
        ignored_blocks=case.terms.ignored_output is IgnoredOutput.BLOCK,
        full_census=full_census,
    )
    return Inspection(reads, terms)
