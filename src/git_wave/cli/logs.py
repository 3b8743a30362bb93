"""Logging: warnings and what hooks say on standard error, everything with -v or in a file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from git_wave.model.errors import in_words
from git_wave.report.plain import plain

LINE = "{time:YYYY-MM-DD HH:mm:ss.SSS} {level: <7} {extra[source]}: {message}"


class PlainHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic only in the stubs
    """Standard error, made safe for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))


class LoguruHandler(logging.Handler):
    """Hands records of the standard library's logging to loguru."""

    def emit(self, record: logging.LogRecord) -> None:
        from loguru import logger

        logger.bind(source=record.name).opt(exception=record.exc_info).log(
            record.levelname, "{}", plain(record.getMessage())
        )


def require_writable(path: Path) -> None:
    """Raises UsageError where nothing can be appended to it, also for a pipe that nobody reads."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o666))
    except OSError as error:
        raise click.UsageError(f"--log-file: {in_words(error)}") from error


@contextmanager
def logging_to(*, quiet: bool, verbose: bool, log_file: Path | None) -> Iterator[None]:
    """Set logging up for one command and take it down again.

    loguru is imported only when somebody asked for what it gives.
    """
    root = logging.getLogger("git_wave")
    handlers: list[logging.Handler] = []
    sinks: list[int] = []
    if verbose or log_file:
        from loguru import logger

        logger.remove()
        if verbose:
            sinks.append(logger.add(sys.stderr, format=LINE, level="DEBUG", colorize=False))
        if log_file:
            require_writable(log_file)
            sinks.append(logger.add(log_file, format=LINE, level="DEBUG", encoding="utf-8", errors="backslashreplace"))
        handlers.append(LoguruHandler())
    if not verbose:
        handlers.append(PlainHandler(sys.stderr))
        handlers[-1].setLevel(logging.ERROR if quiet else logging.INFO)
    root.setLevel(logging.DEBUG if sinks else logging.INFO)
    root.propagate = False
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
        for sink in sinks:
            logger.remove(sink)
