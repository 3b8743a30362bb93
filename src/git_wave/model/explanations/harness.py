"""What the commands around a wave say: doctor, hooks."""

from __future__ import annotations

from git_wave.model.explanations._form import Explanation, Kind
from git_wave.model.reasons import Reason

HARNESS: dict[Reason, Explanation] = {
    Reason.PROBLEMS_FOUND: Explanation(
        (Kind.HARNESS,),
        "",
        "`git wave doctor` found something that is in the way of a wave, or that it could not check.",
        "Do what is said beside each problem, then ask again.",
    ),
}
