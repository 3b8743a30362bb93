"""Claude Code's settings files: where they are, and how our entries get into one and out of it again.

What was put in, and where, is noted in a receipt in the user's state directory. As long as the file is otherwise as
it was then, taking the entries out gives back the very bytes; a file or directory that had to be made goes again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from git_wave.harness import hooks, jsontext
from git_wave.model.errors import Refusal, WaveError
from git_wave.model.reasons import Reason
from git_wave.state.atomic import replace_file, sync_directory
from git_wave.state.named_files import read_regular

LARGEST = 8 << 20
"""Bytes. Settings are a few thousand; whatever is larger is not read."""
LOCK_TIMEOUT = 10.0
BOM = "\ufeff"


class Scope(StrEnum):
    PROJECT = "project"
    LOCAL = "local"
    USER = "user"


def settings_path(scope: Scope, project: Path | None, environ: Mapping[str, str]) -> Path:
    """Where Claude Code reads the settings of a scope. Raises Refusal when that cannot be told."""
    if scope is Scope.USER:
        if own := environ.get("CLAUDE_CONFIG_DIR"):
            return Path(own) / "settings.json"
        return home(environ) / ".claude" / "settings.json"
    if project is None:
        raise Refusal(Reason.NOT_A_CHECKOUT, "settings of a project need a checkout; use --root, or --scope user")
    return project / ".claude" / ("settings.json" if scope is Scope.PROJECT else "settings.local.json")


def home(environ: Mapping[str, str]) -> Path:
    if not (found := environ.get("HOME", "")).startswith("/"):
        raise Refusal(Reason.SETTINGS_UNREADABLE, "HOME is not set to an absolute path")
    return Path(found)


def state_dir(environ: Mapping[str, str]) -> Path:
    """Where receipts are kept."""
    own = environ.get("XDG_STATE_HOME", "")
    return (Path(own) if own.startswith("/") else home(environ) / ".local" / "state") / "git-wave" / "hooks"


def load_text(path: Path) -> str | None:
    """The text of a settings file, None when there is none. Raises Refusal."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refusal(Reason.SETTINGS_UNREADABLE, f"{path}: it is no regular file")
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        if path.is_symlink():
            raise Refusal(Reason.SETTINGS_UNREADABLE, f"{path}: a symbolic link that leads nowhere") from None
        return None
    except OSError as error:
        raise Refusal(Reason.SETTINGS_UNREADABLE, f"{path}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise Refusal(Reason.SETTINGS_UNREADABLE, f"{path}: it is larger than {LARGEST} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refusal(Reason.SETTINGS_INVALID, f"{path}: it is not UTF-8: {error}") from error


def load_states(path: Path, program: str = hooks.PROGRAM) -> dict[str, hooks.State]:
    """How each event stands in a settings file. Raises Refusal."""
    text = load_text(path)
    if text is None:
        return dict.fromkeys(hooks.EVENTS, hooks.State.ABSENT)
    with told(path):
        return hooks.states(jsontext.parse(text.removeprefix(BOM)), program)


@contextmanager
def told(path: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise Refusal(Reason.SETTINGS_INVALID, f"{path}: {error}") from error


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an installation put into a file: digests of the text with and without it, and where it stands.

    `made_file` and `made_directory` say what was not there before.
    """

    path: str
    before: str
    after: str
    inserted: list[list[int]]
    made_file: bool
    made_directory: bool


class SettingsFile:
    """One settings file, changed by one process at a time."""

    def __init__(self, path: Path, receipts: Path) -> None:
        self.path = path
        # The link stays, and what it leads to is replaced.
        self._real = Path(os.path.realpath(path))
        self._receipts = receipts
        self._receipt = receipts / f"{hashlib.sha256(os.fsencode(self._real)).hexdigest()[:32]}.json"

    def install(self, program: str = hooks.PROGRAM) -> bool:
        """Put our entries in; False when they were all there already. Raises WaveError; then the file is as it was."""
        with self._locked():
            text = load_text(self.path)
            if text is None:
                self._create(hooks.new_file(program))
                return True
            bom, body = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
            with told(self.path):
                root = jsontext.parse(body)
                if set(hooks.states(root, program).values()) == {hooks.State.INSTALLED}:
                    return False
                if others := hooks.rivals(root):
                    raise Refusal(Reason.OTHER_HOOK, f"{self.path}: {'; '.join(others)}")
                edited = hooks.installed(body, program)
            require_sound(edited, program)
            shifted = [[offset + len(bom), length] for offset, length in edited.inserted]
            made = self._load_receipt()
            before, after = bom + edited.base, bom + edited.text
            self._write_receipt(
                Receipt(
                    str(self._real),
                    digest(before),
                    digest(after),
                    shifted,
                    bool(made and made.made_file),
                    bool(made and made.made_directory),
                )
            )
            self._replace(text, after)
            return True

    def uninstall(self) -> bool:
        """Take our entries out; False when there were none. Raises WaveError; then the file is as it was."""
        with self._locked():
            text = load_text(self.path)
            receipt = self._load_receipt()
            if text is None:
                self._forget()
                return False
            bom, body = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
            with told(self.path):
                rest = hooks.uninstalled(body)
            if rest == body:
                return False
            after = as_before(text, receipt) or bom + rest
            if receipt and receipt.made_file and after.strip() in ("", "{}"):
                self._delete(text, receipt)
            else:
                self._replace(text, after)
            self._forget()
            return True

    def _create(self, text: str) -> None:
        made_directory = not self._real.parent.is_dir()
        with unwritable(self._real):
            self._real.parent.mkdir(exist_ok=True)
        whole = [[0, len(text)]]
        self._write_receipt(Receipt(str(self._real), digest(""), digest(text), whole, True, made_directory))
        self._replace(None, text)

    def _replace(self, seen: str | None, text: str) -> None:
        """Write the file if it is still as it was seen."""
        self._require_unchanged(seen)
        with unwritable(self._real):
            if seen is not None and not os.stat(self._real).st_mode & stat.S_IWUSR:
                raise WaveError(Reason.SETTINGS_UNWRITABLE, f"{self._real}: it is read-only")
            replace_file(self._real, text.encode())

    def _delete(self, seen: str, receipt: Receipt) -> None:
        self._require_unchanged(seen)
        with unwritable(self._real):
            self._real.unlink()
            sync_directory(self._real.parent)
        if receipt.made_directory:
            try:
                self._real.parent.rmdir()
            except OSError:
                pass  # somebody put something there meanwhile

    def _require_unchanged(self, seen: str | None) -> None:
        if load_text(self.path) != seen or Path(os.path.realpath(self.path)) != self._real:
            raise WaveError(Reason.SETTINGS_CHANGED, f"{self.path}: somebody else wrote to it just now")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # only here is a settings file changed

        lock = FileLock(self._receipt.with_suffix(".lock"), timeout=LOCK_TIMEOUT)
        try:
            self._receipts.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (OSError, Timeout) as error:
            raise Refusal(Reason.STATE_UNWRITABLE, f"{lock.lock_file}: {error}") from error
        try:
            yield
        finally:
            lock.release()

    def _load_receipt(self) -> Receipt | None:
        """The receipt of the last installation; None when there is none that can be understood."""
        try:
            found: dict[str, Any] = json.loads(read_regular(self._receipt))
            receipt = Receipt(**found)
            spans = [(int(offset), int(length)) for offset, length in receipt.inserted]
        except (OSError, ValueError, TypeError):
            return None
        return receipt if receipt.path == str(self._real) and all(a >= 0 <= b for a, b in spans) else None

    def _write_receipt(self, receipt: Receipt) -> None:
        try:
            replace_file(self._receipt, json.dumps(asdict(receipt)).encode())
        except OSError as error:
            raise WaveError(Reason.STATE_UNWRITABLE, f"{self._receipt}: {error.strerror}") from error

    def _forget(self) -> None:
        try:
            self._receipt.unlink(missing_ok=True)
        except OSError:
            pass  # a receipt for another text than the file's is not heeded


def as_before(text: str, receipt: Receipt | None) -> str | None:
    """The text as it was before the installation; None when anything else has changed since."""
    if receipt is None or digest(text) != receipt.after:
        return None
    before = jsontext.taken_out(text, [(offset, length) for offset, length in receipt.inserted])
    return before if digest(before) == receipt.before else None


def require_sound(edited: hooks.Edited, program: str) -> None:
    """Our own work, looked at before it is written: everything of the others' is there, and all of ours."""
    root = jsontext.parse(edited.text)
    sound = set(hooks.states(root, program).values()) == {hooks.State.INSTALLED}
    sound = sound and jsontext.taken_out(edited.text, edited.inserted) == edited.base
    if not sound:
        raise WaveError(Reason.SETTINGS_INVALID, "the file could not be edited without changing more than our entries")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WaveError(Reason.SETTINGS_UNWRITABLE, f"{path}: {error.strerror}") from error
