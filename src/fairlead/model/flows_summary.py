# SPDX-License-Identifier: Apache-2.0
"""Outcome of running flows together, which finds shared capacities."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FlowsSummary"]


class FlowsSummary(NamedTuple):
    """Whether the search for shared capacities was complete.

    Attributes:
        is_complete: All comparisons were made; otherwise there may be more shared capacities.
        error: Why no flows could be run together, so that only the pairs are known; or None.
    """

    is_complete: bool
    error: str | None = None
