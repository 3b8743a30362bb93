"""Does it hold ignored files that no build makes again?"""

from __future__ import annotations

from git_wave.gates._answer import Answer, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.kept import sort_ignored


def check(subject: Subject) -> Answer:
    ignored = (path for path in subject.look.ignored if path not in subject.terms.safe)
    output = sort_ignored(subject.worktree.path, ignored, subject.terms.regenerable).keep
    if not output:
        return clear()
    more = f" and {len(output) - 1} more" if len(output) > 1 else ""
    return blocks(Reason.IGNORED_OUTPUT_BLOCKS, f"{shown(output[0])}{more}")


GATE = Gate("ignored_output", "Does it hold ignored files that no build makes again?", check)
