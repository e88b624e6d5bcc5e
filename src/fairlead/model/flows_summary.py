# SPDX-License-Identifier: Apache-2.0
"""How running flows together came out, by which shared capacities are found."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FlowsSummary"]


class FlowsSummary(NamedTuple):
    """Whether the flows that were run together found all there is to find.

    Attributes:
        is_complete: All was tried; otherwise there may be more that is shared.
        error: Why none could be run, so that only the pairs are known; or None.
    """

    is_complete: bool
    error: str | None = None
