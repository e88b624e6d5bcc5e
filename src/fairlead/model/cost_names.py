# SPDX-License-Identifier: Apache-2.0
"""What costs are called where people read them; files and JSON keep the names of the fields."""

from __future__ import annotations

COST_NAMES = {
    "inter_bytes": "bytes between hosts",
    "intra_bytes": "bytes inside hosts",
    "comm_time_s": "all bytes in turn",
    "serial_time_s": "all messages in turn",
    "bottleneck_s": "busiest part of the network",
    "bottleneck_and_mean_s": "time on the network",
}
"""By the fields of `fairlead.Cost`, in its order; docs/reference/costs.md has the same table."""

PREDICTED_TIMES = tuple(field for field in COST_NAMES if field.endswith("_s"))
"""The costs that rank placements as measured times do, if they are any good."""
