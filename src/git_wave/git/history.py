"""Questions about objects and refs: what forked where, what differs, what is in what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property
from typing import Self

from git_wave.git.answer import Answer
from git_wave.git.door import Door
from git_wave.git.layout import Layout
from git_wave.git.objects import Objects
from git_wave.git.parse import TRACKING, Difference, Tracking, parse_diff_raw, parse_merge_tree, parse_tracking
from git_wave.model.errors import GitError
from git_wave.model.names import Oid, Ref, heads_ref, is_commit_id

# diff-tree is plumbing and heeds little config; these are what it does heed.
DIFF_PINS = {"diff.renameLimit": "1000", "diff.orderFile": "/dev/null", "diff.ignoreSubmodules": "none"}
MERGE_PINS = {
    "merge.renames": "true",
    "merge.directoryRenames": "conflict",
    "merge.renameLimit": "7000",
    "merge.conflictStyle": "merge",
}


def lines_of(text: str) -> list[str]:
    """Lines as git ends them: `splitlines` also splits at characters that a ref's name may hold, such as U+2028."""
    return text.removesuffix("\n").split("\n") if text else []


class Differences:
    """The differences between two commits, kept in a file by the answer: read again, not held in memory."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[Difference]:
        try:
            yield from parse_diff_raw(self._answer.records())
        except (ValueError, StopIteration, RuntimeError) as error:
            raise GitError(self._answer.argv, self._answer.code, str(error)) from error


class HistoryReads:
    """Reads that need no working tree."""

    def __init__(self, door: Door, layout: Layout) -> None:
        self._door = door
        self.layout = layout
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._resources.close()

    @cached_property
    def objects(self) -> Objects:
        # Not in the checkout: whoever asks who is at work there would find it.
        command = [f"--git-dir={self.layout.git_dir}", "cat-file", "--batch-command", "-z"]
        conversation = self._door.open(self.layout.common_dir, command)
        objects = Objects(conversation, self._exact_ref, self._found_commit)
        self._resources.callback(objects.close)
        return objects

    def tip_of(self, ref: Ref) -> Oid | None:
        """What a full ref is at, by a process that ends at once; None when that cannot be told."""
        return self._exact_ref(ref)

    def _exact_ref(self, ref: str) -> Oid | None:
        answer = self._door.run(self.layout.root, ["show-ref", "--verify", "--hash", ref], ok=(0, 1, 128))
        return Oid(answer.text.strip()) if answer.code == 0 else None

    def _found_commit(self, name: str) -> Oid | None:
        command = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
        answer = self._door.run(self.layout.root, command, ok=(0, 1, 128))
        return Oid(answer.text.strip()) if answer.code == 0 else None

    def commit_by_id(self, oid: str) -> Oid | None:
        """The commit whose id is, or begins with, `oid`, and no branch or tag that is called so.

        None for what is no id, and where no commit or several begin so. Raises GitError.
        """
        found = self.objects.commit(oid) if is_commit_id(oid) else None
        if found is None or found.startswith(oid.lower()):
            return found
        # Git took a ref of that name, which comes before an abbreviated id; or it is the id of a tag's object.
        begin_so = self._door.run(self.layout.root, ["rev-parse", f"--disambiguate={oid}"]).text.split()
        commits = {commit for one in begin_so if (commit := self.objects.commit(one))}
        return commits.pop() if len(commits) == 1 else None

    def has_branches_below(self, branch: str) -> bool:
        """Whether there are branches `<branch>/...`, beside which there cannot be one of that name."""
        command = ["for-each-ref", "--count=1", "--format=%(refname)", f"refs/heads/{branch}/"]
        return bool(self._door.run(self.layout.root, command).text.strip())

    def merge_bases(self, one: Oid, other: Oid) -> tuple[Oid, ...]:
        """Every best common ancestor; none for unrelated histories."""
        answer = self._door.run(self.layout.root, ["merge-base", "--all", one, other], ok=(0, 1))
        return tuple(Oid(line) for line in answer.text.split())

    def differences(self, base: Oid, tip: Oid) -> Differences:
        """What `tip` changes, renames by git's own similarity whatever the user's config says."""
        command = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "-M50%",
            "-l1000",
            base,
            tip,
        ]
        return Differences(self._door.run(self.layout.root, command, settings=DIFF_PINS))

    def changed_paths(self, base: Oid, tip: Oid) -> Iterator[str]:
        """Every path that `tip` changes, both sides of a rename."""
        command = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tip]
        return self._door.run(self.layout.root, command, settings=DIFF_PINS).records()

    def merged_tree(self, target: Oid, tip: Oid) -> tuple[Oid, tuple[str, ...]]:
        """The tree that merging would make, and the paths that conflict. Touches no working tree."""
        command = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", target, tip]
        answer = self._door.run(self.layout.root, command, ok=(0, 1), settings=MERGE_PINS)
        try:
            tree, conflicts = parse_merge_tree(answer.records())
        except ValueError as error:
            raise answer.error() from error
        return tree, conflicts or (("(git does not say where)",) if answer.code else ())

    def commits_beyond(self, tip: Oid, known: Iterable[Oid]) -> list[str]:
        """Id and subject of every commit that `tip` has and none of `known` has, newest first. Raises GitError."""
        command = ["log", "-z", "--format=%H %s", tip, *(f"^{oid}" for oid in known), "--"]
        answer = self._door.run(self.layout.root, command, settings={"log.showSignature": "false"})
        return [record for record in answer.records() if record]

    def commits_outside(self, tip: Oid, *refs: str) -> int:
        """How many commits of `tip` no ref among these reaches; without any, no remote-tracking ref."""
        without = [f"^{ref}" for ref in refs] or ["--not", "--remotes"]
        return int(self._door.run(self.layout.root, ["rev-list", "--count", tip, *without, "--"]).text)

    def unmerged(self, tips: Iterable[Oid], base: Oid, most: int) -> dict[Oid, tuple[Oid, ...]] | None:
        """The commits of these tips that `base` lacks, each with its parents; None when there are more than `most`."""
        asked = "".join(f"{oid}\n" for oid in (*tips, f"^{base}"))
        command = ["rev-list", "--parents", f"--max-count={most + 1}", "--stdin"]
        lines = self._door.run(self.layout.root, command, stdin=asked.encode()).text.splitlines()
        if len(lines) > most:
            return None
        listed = (line.split(" ") for line in lines)
        return {Oid(commit): tuple(map(Oid, parents)) for commit, *parents in listed}

    def commit_count(self, tip: Oid, without: Iterable[Oid]) -> int:
        """How many commits of `tip` none of the others reaches."""
        command = ["rev-list", "--count", tip, *(f"^{oid}" for oid in without), "--"]
        return int(self._door.run(self.layout.root, command).text)

    def ahead_behind(self, tip: Oid, base: Oid) -> tuple[int, int]:
        """How many commits `tip` has that `base` lacks, and the other way round."""
        command = ["rev-list", "--left-right", "--count", f"{tip}...{base}", "--"]
        ahead, behind = self._door.run(self.layout.root, command).text.split()
        return int(ahead), int(behind)

    def tracking(self, branches: Iterable[Ref]) -> dict[Ref, Tracking]:
        """Of these branches those that have an upstream which is there: how far they are from it."""
        refs = list(branches)
        if not refs:
            return {}
        command = ["for-each-ref", f"--format={TRACKING}", *refs]
        answer = self._door.run(self.layout.root, command)
        try:
            return {one.branch: one for one in parse_tracking(lines_of(answer.text))}
        except ValueError as error:
            raise answer.error() from error

    def upstreams(self) -> dict[Ref, Ref]:
        """The upstream of each branch that has one which is there."""
        command = ["for-each-ref", "--format=%(refname)%00%(upstream)", "refs/heads/", "refs/remotes/"]
        found = dict(line.split("\0") for line in lines_of(self._door.run(self.layout.root, command).text))
        return {Ref(ref): Ref(upstream) for ref, upstream in found.items() if upstream in found}

    def has_remote(self) -> bool:
        """Whether a remote is configured, or a remote-tracking ref is left of one."""
        configured = ["config", "--get-regexp", r"^remote\..+\.url$"]
        if self._door.run(self.layout.root, configured, ok=(0, 1)).code == 0:
            return True
        listed = ["for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes/"]
        return bool(self._door.run(self.layout.root, listed).text.strip())

    def default_ref(self, main_head: str | None) -> Ref | None:
        """The default branch: what the remote `origin` says, what new repositories are to begin with, `main`,
        `master`, and then `main_head`, the branch of the main worktree. None when there is none of them.
        """
        head = self._door.run(self.layout.root, ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"], ok=(0, 1))
        named = self._door.run(self.layout.root, ["config", "--get", "init.defaultBranch"], ok=(0, 1))
        branches = (named.text.removesuffix("\n"), "main", "master")
        candidates = [head.text.strip(), *(heads_ref(name) for name in branches if name), main_head or ""]
        return next((Ref(ref) for ref in candidates if ref and self._exact_ref(ref)), None)

    def merges_with_subject(self, head: Oid, subject: str) -> list[tuple[Oid, Oid, Oid]]:
        """Merges in the history of `head` with exactly that subject: (merge, first parent, second), newest first."""
        command = ["log", "-z", "--merges", "--fixed-strings", f"--grep={subject}", "--format=%H %P %s", head, "--"]
        records = self._door.run(self.layout.root, command, settings={"log.showSignature": "false"}).records()
        found = (record.split(" ", 3) for record in records if record.count(" ") > 2)
        return [(Oid(m), Oid(one), Oid(two)) for m, one, two, said in found if said == subject]

    def all_patches_in(self, head: Oid, tip: Oid) -> bool:
        """Whether `head` has every commit of `tip` as an equal patch, and none of them taken back.

        A merge among them is no patch: then no.
        """
        command = ["rev-list", "--max-count=1", "--merges", tip, f"^{head}"]
        if self._door.run(self.layout.root, command).text.strip():
            return False
        wanted, there = self._patch_ids(tip, head), self._patch_ids(head, tip)
        return bool(wanted) and wanted <= there and there.isdisjoint(self._patch_ids(tip, head, "-R"))

    def _patch_ids(self, of: Oid, without: Oid, *flags: str) -> frozenset[str]:
        """The patches of `of` that are not in `without`. Verbatim: to `git cherry`, indentation is no difference.

        Raises GitError, also where git has no `--verbatim` (before 2.39).
        """
        commits = self._door.run(self.layout.root, ["rev-list", "--no-merges", of, f"^{without}"]).text
        command = ["diff-tree", "--stdin", "--root", "-p", "--no-renames", "--no-prefix", "--no-ext-diff", *flags]
        patches = self._door.run(
            self.layout.root, [*command, "--no-textconv"], stdin=commits.encode(), settings=DIFF_PINS
        )
        ids = self._door.run(self.layout.root, ["patch-id", "--verbatim"], stdin=patches.bytes).text
        return frozenset(line.split(" ", 1)[0] for line in ids.splitlines())

    def first_reflog_message(self, ref: Ref) -> str:
        """What the oldest reflog entry of `ref` says; "" when it has none."""
        command = ["log", "--walk-reflogs", "--format=%gs", ref, "--"]
        lines = self._door.run(self.layout.root, command, settings={"log.showSignature": "false"}).text.splitlines()
        return lines[-1] if lines else ""

    def backup_refs(self) -> dict[Ref, Oid]:
        """Every ref of ours with the commit it keeps."""
        answer = self._door.run(
            self.layout.root, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/git-wave/"]
        )
        pairs = (line.split(" ", 1) for line in lines_of(answer.text))
        return {Ref(name): Oid(oid) for oid, name in pairs}

    def backups_of(self, branch: str) -> list[tuple[Oid, Oid]]:
        """For each run that kept a backup of that branch: the HEAD it began with, and the branch's tip."""
        refs = self.backup_refs()
        runs = {ref.split("/")[2] for ref in refs if ref.endswith(f"/heads/{branch}")}
        pairs = (
            (refs.get(Ref(f"refs/git-wave/{r}/head")), refs.get(Ref(f"refs/git-wave/{r}/heads/{branch}"))) for r in runs
        )
        return [(head, tip) for head, tip in pairs if head and tip]
