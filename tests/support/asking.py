"""A gate asked about an agent's worktree, by way of the package's own reads."""

import os
from pathlib import Path
from typing import Any

from git_wave.gates import Answer, Gate, Inspection, Terms
from git_wave.git.door import Door
from git_wave.git.layout import layout_of
from git_wave.git.reads import Reads
from support.world import Agent, World


def reads_of(world: World) -> Reads:
    door = Door(os.environ, 60)
    return Reads(door, layout_of(door, world.root))


def ask(gate: Gate, world: World, agent: Agent | Path, **terms: Any) -> Answer:
    """One gate, in a pass of its own."""
    path = agent.path if isinstance(agent, Agent) else agent
    with reads_of(world) as reads:
        return gate.ask(Inspection(reads, Terms(**terms), (path,)).subject(path))


def told(answer: Answer) -> tuple[str, str | None]:
    """What kind of answer, and its code."""
    return str(answer.kind), str(answer.reason) if answer.reason else None


CLEAR = ("clear", None)
