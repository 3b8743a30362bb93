"""What every code means and what to do about it: the one registry.

`git wave explain`, the table's last column and docs/REASONS.md are made from it, in this order.
"""

from __future__ import annotations

from git_wave.model.explanations._form import Explanation, Kind
from git_wave.model.explanations.creation import CREATION
from git_wave.model.explanations.entries import ENTRIES
from git_wave.model.explanations.harness import HARNESS
from git_wave.model.explanations.lifecycle import LIFECYCLES
from git_wave.model.explanations.reclaim import RECLAIM
from git_wave.model.explanations.runs import RUNS
from git_wave.model.reasons import Reason

EXPLANATIONS: dict[Reason, Explanation] = {
    **ENTRIES,
    **RECLAIM,
    **RUNS,
    **HARNESS,
    **CREATION,
    **LIFECYCLES,
}

__all__ = ["EXPLANATIONS", "Explanation", "Kind", "next_step"]


def next_step(reason: Reason) -> str:
    """What to do about it, in a few words where there are such."""
    return EXPLANATIONS[reason].next_step or EXPLANATIONS[reason].advice
