"""Our entries among the hooks of a Claude Code settings file.

    {"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "git wave hook SessionEnd", "timeout": 5}]}]}}

Pure: a text goes in, a text comes out. Entries of others are neither changed nor reordered.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from git_wave.harness.jsontext import Insertion, Node, applied, item_added, members_added, parse, without

EVENTS = {"WorktreeCreate": 600, "WorktreeRemove": 120, "SubagentStop": 30, "SessionEnd": 5, "SessionStart": 15}
"""Each event that we answer, with the seconds that Claude Code is to give us."""
SOLE = ("WorktreeCreate", "WorktreeRemove")
"""Events of which there can be but one hook: two of them would make, or remove, two worktrees."""
PROGRAM = "git wave"


class State(StrEnum):
    INSTALLED = "installed"
    OUTDATED = "outdated"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with our entries. `base` is the text without any; taking `inserted` (offset, length) out gives it back."""

    text: str
    base: str
    inserted: list[tuple[int, int]]


def our_hook(event: str, program: str = PROGRAM) -> dict[str, Any]:
    """`program` is shell text: `git wave`, or a quoted path."""
    return {"type": "command", "command": f"{program} hook {event}", "timeout": EVENTS[event]}


def is_ours(hook: Any, event: str) -> bool:
    """Whether a hook calls us for this event, by whatever path."""
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str):
        return False
    try:
        *program, verb, named = shlex.split(command)
    except ValueError:
        return False
    called = program == ["git", "wave"] or (len(program) == 1 and PurePath(program[0]).name == "git-wave")
    return called and (verb, named) == ("hook", event)


def states(root: Node, program: str = PROGRAM) -> dict[str, State]:
    """How each event stands. Raises ValueError when the hooks have a shape that is not known."""
    found = {}
    for event in EVENTS:
        ours = [hook for hook in hooks_of(root, event) if is_ours(hook, event)]
        current = ours == [our_hook(event, program)]
        found[event] = State.INSTALLED if current else State.OUTDATED if ours else State.ABSENT
    return found


def hooks_of(root: Node, event: str) -> list[Any]:
    """Every hook of an event, whatever its matcher. Raises ValueError."""
    return [hook for group in groups_of(root, event) for hook in hooks_in(group, event)]


def groups_of(root: Node, event: str) -> list[Any]:
    hooks = root.value.get("hooks", {}) if isinstance(root.value, dict) else None
    if not isinstance(hooks, dict):
        raise ValueError("the file, and `hooks` in it, must be objects")
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise ValueError(f"hooks.{event} must be an array")
    return groups


def hooks_in(group: Any, event: str) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list):
        raise ValueError(f"each item of hooks.{event} must be an object with an array `hooks`")
    return hooks


def rivals(root: Node) -> list[str]:
    """Hooks of others for events that can have but one."""
    return [
        f"{event}: {hook.get('command') if isinstance(hook, dict) else hook}"
        for event in SOLE
        for hook in hooks_of(root, event)
        if not is_ours(hook, event)
    ]


def installed(text: str, program: str = PROGRAM) -> Edited:
    """The text with an up-to-date entry of ours for every event. Raises ValueError."""
    base = uninstalled(text)
    root = parse(base)
    after, spans = applied(base, insertions(base, root, program))
    return Edited(after, base, spans)


def new_file(program: str = PROGRAM) -> str:
    """What stands in a settings file that had to be made."""
    return json.dumps({"hooks": {event: group_for(event, program) for event in EVENTS}}, indent=2) + "\n"


def group_for(event: str, program: str) -> list[dict[str, Any]]:
    return [{"hooks": [our_hook(event, program)]}]


def insertions(text: str, root: Node, program: str) -> list[Insertion]:
    everything = {event: group_for(event, program) for event in EVENTS if not groups_of(root, event)}
    hooks = root.children.get("hooks")
    if hooks is None:
        return [members_added(text, root, root, {"hooks": everything})]
    found = []
    new = {event: groups for event, groups in everything.items() if event not in hooks.children}
    if new:
        found.append(members_added(text, root, hooks, new))
    there = [(hooks.children[event], event) for event in EVENTS if event not in new]
    return [*found, *(item_added(text, root, groups, group_for(event, program)[0]) for groups, event in there)]


def uninstalled(text: str) -> str:
    """The text without any entry of ours, and without what became empty with it. Raises ValueError."""
    while (found := first_of_ours(parse(text))) is not None:
        text = without(text, *found)
    return text


def first_of_ours(root: Node) -> tuple[Node, str | int] | None:
    """What to take out next: the largest thing that holds nothing but an entry of ours; None when there is none."""
    for event in EVENTS:
        for number, group in enumerate(groups_of(root, event)):
            for place, hook in enumerate(hooks_in(group, event)):
                if is_ours(hook, event):
                    return lone_container(root, event, number, place)
    return None


def lone_container(root: Node, event: str, number: int, place: int) -> tuple[Node, str | int]:
    path: list[tuple[Node, str | int]] = []
    at = root
    for key in ("hooks", event, number, "hooks", place):
        path.append((at, key))
        at = at.children[key]
    outermost = path.pop()
    # A group goes with its last hook, whatever else describes it; the rest only when nothing else is in it.
    for container, key in reversed(path):
        inner = container.children[key]
        holds_more = len(inner.children) > 1 and not isinstance(key, int)
        if holds_more:
            break
        outermost = (container, key)
    return outermost
