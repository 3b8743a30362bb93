"""What the documents say of the program, as far as a machine can check it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from git_wave.cli.main import COMMANDS, load
from git_wave.model.reasons import Reason
from git_wave.settings import settings_from
from support.naming import names_in

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "git_wave"
README = (ROOT / "README.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "workflows").glob("*.md")])

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
OUR_COMMAND = re.compile(r"^\$ ((?:git[ -]wave|cleanup-wave|record-agent)\b.*)", re.MULTILINE)


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def spans(text: str) -> list[str]:
    """Code in backticks, blocks left out."""
    return SPAN.findall(FENCE.sub("", text))


def our_flags() -> set[str]:
    commands = [load(name) for name in COMMANDS if name != "demo"]
    inner = [one for command in commands if isinstance(command, click.Group) for one in command.commands.values()]
    flags = {flag for command in [*commands, *inner] for param in command.params for flag in flags_of(param)}
    return {"--help", *flags}


def flags_of(param: click.Parameter) -> list[str]:
    return [*param.opts, *param.secondary_opts] if isinstance(param, click.Option) else []


def settings_keys() -> set[str]:
    return set(re.findall(r'(?<![.\w])\w+\("(wave\.\w+)"', (SOURCE / "settings.py").read_text()))


def published_keys() -> set[str]:
    """Every key and every fixed value that the published schemas name."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value.get("properties", {}), value.get("enum", []), [value.get("const")])
            for inside in value.values():
                walk(inside)
        elif isinstance(value, list):
            for inside in value:
                walk(inside)

    for schema in (ROOT / "schemas").glob("*.json"):
        walk(json.loads(schema.read_text()))
    return found


def test_the_readme_names_the_two_commands_that_do_all_set_up() -> None:
    assert "make demo" in README
    assert "make test" in README


def test_every_make_target_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for document in DOCUMENTS for name in re.findall(r"`?\bmake ([a-z-]+)`", document.read_text())}

    assert {"demo", "test"} <= targets
    assert named <= targets


def test_the_readme_names_every_setting_and_none_else() -> None:
    assert set(re.findall(r"`(wave\.\w+)`", README)) == settings_keys()


def test_a_setting_as_the_readme_spells_it_is_heeded() -> None:
    default = settings_from([])

    values = {"wave.branchPattern": "x", "wave.gitTimeout": "1", "wave.mergeTimeout": "2", "wave.lockTimeout": "3"}
    values |= {"wave.checkoutTimeout": "4", "wave.sidecar": "x"}
    values |= {
        "wave.regenerable": "x",
        "wave.ignoredOutput": "block",
        "wave.managedRoot": "x",
        "wave.mergeMessage": "x",
    }
    assert set(values) == settings_keys()
    for key, value in values.items():
        assert settings_from([(key.lower(), value)]) != default


def test_every_flag_in_the_readme_exists() -> None:
    ours = [span for span in spans(README) if not re.match(r"(timeout \d+ )?git (?!wave\b)", span)]
    told = {flag for text in [*ours, *OUR_COMMAND.findall(README)] for flag in FLAG.findall(text)}

    assert "--manifest" in told
    assert told - our_flags() == set()


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md", "docs/GLOSSARY.md", "docs/SAFETY.md"])
def test_every_code_and_key_in_a_document_exists(document: str) -> None:
    words = {span for span in spans((ROOT / document).read_text()) if re.fullmatch(r"[a-z]+(_[a-z]+)+", span)}
    known = set(Reason) | published_keys()

    assert "worktree_dirt" not in known
    assert words - known == set()


def test_every_command_in_the_documents_exists() -> None:
    told = {name for document in DOCUMENTS for name in re.findall(r"\bgit wave ([a-z][a-z-]*)\b", document.read_text())}

    assert {"undo", "log", "show", "gc"} <= told
    assert told - set(COMMANDS) == set()


def modules_named(document: Path) -> set[tuple[str, str]]:
    """`state/journal` and `wave.require_target` in backticks: the module, and what it is said to hold or ""."""
    floors = [path.name for path in SOURCE.iterdir() if path.is_dir()]
    tops = {path.stem for path in SOURCE.glob("*.py")}
    named = re.compile(rf"((?:{'|'.join(floors)})/\w+|{'|'.join(tops)})(?:\.(\w+))?")
    words = {span.removesuffix(".py") for span in spans(document.read_text())} - tops - settings_keys()
    return {(match[1], match[2] or "") for match in map(named.fullmatch, words) if match}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_module_that_a_document_names_exists_and_holds_what_is_said(document: Path) -> None:
    for module, name in modules_named(document):
        path = SOURCE / f"{module}.py"
        assert path.is_file(), module
        assert not name or name in names_in(path), f"{module}.{name}"


def test_the_safety_page_names_a_module_and_a_test_file_for_each_promise() -> None:
    page = (ROOT / "docs" / "SAFETY.md").read_text()
    promises = re.split(r"^## (?=\d)", page, flags=re.MULTILINE)[1:]

    assert [promise[0] for promise in promises] == list("12345678")
    assert len(modules_named(ROOT / "docs" / "SAFETY.md")) > 8
    for promise in promises:
        assert re.search(r"`(?:git|state|stages|report|model)/\w+`", promise), promise[:40]
        assert all(part in promise for part in ("**Kept by.**", "**Tested by.**", "**Not promised.**", "`tests/"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_test_file_that_a_document_names_exists(document: Path) -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", document.read_text())

    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_architecture_draws_the_floors_that_are_enforced() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    enforced = [{name.strip().removeprefix("git_wave.") for name in layer.split("|")} for layer in layers]
    drawing = re.search(r"^```\n(cli/.*?)^```", ARCHITECTURE, re.MULTILINE | re.DOTALL)

    assert drawing is not None
    rows = drawing[1].splitlines()
    assert [set(re.findall(r"(\w+)(?:/|\.py)(?=\s)", row)) for row in rows] == enforced


def test_the_architecture_names_every_package_and_every_stage_file() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    stages = {path.name for path in (SOURCE / "stages").glob("*.py")} - {"__init__.py"}

    assert {name for name in packages if f"{name}/" not in ARCHITECTURE} == set()
    assert {name for name in stages if f"`{name}`" not in ARCHITECTURE} == set()


def test_the_architecture_names_every_module() -> None:
    modules = {path.stem for path in SOURCE.rglob("*.py") if not path.stem.startswith("__")}

    assert {name for name in modules if re.search(rf"\b{name}\b", ARCHITECTURE) is None} == set()


def test_the_architecture_stays_a_map() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 200


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_relative_links_lead_somewhere(document: Path) -> None:
    targets = [link for link in LINK.findall(FENCE.sub("", document.read_text())) if "://" not in link]
    broken = [link for link in targets if not (document.parent / link.partition("#")[0]).exists()]

    assert broken == []


@pytest.mark.parametrize("document", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=name_of)
def test_a_decision_has_its_number_and_its_three_parts(document: Path) -> None:
    lines = document.read_text().splitlines()

    assert lines[0].startswith(f"# {document.name[:4]} ")
    assert [line for line in lines if line.startswith("## ")] == ["## Context", "## Decision", "## Consequences"]
