"""A repository whose worktrees are kept in a managed root, seen from its main worktree."""

import pytest

from support.world import World


@pytest.fixture
def yard(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    world.git("config", "wave.managedRoot", str(world.worktree_dir))
    monkeypatch.chdir(world.root)
    return world
