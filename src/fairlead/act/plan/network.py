# SPDX-License-Identifier: Apache-2.0
"""The plan's network: the hosts by all their names, and what lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.act.launch.host_names import further_names, host_name_problem
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.errors import InputError
from fairlead.files.json_files import read_json
from fairlead.model.network import Matrix, Network

__all__ = ["NETWORK_FILE", "read_host_names", "write_network_plan"]

Vector = npt.NDArray[np.float64]

NETWORK_FILE = "network.json"

VERSION = 3
"""2 had neither interfaces nor groups."""


def write_network_plan(folder: Path | str, network: Network) -> None:
    """Write what all features of the plan take from the network (docs/reference/plan.md).

    Args:
        folder: The plan; made when it is missing.
        network: All pairs of hosts that the program may run on.

    Raises:
        TopologyError: A pair was not measured.
        InputError: A host's name cannot be used, or the folder cannot be written.
    """
    network.require_measured("give the probe more time")
    for host in network.hosts:
        problem = host_name_problem(host)
        if problem:
            raise InputError(f"plan: {problem}")
    fields = {
        "hosts": [[host, *further_names(host)] for host in network.hosts],
        "latency_s": _rows(network.latency_s),
        "bandwidth_Bps": _rows(network.bandwidth_Bps),
        "nic_out_Bps": _rates(network.nic_out_Bps),
        "nic_in_Bps": _rates(network.nic_in_Bps),
        "groups": [
            {"pairs": group.pairs.tolist(), "capacity_Bps": group.capacity_Bps}
            for group in network.groups
        ],
    }
    write_plan_file(folder, NETWORK_FILE, fields, VERSION)


def read_host_names(folder: Path | str) -> list[str]:
    """The names of the plan's hosts, in their order.

    Raises:
        InputError: The file is missing or damaged; the message names file and field.
    """
    return [names[0] for names in read_json(Path(folder) / NETWORK_FILE, _Hosts).hosts]


class _Hosts(pydantic.BaseModel):
    hosts: list[Annotated[list[str], pydantic.Field(min_length=1)]]


def _rates(values: Vector | None) -> list[float | None]:
    """Rate of each host, null where unknown; empty where no host's is known."""
    if values is None:
        return []
    return [float(rate) if np.isfinite(rate) else None for rate in values]


def _rows(matrix: Matrix) -> list[list[Any]]:
    """The rows, null for infinite, which JSON has not."""
    cells = np.asarray(matrix, dtype=np.float64).astype(object)
    cells[np.isinf(matrix)] = None
    rows: list[list[Any]] = cells.tolist()
    return rows
