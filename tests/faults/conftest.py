"""A wave of five, built once and copied to be broken; and how long it is when nothing breaks it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.five import Five, build_five, copy_five, journal_lines
from support.sealed import sealed_variables
from support.shim import Shim

Scene = Callable[[object], Five]


@dataclass(frozen=True)
class Lengths:
    """How many git calls and how many journal lines the undisturbed wave makes."""

    calls: int
    lines: int


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Five:
    place = tmp_path_factory.mktemp("five")
    return build_five(place, {"PATH": os.environ["PATH"]} | sealed_variables(place / "home"))


@pytest.fixture
def scene(built: Five, tmp_path: Path, _sealed: None) -> Scene:
    """Makes a fresh wave of five under a name of its own."""
    return lambda name: copy_five(built, tmp_path / f"five-{name}", dict(os.environ))


@pytest.fixture(scope="session")
def _measured() -> list[Lengths]:
    return []


@pytest.fixture
def lengths(scene: Scene, shim: Shim, _measured: list[Lengths]) -> Lengths:
    """Measured once; the wave that is measured must itself end well."""
    if not _measured:
        five = scene("undisturbed")
        assert five.world.wave(five.manifest).code == 0
        five.assert_done()
        _measured.append(Lengths(len(shim.calls()), journal_lines(five)))
    return _measured[0]
