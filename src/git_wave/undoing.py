"""Taking a wave back, and taking that back too.

What a wave did is read from its journal, and what stands now from git. Everything is checked before anything is
changed; each step then finds out whether it has been made already, so that an undo that was cut short is finished
by the same command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from git_wave.gates import Inspection, Terms, Verb, judge
from git_wave.git.links import BrokenLink, Worktree
from git_wave.git.presence import Presence
from git_wave.git.reads import Reads
from git_wave.model.errors import GitError, Refusal
from git_wave.model.names import Oid, heads_ref
from git_wave.model.paths import shown
from git_wave.model.reasons import Reason
from git_wave.running import Run
from git_wave.stages._case import Hands
from git_wave.stages._obstacles import edits_in_the_way, standing_in_the_way
from git_wave.state.journal import Event, History
from git_wave.state.kept import kept_place, sort_ignored


@dataclass(frozen=True, slots=True)
class Step:
    """One change, in words and as a call."""

    words: str
    make: Callable[[], object]


@dataclass(slots=True)
class Plan:
    """What taking a run back would do, what stands against it, and how to do it by hand."""

    history: History
    head_from: Oid
    head_to: Oid
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    tips: dict[str, Oid] = field(default_factory=dict)

    @property
    def reverts(self) -> list[str]:
        """The commands that take the merges back one by one, newest first."""
        commits = [str(done["commit"]) for _, done in self.history.intents("merge") if done and done.get("commit")]
        return [f"git revert -m 1 {commit}" for commit in reversed(commits)]


def undone_by(histories: Iterable[History]) -> dict[str, str]:
    """Run id -> id of the undo that took it back and stands. An undo that was undone counts for nothing."""
    standing: dict[str, str] = {}
    for history in histories:
        undoes = (history.began or {}).get("undoes")
        if undoes and history.ended and history.ended["ok"]:
            # Taking an undo back makes what it had undone stand again.
            for redone in [run for run, undo in standing.items() if undo == undoes]:
                del standing[redone]
            standing[str(undoes)] = history.id
    return standing


def choose(histories: list[History], run_id: str | None) -> History:
    """The run to take back: the one named, or the newest wave that moved something and still stands."""
    undone = undone_by(histories)
    if run_id is not None:
        found = next((history for history in histories if history.id == run_id and history.began), None)
        if found is None:
            raise Refusal(Reason.UNKNOWN_WAVE, f"no journal of a run {run_id}")
        if not found.is_wave:
            raise Refusal(Reason.NOTHING_TO_UNDO, f"{run_id} is no wave; `git wave restore` takes a discard back")
        if run_id in undone:
            raise Refusal(Reason.NOTHING_TO_UNDO, f"{run_id} was taken back by {undone[run_id]}")
        return found
    for history in reversed(histories):
        if (
            history.began
            and history.began["kind"] == "wave"
            and history.id not in undone
            and changed_something(history)
        ):
            return history
    raise Refusal(Reason.NOTHING_TO_UNDO, "no wave on record has anything left to take back")


def changed_something(history: History) -> bool:
    return any(event["event"] == "done" and "commit" in event for event in history.events) or any(
        True for action in ("delete_branch", "remove_worktree") for _ in history.intents(action)
    )


def wave_of(history: History, histories: Iterable[History]) -> tuple[History, bool]:
    """The wave that a run is about in the end, and whether taking the run back brings that wave's work in again.

    An undo of an undo of a wave leaves the wave standing, so taking that back is taking the wave back; and so on.
    """
    known = {one.id: one for one in histories}
    again = False
    while (undoes := (history.began or {}).get("undoes")) is not None:
        if undoes not in known:
            raise Refusal(Reason.UNKNOWN_WAVE, f"the journal of {undoes}, which {history.id} took back, is gone")
        history, again = known[undoes], not again
    return history, again


def plan_undo(chosen: History, histories: Iterable[History], run: Run) -> Plan:
    """What it takes to take `chosen` back, as that run. Raises GitError when git cannot tell."""
    reads, hands = run.reads, run.hands
    wave, again = wave_of(chosen, histories)
    began = wave.began
    if began is None or wave.head is None:
        raise Refusal(Reason.UNKNOWN_WAVE, f"the journal of {wave.id} has no beginning")
    before, after = Oid(began["head"]), Oid(wave.head)
    plan = Plan(wave, before, after) if again else Plan(wave, after, before)
    if chosen is not wave and not (chosen.ended and chosen.ended["ok"]):
        plan.problems.append(f"{chosen.id} did not finish; run the same undo again instead")
    check_target(plan, began, reads)
    if again:
        plan_clearing(plan, run)
        plan_target(plan, reads, hands)
    else:
        plan.problems += strangers(plan, reads)
        plan_target(plan, reads, hands)
        plan_branches(plan, reads, hands)
        plan_worktrees(plan, reads, hands)
    return plan


def check_target(plan: Plan, began: Event, reads: Reads) -> None:
    """Is the target checked out here, where the run left it (or already back), with nothing in progress?"""
    look = reads.target_look()
    if look.branch is None or heads_ref(look.branch) != began["target"]:
        plan.problems.append(f"the checkout is on {look.branch or 'no branch'}, not on {began['target']}")
    elif look.oid not in (plan.head_from, plan.head_to):
        plan.problems.append(f"{look.branch} is at {look.oid}: something landed on top of {plan.head_from}")
    plan.problems += [f"{operation} in progress" for operation in reads.operations()]
    plan.problems += [f"staged: {shown(path)}" for path in look.staged]
    if look.oid != plan.head_to and not plan.problems:
        changed = reads.differences(plan.head_from, plan.head_to)
        plan.problems += [f"edited: {shown(path)}" for path in edits_in_the_way(changed, look, reads)]
        plan.problems += [f"in the way: {shown(path)}" for path in standing_in_the_way(changed, reads)]


def strangers(plan: Plan, reads: Reads) -> list[str]:
    """Commits between the two heads that are no merges of this run: somebody else's, which an undo would drop."""
    ours = {done["commit"] for _, done in plan.history.intents("merge") if done and done.get("commit")}
    commit, found = plan.head_from, []
    while commit != plan.head_to:
        if commit not in ours:
            found.append(f"not a merge of this wave: {commit}")
        parents = reads.objects.parents(commit)
        if not parents:
            break
        commit = parents[0]
    return found


