"""Does Claude Code call us, and may it: our entries in its settings files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from git_wave.doctor._check import Check, ok, problem, warning
from git_wave.harness.hooks import State
from git_wave.harness.settings_file import Scope, load_states, settings_path
from git_wave.model.errors import Refusal
from git_wave.model.reasons import Reason


def check_hooks(project: Path | None, environ: Mapping[str, str]) -> Iterator[Check]:
    scopes = [Scope.USER] if project is None else list(Scope)
    found = [check for scope in scopes if (check := check_scope(scope, project, environ))]
    yield from found
    if not found:
        yield ok("hooks", "Claude Code does not call git-wave; `git wave hooks install` lets it")


def check_scope(scope: Scope, project: Path | None, environ: Mapping[str, str]) -> Check | None:
    """What one settings file says; None when it says nothing about us."""
    try:
        path = settings_path(scope, project, environ)
        states = load_states(path)
    except Refusal as refusal:
        unreadable = refusal.reason is Reason.SETTINGS_UNREADABLE
        advice = "See to the error named." if unreadable else "Correct it; Claude Code may not read it either."
        return problem("hooks", f"{scope}: {refusal.detail}", advice)
    if set(states.values()) == {State.ABSENT}:
        return None
    if set(states.values()) == {State.INSTALLED}:
        return ok("hooks", f"{scope}: installed in {path}")
    missing = [event for event, state in states.items() if state is not State.INSTALLED]
    advice = f"`git wave hooks install --scope {scope}` puts them right."
    return warning("hooks", f"{scope}: absent or of another form in {path}: {', '.join(missing)}", advice)
