"""The eight stages, in the one place that fixes their order. A stage is a file here and a line below."""

from __future__ import annotations

from git_wave.stages import base, deletions, dirt, identity, merge, rescue, scope, teardown
from git_wave.stages._case import Act, Gate

STAGES: tuple[Gate | Act, ...] = (
    identity.STAGE,
    base.STAGE,
    deletions.STAGE,
    scope.STAGE,
    rescue.STAGE,
    dirt.STAGE,
    merge.STAGE,
    teardown.STAGE,
)
