# SPDX-License-Identifier: Apache-2.0
"""The plan: a folder of small text files that the preload library reads when a program starts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from fairlead.act.launch.host_names import further_names, host_name_problem
from fairlead.errors import InputError, TopologyError
from fairlead.files.archive import write_text
from fairlead.model.network import Matrix, Network

__all__ = ["DEFAULT_MESSAGE_BYTES", "NETWORK_FILE", "REORDER_FILE", "write_reorder_plan"]

NETWORK_FILE = "network.txt"
REORDER_FILE = "reorder.txt"

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
            counts beside latency.

    Raises:
        TopologyError: A pair was not measured.
        InputError: A host's name or the size cannot be used, or the folder cannot be written.
    """
    if not 0 < message_bytes < math.inf:
        raise InputError(f"plan: message_bytes: expected a finite number > 0, got {message_bytes}")
    network_text = _network_text(network)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    write_text(folder / NETWORK_FILE, network_text)
    text = f"fairlead-reorder 1\nmessage_bytes {float(message_bytes)!r}\nend\n"
    write_text(folder / REORDER_FILE, text)


def _network_text(network: Network) -> str:
    gaps = network.unmeasured_pairs()
    if gaps:
        src, dst = gaps[0]
        raise TopologyError(f"plan: {src} -> {dst} was not measured: give the probe more time")
    for host in network.hosts:
        problem = host_name_problem(host)
        if problem:
            raise InputError(f"plan: {problem}")
    hosts = [f"host {' '.join([host, *further_names(host)])}" for host in network.hosts]
    lines = [
        "fairlead-network 1",
        f"num_hosts {network.num_hosts}",
        *hosts,
        *_rows("latency_s", network.latency_s),
        *_rows("bandwidth_Bps", network.bandwidth_Bps),
        "end",
    ]
    return "".join(f"{line}\n" for line in lines)


def _rows(name: str, matrix: Matrix) -> list[str]:
    # repr of a float reads back as the same float.
    values = np.asarray(matrix, dtype=np.float64).tolist()
    return [f"{name} {' '.join(map(repr, row))}" for row in values]
