# SPDX-License-Identifier: Apache-2.0
"""All methods of planning collectives by name; each is a file in core/collectives/methods."""

from __future__ import annotations

from fairlead import _core

OPERATIONS = (
    "bcast",
    "reduce",
    "gather",
    "scatter",
    "allgather",
    "allreduce",
    "reduce_scatter",
    "alltoall",
    "barrier",
)
"""Operations that can be planned. Gather, scatter, allgather and reduce_scatter also with blocks of
different sizes."""

WITH_ROOT = ("bcast", "reduce", "gather", "scatter")
WITH_BLOCKS = ("gather", "scatter", "allgather", "reduce_scatter")

METHODS: dict[str, str] = dict(_core.collective_methods())
"""What each method does, in one line."""

VARIANTS: dict[str, str] = dict(_core.collective_variants())
"""Methods that fix a size of segments, and the method that searches for it."""

FASTEST = "fastest"
"""The method for the operation, `VARIANTS` left out, that has the least predicted time."""


def methods_for(operation: str) -> list[str]:
    """Methods that plan the operation.

    Raises:
        InputError: There is no such operation.
    """
    return [name for name in METHODS if _core.is_collective_method_for(name, operation)]
