"""The GitHub Action: its landing step, run as the runner would."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.calling import SCHEMAS, program
from support.world import World

WORKFLOWS = SCHEMAS.parent / "workflows"
ACTION: dict[str, Any] = yaml.safe_load((WORKFLOWS / "action.yml").read_text())
INSTALL, LAND = ACTION["runs"]["steps"]


class Job:
    """One run of the landing step."""

    def __init__(self, world: World, manifest: Path | str, **inputs: str) -> None:
        defaults = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        given = {**defaults, "manifest": str(manifest), **{name.replace("_", "-"): v for name, v in inputs.items()}}
        self.summary_file, self.output_file = world.tmp / "summary.md", world.tmp / "output"
        variables = {name: self.value(said, given) for name, said in LAND["env"].items()}
        self.done = subprocess.run(
            [LAND["shell"], "-e", "-c", LAND["run"]],
            cwd=world.root,
            env={
                **os.environ,
                **variables,
                "PATH": f"{Path(program('git-wave')).parent}:{os.environ['PATH']}",
                "GITHUB_STEP_SUMMARY": str(self.summary_file),
                "GITHUB_OUTPUT": str(self.output_file),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def value(self, said: str, given: dict[str, str]) -> str:
        """What the runner puts in the place of `${{ … }}`."""
        name = said.removeprefix("${{ ").removesuffix(" }}")
        return str(WORKFLOWS) if name == "github.action_path" else given[name.removeprefix("inputs.")]

    @property
    def summary(self) -> str:
        return self.summary_file.read_text() if self.summary_file.exists() else ""

    @property
    def output(self) -> str:
        return self.output_file.read_text() if self.output_file.exists() else ""


def test_a_wave_lands_and_the_summary_and_the_output_say_so(world: World) -> None:
    agent = world.agent("a")

    job = Job(world, world.manifest(agent), expect_branch="main")

    assert (job.done.returncode, job.output) == (0, "landed=true\n"), job.done.stderr
    assert "1 of 1 landed" in job.summary
    assert world.landed(agent)


def test_a_blocked_wave_fails_the_job_with_a_summary(world: World) -> None:
    job = Job(world, world.manifest(world.agent("a"), world.agent("bad", {}, ["LICENSE"])))

    assert (job.done.returncode, job.output) == (1, "landed=false\n")
    assert "1 of 2 landed" in job.summary
    assert "LICENSE" in job.summary


def test_a_dry_run_says_what_would_happen_and_touches_nothing(world: World) -> None:
    agent = world.agent("a")

    job = Job(world, world.manifest(agent), dry_run="true")

    assert (job.done.returncode, "1 of 1 would land" in job.summary) == (0, True)
    assert world.untouched(agent)


@pytest.mark.parametrize("inputs", [{"manifest": ""}, {"dry_run": "perhaps"}, {"expect_branch": "release"}])
def test_an_input_that_cannot_be_used_fails_the_job(world: World, inputs: dict[str, str]) -> None:
    agent = world.agent("a")

    job = Job(
        world, inputs.get("manifest", world.manifest(agent)), **{k: v for k, v in inputs.items() if k != "manifest"}
    )

    assert job.done.returncode == 1
    assert world.untouched(agent)


def test_merges_are_made_in_the_name_that_the_inputs_give(world: World) -> None:
    agent = world.agent("a")
    for key in ("name", "email"):
        world.git("config", f"user.{key}", "")

    job = Job(
        world, world.manifest(agent), committer_name="a; touch /tmp/x $(id)", committer_email="wave@example.invalid"
    )

    assert job.done.returncode == 0, job.summary
    assert world.git("log", "-1", "--format=%cn <%ce>") == "a; touch /tmp/x $(id) <wave@example.invalid>"


def test_a_hostile_value_is_one_argument(world: World) -> None:
    job = Job(world, '$(touch pwned) "; touch pwned; `touch pwned`')

    assert job.done.returncode == 1
    assert "manifest&#95;read&#95;failed" in job.summary
    assert not (world.root / "pwned").exists()


def test_no_step_puts_an_expression_into_its_script() -> None:
    """They go through variables: an expression in a script is text that the shell reads."""
    assert all("${{" not in step["run"] for step in (INSTALL, LAND))
    assert INSTALL["env"]["WAVE_SOURCE"] == "${{ github.action_path }}/.."
    assert (WORKFLOWS.parent / "pyproject.toml").exists()
    done = subprocess.run(
        [program("shellcheck"), "--shell=sh", "-"],
        input=f"#!/bin/sh\n{INSTALL['run']}\n{LAND['run']}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
