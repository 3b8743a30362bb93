"""One `git cat-file` that lives as long as the wave and answers what would otherwise be a process each."""

from __future__ import annotations

import re
from collections.abc import Callable

from git_wave.git.conversation import Conversation
from git_wave.git.parse import require_oid
from git_wave.model.errors import GitError
from git_wave.model.names import Oid

HEADER = re.compile(rb"([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)")
GUESSES = ("refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD")
"""Where git looks next for a name that is not there as it stands (gitrevisions(7))."""
ABSENT = (b" missing", b" ambiguous")
SEARCHES = ("@{", ":/", "^{/")
"""What may end git where it leads nowhere, and with it the whole conversation."""


class Objects:
    """Objects and refs by name. Refs are looked up afresh at every question."""

    def __init__(
        self, conversation: Conversation, exactly: Callable[[str], Oid | None], aside: Callable[[str], Oid | None]
    ) -> None:
        self._conversation = conversation
        self._exactly = exactly
        self._aside = aside

    def commit(self, name: str) -> Oid | None:
        """The commit that `name` means, None when there is none or several. Raises GitError.

        A full ref name means that ref and no other: where git's guessing could find one under the same name
        (`refs/tags/refs/heads/x`), the ref itself is asked for, in a process of its own. So is a name that searches.
        """
        if any(sign in name for sign in SEARCHES):
            return self._aside(name)
        if name.startswith("refs/") and any(self._info(rule % name) for rule in GUESSES):
            return self._exactly(name)
        found = self._info(f"{name}^{{commit}}")
        return require_oid(found[1].decode()) if found else None

    def exists(self, tree_ish: Oid, path: str) -> bool:
        """Whether `path` is in that commit."""
        return self._info(f"{tree_ish}:{path}") is not None

    def parents(self, commit: Oid) -> tuple[Oid, ...]:
        """The parents of a commit, in order. Raises GitError when it cannot be read."""
        found = self._ask("contents", commit)
        if found is None or found[2] != b"commit":
            raise GitError(("cat-file", commit), None, f"commit {commit} cannot be read")
        size = int(found[3])
        head = self._conversation.read(size + 1)[:size].partition(b"\n\n")[0]
        return tuple(require_oid(line[7:].decode()) for line in head.split(b"\n") if line.startswith(b"parent "))

    def tree(self, commit: Oid) -> Oid:
        """The tree of a commit. Raises GitError."""
        found = self._info(f"{commit}^{{tree}}")
        if found is None:
            raise GitError(("cat-file", commit), None, f"commit {commit} has no tree that can be read")
        return require_oid(found[1].decode())

    def close(self) -> None:
        self._conversation.close()

    def _info(self, name: str) -> re.Match[bytes] | None:
        return self._ask("info", name)

    def _ask(self, command: str, name: str) -> re.Match[bytes] | None:
        raw = name.encode("utf-8", "surrogateescape")
        self._conversation.ask(command.encode() + b" " + raw + b"\0")
        line = self._conversation.read_line()
        if header := HEADER.fullmatch(line):
            return header
        # The name comes back with the answer, line feeds of its own included.
        for _ in range(raw.count(b"\n")):
            line += b"\n" + self._conversation.read_line()
        if line not in tuple(raw + word for word in ABSENT):
            raise GitError(("cat-file", name), None, line.decode("utf-8", "replace"))
        return None