def plan_target(plan: Plan, reads: Reads, hands: Hands) -> None:
    if reads.objects.commit("HEAD") != plan.head_to:
        words = f"move the target from {plan.head_from} to {plan.head_to}"
        plan.steps.append(Step(words, lambda: hands.git.move_target(plan.head_to, plan.head_from)))


def plan_branches(plan: Plan, reads: Reads, hands: Hands) -> None:
    """Recreate the branches that the wave deleted, at their tips."""
    for intent, _ in plan.history.intents("delete_branch"):
        branch, tip = str(intent["ref"]).removeprefix("refs/heads/"), Oid(intent["oid"])
        plan.tips[branch] = tip
        now = reads.objects.commit(intent["ref"])
        if now is None and reads.objects.commit(tip) is None:
            plan.problems.append(f"commit {tip} of {branch} is gone")
        elif now is None:
            plan.steps.append(Step(f"create {branch} at {tip}", branch_maker(hands, branch, tip)))
        elif now != tip:
            plan.problems.append(f"a branch {branch} stands at {now}")


def branch_maker(hands: Hands, branch: str, tip: Oid) -> Callable[[], object]:
    return lambda: hands.git.create_branch(branch, tip)


def plan_worktrees(plan: Plan, reads: Reads, hands: Hands) -> None:
    """Check the worktrees out again where they stood, with the ignored files that were kept from them.

    One whose directory was gone already comes back too: its branch can land again only from a worktree.
    """
    history = plan.history
    for intent, _ in (*history.intents("remove_worktree"), *history.intents("drop_registration")):
        path, branch = Path(intent["path"]), str(intent["branch"])
        if reads.presence(path) is Presence.GONE:
            if reads.is_registered(path):
                plan.problems.append(f"a worktree is still registered at {path}")
            plan.steps.append(Step(f"check {branch} out at {path}", worktree_maker(hands, path, branch)))
        elif not is_worktree_of(path, branch, Oid(intent["tip"]), reads):
            plan.problems.append(f"something stands at {path}")
        plan_kept(plan, intent, path, hands)


