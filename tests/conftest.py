"""Every test runs in a sealed environment, in an empty directory outside any repository."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.points import summary_line
from support.sealed import seal, sealed_variables
from support.shim import Shim, install_shim
from support.world import World, build_template


@pytest.fixture(autouse=True)
def _sealed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seal(monkeypatch, tmp_path / "home")
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    monkeypatch.chdir(nowhere)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that is built once; tests get copies of it."""
    place = tmp_path_factory.mktemp("template")
    env = {"PATH": os.environ["PATH"]} | sealed_variables(place / "home")
    build_template(place / "repo", env)
    return place / "repo"


@pytest.fixture
def world(tmp_path: Path, template: Path, _sealed: None) -> World:
    return World(tmp_path, template, dict(os.environ))


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _sealed: None, world: World) -> Iterator[Shim]:
    """A `git` on PATH that logs and can be told to misbehave; `world.git` still calls the real one."""
    shim = install_shim(monkeypatch, tmp_path / "shim")
    yield shim
    assert not shim.complaints(), "a rule's own commands did not work"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if line := summary_line(report for reports in terminalreporter.stats.values() for report in reports):
        terminalreporter.write_line(line)


MEMORY = Path("/dev/shm")


def pytest_configure() -> None:
    """Repositories are made in memory where there is room: a journal that syncs each line costs nothing there."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2 << 30:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


WIDE = 3
"""Cases from which on a table is wide."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a wide table every second case is run always, and the others with the deep ones; with `sampled(n)` every n-th.

    Tables of tests/unit cost next to nothing and are always run whole.
    """
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for test, cases in tables.items():
        mark = cases[0].get_closest_marker("sampled")
        cheap = len(cases) < WIDE or test.startswith("tests/unit/")
        step = mark.args[0] if mark else 1 if cheap else 2
        for number, item in enumerate(cases):
            if number % step:
                item.add_marker(pytest.mark.deep)
