# SPDX-License-Identifier: Apache-2.0
"""The plan by which topologies with `reorder=1` are placed."""

from __future__ import annotations

import math
from pathlib import Path

from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.errors import InputError
from fairlead.model.network import Network

__all__ = ["DEFAULT_MESSAGE_BYTES", "REORDER_FILE", "write_reorder_plan"]

REORDER_FILE = "reorder.json"

DEFAULT_MESSAGE_BYTES = 65536.0


def write_reorder_plan(
    folder: Path | str, network: Network, message_bytes: float = DEFAULT_MESSAGE_BYTES
) -> None:
    """Write the plan for placing topologies with `reorder=1` (docs/reference/plan.md).

    A program uses it when FAIRLEAD_PLAN names the folder and LD_PRELOAD the preload library.

    Args:
        folder: Folder for the files; created if it is missing.
        network: All pairs of hosts that the program may run on.
        message_bytes: Size of one message of an edge with weight 1, in bytes: how much bandwidth
            counts compared with latency.

    Raises:
        TopologyError: A pair was not measured.
        InputError: A host's name or the size cannot be used, or the folder cannot be written.
    """
    if not 0 < message_bytes < math.inf:
        raise InputError(f"plan: message_bytes: expected a finite number > 0, got {message_bytes}")
    write_network_plan(folder, network)
    write_plan_file(folder, REORDER_FILE, {"message_bytes": float(message_bytes)})
