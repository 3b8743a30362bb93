"""The wheel, built from the sdist and installed into an environment of its own: what is in it, and that it works."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from git_wave import __version__
from git_wave.cli.manual import pages
from support.calling import SCHEMAS

ROOT = SCHEMAS.parent
COMMANDS = ("git-wave", "cleanup-wave", "record-agent")


@dataclass(frozen=True)
class Installed:
    """An environment with nothing but the wheel in it; its dependencies are those of the tests' own environment."""

    prefix: Path
    wheel: Path
    sdist: Path

    def run(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.prefix / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, **environ}
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=120)


def build(tree: Path, target: str, out: Path) -> Path:
    """Without a network: the build backend is one of the development tools."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out], cwd=tree, check=True)
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("installed")
    sdist = build(ROOT, "sdist", place / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "source", filter="data")
    (source,) = (place / "source").iterdir()
    wheel = build(source, "wheel", place / "wheel")
    prefix = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    pip = [sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", "--no-compile", wheel], check=True)
    packages = next((prefix / "lib").glob("python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return Installed(prefix, wheel, sdist)


def test_the_installed_commands_work_from_an_empty_directory(installed: Installed) -> None:
    version = installed.run("git-wave", "--version")
    schema = installed.run("git-wave", "schema", "manifest")
    demo = installed.run("git-wave", "demo")
    doctor = installed.run("git-wave", "doctor")
    where = installed.run("python", "-c", "import git_wave; print(git_wave.__file__)")

    assert version.stdout == f"git-wave, version {__version__}\n"
    assert schema.stdout == (SCHEMAS / "manifest.schema.json").read_text()
    assert demo.returncode == 0, demo.stderr
    assert "git-wave, cleanup-wave and record-agent are on PATH" in doctor.stdout
    assert "3 published schemas" in doctor.stdout
    assert where.stdout.startswith(str(installed.prefix))
    assert all(installed.run(name, "--help").returncode == 0 for name in COMMANDS)


def test_the_wheel_holds_what_callers_need_and_no_tests(installed: Installed) -> None:
    names = set(zipfile.ZipFile(installed.wheel).namelist())

    needed = {f"git_wave/schemas/{name}.schema.json" for name in ("manifest", "result", "journal")}
    needed |= {f"git_wave/workflows/{path.name}" for path in (ROOT / "workflows").iterdir()}
    assert {*needed, "git_wave/py.typed", "git_wave/workflows/execute-wave.sh"} <= names
    assert not {name for name in names if name.startswith(("tests/", "docs/"))}


def test_the_sdist_holds_the_tests_and_nothing_that_was_only_lying_about(installed: Installed) -> None:
    with tarfile.open(installed.sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}

    assert {"tests/conftest.py", "pyproject.toml", "README.md", "Makefile", "docs/man/git-wave.1"} <= names
    assert [name for name in names if re.search(r"__pycache__|\.venv|\.git/|\.egg-info", name)] == []


def test_git_finds_the_man_page_where_the_wheel_puts_it(installed: Installed) -> None:
    """`git wave --help` shows the page `git-wave`, which `man` looks for beside each directory on PATH."""
    assert (installed.prefix / "share/man/man1/git-wave.1").read_text() == pages()["git-wave.1"]
    asked = installed.run("git", "-c", "man.viewer=ours", "-c", "man.ours.cmd=echo page", "wave", "--help")
    assert asked.stdout == "page git-wave\n"
    if shutil.which("man"):
        shown = installed.run("git", "wave", "--help", MANPAGER="cat", MANWIDTH="80")
        assert "Land the work of many parallel agents" in " ".join(shown.stdout.split())


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_man_pages_say_what_the_commands_say(name: str) -> None:
    """`make generate` writes them."""
    assert (ROOT / "docs/man" / name).read_text() == pages()[name]
    assert [line for line in pages()[name].splitlines() if line.startswith("'") or "\t" in line] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_bash_completes_with_the_installed_file(installed: Installed, name: str) -> None:
    file = installed.prefix / "share/bash-completion/completions" / name
    function = f"_{name.replace('-', '_')}_completion"
    word, whole = {
        "git-wave": ("cleanup-w", "cleanup-wave"),
        "cleanup-wave": ("--manif", "--manifest"),
        "record-agent": ("--agent-", "--agent-id"),
    }[name]
    script = (
        f'. "{file}"; COMP_WORDS=({name} {word}); COMP_CWORD=1; {function} {name}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )

    done = installed.run("bash", "-euc", script)

    assert done.stdout.strip() == whole, done.stderr


def test_git_wave_completes_through_gits_own_completion(installed: Installed) -> None:
    file = installed.prefix / "share/bash-completion/completions/git-wave"
    script = f'. "{file}"; words=(git wave cleanup-w); cword=2; _git_wave; echo "${{COMPREPLY[@]}}"'

    assert installed.run("bash", "-euc", script).stdout.strip() == "cleanup-wave"


def test_there_are_completions_for_zsh_and_fish_where_those_look(installed: Installed) -> None:
    zsh = (installed.prefix / "share/zsh/site-functions/_git-wave").read_text()

    assert zsh.startswith(f"#compdef {' '.join(COMMANDS)}\n")
    for name in COMMANDS:
        fish = installed.prefix / f"share/fish/vendor_completions.d/{name}.fish"
        assert "git-wave completion fish | source" in fish.read_text()
