"""Does it hold ignored files that no build makes again?

What the main worktree has at the same path, byte for byte, is none: such as a `.env` that was copied into the worktree
when it was made.
"""

from __future__ import annotations

from git_wave.gates._answer import Answer, blocks, clear
from git_wave.gates._subject import Gate, Subject
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.state.copies import is_copy
from git_wave.state.kept import sort_ignored


def check(subject: Subject) -> Answer:
    ignored = (path for path in subject.look.ignored if path not in subject.terms.safe)
    home, tree = subject.inspection.main_root, subject.worktree.path
    unmade = sort_ignored(tree, ignored, subject.terms.regenerable).keep
    output = [path for path in unmade if not is_copy(tree / path, home / path)]
    if not output:
        return clear()
    more = f" and {len(output) - 1} more" if len(output) > 1 else ""
    return blocks(Reason.IGNORED_OUTPUT_BLOCKS, f"{shown(output[0])}{more}")


GATE = Gate("ignored_output", "Does it hold ignored files that no build makes again?", check)
