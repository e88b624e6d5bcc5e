# SPDX-License-Identifier: Apache-2.0
"""The names of costs in the terminal and on the page; files and JSON use the fields' names."""

from __future__ import annotations

COST_NAMES = {
    "inter_bytes": "bytes between hosts",
    "intra_bytes": "bytes inside hosts",
    "comm_time_s": "all bytes in turn",
    "serial_time_s": "all messages in turn",
    "bottleneck_s": "busiest part of the network",
    "bottleneck_and_mean_s": "time on the network",
    "slowest_rank_s": "time of the slowest rank",
}
"""By the fields of `fairlead.Cost`, in its order; docs/reference/costs.md has the same table."""

SELDOM_KNOWN = ("slowest_rank_s",)
"""Costs that are left out where no placement has them."""

PREDICTED_TIMES = tuple(field for field in COST_NAMES if field.endswith("_s"))
"""The costs that should rank placements as measured times do."""
