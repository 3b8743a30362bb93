"""Plain git on a repository: the oracle of the tests. Uses nothing of the package under test."""

import itertools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

REAL_GIT = shutil.which("git") or "git"
START = 1_700_000_000


class Repo:
    """A checkout with a clock of its own, so that ids are the same on every run."""

    def __init__(self, root: Path, env: Mapping[str, str], start: int = START) -> None:
        self.root = root
        self.env = dict(env)
        self._clock = itertools.count(start, 60)

    def git(self, *args: str | bytes | Path, cwd: Path | None = None, check: bool = True, stdin: str = "") -> str:
        """Standard output of the real git, without its last newline; undecodable bytes as surrogates."""
        return self.git_run(*args, cwd=cwd, check=check, stdin=stdin).stdout.removesuffix("\n")

    def git_code(self, *args: str | bytes | Path, cwd: Path | None = None) -> int:
        """Exit code of the real git."""
        return self.git_run(*args, cwd=cwd, check=False).returncode

    def git_run(
        self, *args: str | bytes | Path, cwd: Path | None = None, check: bool = True, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        date = f"{next(self._clock)} +0000"
        done = subprocess.run(
            [REAL_GIT, *args],
            cwd=cwd or self.root,
            env=self.env | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {args} exited {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def commit(
        self,
        where: Path | None = None,
        write: Mapping[str, str | bytes] | None = None,
        delete: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        message: str = "work",
    ) -> str:
        """Change the files at `where` (default: the main checkout), commit all of it; the new id."""
        where = where or self.root
        self.change(where, write, delete, rename)
        self.git("add", "-A", cwd=where)
        self.git("commit", "-q", "--allow-empty", "-m", message, cwd=where)
        return self.git("rev-parse", "HEAD", cwd=where)

    def change(
        self,
        where: Path,
        write: Mapping[str, str | bytes] | None = None,
        delete: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
    ) -> None:
        """Change the files at `where` and commit nothing."""
        for old, new in (rename or {}).items():
            (where / new).parent.mkdir(parents=True, exist_ok=True)
            (where / old).rename(where / new)
        for path, content in (write or {}).items():
            put(where / path, content)
        for path in delete:
            (where / path).unlink()


def put(path: Path, content: str | bytes) -> Path:
    """Write a file, its directories included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else os.fsencode(content))
    return path


def prose(topic: str, lines: int = 20) -> str:
    """Text that is long enough for git to see a rename in it, and unlike the text of any other topic."""
    return "".join(f"{topic} line {n}: {topic * (n % 3 + 1)}\n" for n in range(lines))
