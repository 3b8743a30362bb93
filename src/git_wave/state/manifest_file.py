"""The manifest on disk: read by the wave, appended to by many recorders at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from git_wave.model.errors import Refusal, WaveError
from git_wave.model.manifest import parse_json
from git_wave.model.names import is_encodable
from git_wave.model.reasons import Reason
from git_wave.state.atomic import replace_file
from git_wave.state.named_files import read_named

LOCK_TIMEOUT = 60.0
"""Seconds that a recorder waits for the others. Each holds the lock for milliseconds."""


def load_bytes(path: Path) -> bytes:
    """Raises Refusal with `manifest_read_failed`."""
    try:
        return read_named(path)
    except (OSError, ValueError) as error:
        raise Refusal(Reason.MANIFEST_READ_FAILED, f"{path}: {getattr(error, 'strerror', None) or error}") from error


def load_document(path: Path) -> Any:
    """The parsed JSON document. Raises Refusal with the reason of DESIGN's manifest section."""
    return parse_json(load_bytes(path))


def write_document(path: Path, document: Any) -> None:
    """Raises WaveError with `manifest_write_failed`; then the old file stands."""
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        if not is_encodable(text):
            text = json.dumps(document, indent=2, allow_nan=False)
        replace_file(path, f"{text}\n".encode())
    except (OSError, ValueError) as error:
        raise WaveError(Reason.MANIFEST_WRITE_FAILED, f"{path}: {error}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the manifest's own lock, a file beside it, so that read, check and write are one step.

    Raises WaveError with `manifest_write_failed`.
    """
    from filelock import FileLock, Timeout  # a wave never writes a manifest

    real = path.resolve()
    lock = FileLock(real.with_name(f".{real.name}.lock"), timeout=LOCK_TIMEOUT)
    try:
        lock.acquire()
    except Timeout as error:
        raise WaveError(Reason.MANIFEST_WRITE_FAILED, f"{lock.lock_file} is held by another writer") from error
    except OSError as error:
        raise WaveError(Reason.MANIFEST_WRITE_FAILED, f"{lock.lock_file}: {error}") from error
    try:
        yield
    finally:
        lock.release()
