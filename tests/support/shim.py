"""A `git` first on PATH that logs every call and, where told to, acts before, after or instead of the real
one.

A rule names a subcommand and words that must be among its arguments (`"merge --abort"`), optionally a text
that the arguments must contain, and optionally the one time (counted from 1) at which it applies. What a rule
runs is a line of shell: it sees the call's arguments as `$@`, runs in the call's directory, and its `git` is
the real one.
"""

import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.repo import REAL_GIT

HEADER = r"""#!/bin/sh
real={real} state={state} path={path}
printf '%s\0' "$#" "$@" >>"$state/calls"
sub= skip=
for word do
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
        -C | -c | --git-dir | --work-tree | --namespace | --config-env) skip=1 ;;
        -*) ;;
        *) sub=$word; break ;;
    esac
done
has() {{ want=$1; shift; for word do [ "$word" != "$want" ] || return 0; done; return 1; }}
says() {{ want=$1; shift; case "$*" in *"$want"*) return 0 ;; esac; return 1; }}
count() {{ n=0; [ ! -f "$state/$1" ] || read -r n <"$state/$1"; n=$((n + 1)); echo "$n" >"$state/$1"; }}
aside() {{ PATH=$path sh -c "$@" </dev/null >>"$state/chatter" 2>&1; }}
after=
"""
FOOTER = r"""
[ -n "$after" ] || exec "$real" "$@"
"$real" "$@"; code=$?
aside "$after" git "$@"
exit $code
"""


@dataclass
class Shim:
    """Rules apply in the order in which they were added; the first that ends the call wins."""

    state: Path
    path: str
    rules: list[str] = field(default_factory=list)

    def before(self, words: str, run: str, *, arg: str = "", nth: int | None = None) -> None:
        """Run something, then the real git."""
        self._rule(words, arg, nth, f'aside {shlex.quote(run)} git "$@"')

    def after(self, words: str, run: str, *, arg: str = "", nth: int | None = None) -> None:
        """Run something after the real git; its exit code stays."""
        self._rule(words, arg, nth, f"after={shlex.quote(run)}")

    def fail(
        self,
        words: str,
        code: int = 128,
        stderr: str = "",
        stdout: str = "",
        *,
        arg: str = "",
        nth: int | None = None,
    ) -> None:
        """Do not run the real git; say this instead."""
        say = f"printf %s {shlex.quote(stdout)}; printf %s {shlex.quote(stderr)} >&2; exit {code}"
        self._rule(words, arg, nth, say)

    def rewrite(self, words: str, through: str, *, arg: str = "", nth: int | None = None) -> None:
        """Pass the real git's standard output through a shell command; its exit code stays."""
        pipe = f'{{ "$real" "$@"; echo $? >"$state/code"; }} | PATH=$path sh -c {shlex.quote(through)}'
        self._rule(words, arg, nth, f'{pipe}; read -r code <"$state/code"; exit "$code"')

    def calls(self, words: str = "") -> list[list[str]]:
        """The arguments of every call so far, in order, or of those that a rule for `words` would match."""
        log = self.state / "calls"
        fields = os.fsdecode(log.read_bytes()).split("\0")[:-1] if log.exists() else []
        calls: list[list[str]] = []
        while fields:
            end = 1 + int(fields[0])
            calls.append(fields[1:end])
            fields = fields[end:]
        return [call for call in calls if not words or _matches(call, words.split())]

    def forget(self) -> None:
        """Empty the log of calls."""
        (self.state / "calls").unlink(missing_ok=True)

    def chatter(self) -> str:
        """What the rules' own commands printed: look here when a rule seems not to work."""
        log = self.state / "chatter"
        return log.read_text(errors="replace") if log.exists() else ""

    def complaints(self) -> list[str]:
        """What the shell said of the rules' own commands: a syntax error, a command that does not exist."""
        return re.findall(r"^git: \d+: .*$", self.chatter(), re.MULTILINE)

    def _rule(self, words: str, arg: str, nth: int | None, action: str) -> None:
        sub, *others = words.split()
        tests = [f'[ "$sub" = {shlex.quote(sub)} ]']
        tests += [f'has {shlex.quote(word)} "$@"' for word in others]
        tests += [f'says {shlex.quote(arg)} "$@"'] if arg else []
        if nth is not None:
            tests.append(f'count {len(self.rules)} && [ "$n" = {nth} ]')
        self.rules.append(f"if {' && '.join(tests)}; then {action}; fi\n")
        self.install()

    def install(self) -> None:
        """Put the script in place, whole."""
        header = HEADER.format(real=REAL_GIT, state=shlex.quote(str(self.state)), path=shlex.quote(self.path))
        draft = self.state / "draft"
        draft.write_text(header + "".join(self.rules) + FOOTER)
        draft.chmod(0o755)
        draft.replace(self.state / "bin/git")


def _matches(call: list[str], words: list[str]) -> bool:
    return subcommand(call) == words[0] and set(words[1:]) <= set(call)


def subcommand(call: list[str]) -> str:
    """The first word of a call that is neither one of git's own options nor the value of one."""
    rest = iter(call)
    for word in rest:
        if word in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def install_shim(monkeypatch: pytest.MonkeyPatch, state: Path) -> Shim:
    path = os.environ["PATH"]
    (state / "bin").mkdir(parents=True)
    shim = Shim(state, path)
    shim.install()
    monkeypatch.setenv("PATH", f"{state / 'bin'}{os.pathsep}{path}")
    return shim
