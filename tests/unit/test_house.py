"""What keeps the house in order: floors, the stages' one place, the registry."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from git_wave.model.explanations import EXPLANATIONS, Kind
from git_wave.model.reasons import Reason
from git_wave.stages import STAGES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/git_wave"
MODULES = sorted(SOURCE.rglob("*.py"))


def test_every_file_in_stages_is_a_stage_in_the_tuple() -> None:
    files = {path.stem for path in (SOURCE / "stages").glob("[!_]*.py")}

    assert files == {stage.name for stage in STAGES}
    assert len(STAGES) == 8


def test_a_stage_asks_the_question_that_its_file_begins_with() -> None:
    for stage in STAGES:
        docstring = ast.get_docstring(ast.parse((SOURCE / f"stages/{stage.name}.py").read_text()))
        assert docstring is not None
        assert docstring.startswith(stage.question), stage.name


def test_imports_go_down_only() -> None:
    """The contracts of pyproject.toml, judged by import-linter itself."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "2 kept, 0 broken" in done.stdout


@pytest.mark.parametrize("reason", list(Reason))
def test_a_code_is_explained_in_sentences(reason: Reason) -> None:
    explanation = EXPLANATIONS[reason]

    assert explanation.kinds
    assert explanation.meaning.endswith(".")
    assert explanation.advice.endswith(".")
    if Kind.BLOCKED in explanation.kinds:
        assert explanation.next_step, "the table says what to do next"


def test_a_code_is_used_by_the_code() -> None:
    code = "\n".join(
        path.read_text() for path in MODULES if path.name != "reasons.py" and path.parent.name != "explanations"
    )

    assert [reason for reason in Reason if f"Reason.{reason.name}" not in code] == []


def names_used(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return calls | {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize(
    "forbidden", ["print", "sys.exit", "os.environ", "os.chdir", "sys.stdout", "sys.stderr", "Path.cwd"]
)
def test_only_the_commands_know_the_process_they_run_in(forbidden: str) -> None:
    below = [path for path in MODULES if "cli" not in path.parts]

    assert [str(path) for path in below if forbidden in names_used(path)] == []