def plan_kept(plan: Plan, removal: Event, path: Path, hands: Hands) -> None:
    """Kept files go back to their worktree; one that is not there any more was taken by the user."""
    for intent, _ in plan.history.intents("keep"):
        source = Path(intent["place"]) / str(intent["path"]).rstrip("/")
        if intent["branch"] == removal["branch"] and os.path.lexists(source):
            words = f"put {shown(intent['path'])} back into {path}"
            plan.steps.append(Step(words, kept_mover(hands, Path(intent["place"]), str(intent["path"]), path)))


def kept_mover(hands: Hands, place: Path, name: str, worktree: Path) -> Callable[[], object]:
    return lambda: hands.keep(place, name, worktree)


def worktree_maker(hands: Hands, path: Path, branch: str) -> Callable[[], object]:
    return lambda: hands.git.add_worktree(path, branch)


def is_worktree_of(path: Path, branch: str, tip: Oid, reads: Reads) -> bool:
    try:
        return reads.worktree_head(reads.worktree_at(path)) == (tip, heads_ref(branch))
    except (BrokenLink, OSError, GitError):
        return False


def plan_clearing(plan: Plan, run: Run) -> None:
    """Clear away again what an undo brought back, if it stands as the undo left it."""
    reads, hands = run.reads, run.hands
    terms = Terms(regenerable=run.settings.regenerable, ignored_blocks=False)
    history = plan.history
    for intent, _ in (*history.intents("remove_worktree"), *history.intents("drop_registration")):
        path, branch, tip = Path(intent["path"]), str(intent["branch"]), Oid(intent["tip"])
        if reads.presence(path) is Presence.GONE:
            continue
        if not is_worktree_of(path, branch, tip, reads):
            plan.problems.append(f"{path} does not stand as the undo left it")
            continue
        worktree = reads.worktree_at(path)
        look = reads.worktree_look(worktree)
        verdict = judge(Inspection(reads, terms).subject(path, worktree=worktree, look=look), Verb.WAVE)
        plan.problems += [f"{path}: {words}" for answer in verdict.against.values() for words in answer.why]
        place = kept_place(reads.layout.common_dir, run.id, branch)
        for name in sort_ignored(worktree.path, look.ignored, terms.regenerable).keep:
            plan.steps.append(Step(f"keep {shown(name)} of {path}", kept_mover(hands, worktree.path, name, place)))
        plan.steps.append(Step(f"remove the worktree {path}", worktree_remover(hands, worktree, tip)))
    for intent, _ in history.intents("delete_branch"):
        branch, tip = str(intent["ref"]).removeprefix("refs/heads/"), Oid(intent["oid"])
        plan.tips[branch] = tip
        now = reads.objects.commit(intent["ref"])
        if now not in (tip, None):
            plan.problems.append(f"{branch} went on to {now}")
        if now == tip:
            plan.steps.append(Step(f"delete {branch} at {tip}", branch_remover(hands, branch, tip, run.id)))


def worktree_remover(hands: Hands, worktree: Worktree, tip: Oid) -> Callable[[], object]:
    return lambda: hands.git.remove_worktree(worktree.path, tip)


def branch_remover(hands: Hands, branch: str, tip: Oid, run_id: str) -> Callable[[], object]:
    return lambda: hands.git.delete_branch(branch, tip, run_id)


def make(plan: Plan, backup: Callable[[Mapping[str, Oid]], object]) -> None:
    """Do it, backups first. Raises GitError, OSError or JournalError; the same command then goes on from there."""
    backup(plan.tips)
    for step in plan.steps:
        step.make()
