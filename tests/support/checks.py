"""What it means, by plain git, that an entry landed or was blocked."""

from support.world import Agent, Run, World


def assert_landed(world: World, run: Run, agent: Agent) -> None:
    """Merged and cleared away, and the result says so."""
    entry = run.entry(agent)
    assert (entry["status"], entry["reason"]) == ("merged_removed", "ok"), entry
    assert world.landed(agent)
    assert entry["tip"] == agent.tip
    assert world.git("rev-parse", f"{entry['merge_commit']}^2") == agent.tip


def assert_all_landed(world: World, run: Run, *agents: Agent) -> None:
    """Nothing but landed entries, and exit 0."""
    for agent in agents:
        assert_landed(world, run, agent)
    assert (run.code, run.doc["ok"], len(run.entries)) == (0, True, len(agents))
    assert world.fsck() == ""


def assert_blocked(world: World, run: Run, agent: Agent, reason: str) -> None:
    """Blocked before the merge: branch, registration and HEAD know nothing of it."""
    entry = run.entry(agent)
    assert (entry["status"], entry["reason"]) == ("blocked", reason), entry
    assert (run.code, run.doc["ok"], entry["merge_commit"]) == (1, False, None)
    assert world.untouched(agent)


def offending(run: Run, which: int | str | Agent = 0) -> list[str]:
    """The paths that an entry's detail lists, one a line."""
    return run.entry(which)["stderr"].splitlines()
