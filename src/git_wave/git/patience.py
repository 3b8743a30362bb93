"""Waiting for somebody else's lock file: bounded, with jitter, and only where a repeat is harmless."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from git_wave.model.errors import GitLocked

logger = logging.getLogger("git_wave.git")
Result = TypeVar("Result")


def patiently(call: Callable[[], Result], seconds: float) -> Result:
    """The result of `call`, repeated for up to `seconds` while it raises GitLocked; then that is raised."""
    try:
        return call()
    except GitLocked as first:
        logger.debug("%s is held; trying again", first.lock_file)
    # Imported only when something is locked: most commands never need it.
    from tenacity import (
        Retrying,
        before_sleep_log,
        retry_if_exception_type,
        stop_after_delay,
        wait_random_exponential,
    )

    retrying = Retrying(
        retry=retry_if_exception_type(GitLocked),
        stop=stop_after_delay(seconds),
        wait=wait_random_exponential(multiplier=0.02, max=0.5),
        before_sleep=before_sleep_log(logger, logging.DEBUG),
        reraise=True,
    )
    return retrying(call)
