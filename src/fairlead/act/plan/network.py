# SPDX-License-Identifier: Apache-2.0
"""The plan's network: the hosts by all their names, and what lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.act.launch.host_names import further_names, host_name_problem
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.errors import Error, InputError
from fairlead.files.json_files import read_json
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.network import Matrix, Network

__all__ = ["NETWORK_FILE", "read_host_names", "read_network_plan", "write_network_plan"]

Vector = npt.NDArray[np.float64]

NETWORK_FILE = "network.json"

VERSION = 3
"""2 had neither interfaces nor groups."""


def write_network_plan(folder: Path | str, network: Network, name: str = NETWORK_FILE) -> None:
    """Write what features of the plan take from the network (docs/reference/plan.md).

    Args:
        folder: The plan; made when it is missing.
        network: All pairs of hosts that the program may run on.
        name: The file: by default that of all features that have none of their own.

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
    write_plan_file(folder, name, fields, VERSION, kind="network")


def read_network_plan(path: Path) -> Network:
    """Read what `write_network_plan` wrote; of a host's names the first.

    Raises:
        InputError: The file is missing or damaged; the message names file and field.
    """
    record = read_json(path, _Network)
    try:
        return Network(
            [names[0] for names in record.hosts],
            _matrix(record.latency_s, np.inf),
            _matrix(record.bandwidth_Bps, np.inf),
            nic_out_Bps=_matrix(record.nic_out_Bps, np.nan) if record.nic_out_Bps else None,
            nic_in_Bps=_matrix(record.nic_in_Bps, np.nan) if record.nic_in_Bps else None,
            groups=[
                BottleneckGroup(np.array(group.pairs), group.capacity_Bps)
                for group in record.groups
            ],
            source=str(path),
        )
    except (Error, ValueError) as error:  # Numpy refuses rows of different lengths.
        raise InputError(f"{path}: {error}") from error


def read_host_names(folder: Path | str) -> list[str]:
    """The names of the hosts that features share, in their order.

    Raises:
        InputError: The file is missing or damaged; the message names file and field.
    """
    return list(read_network_plan(Path(folder) / NETWORK_FILE).hosts)


_Cells = list[float | None]


class _Group(pydantic.BaseModel, extra="forbid"):
    pairs: list[tuple[int, int]]
    capacity_Bps: float


class _Network(pydantic.BaseModel, extra="forbid"):
    format: Literal["fairlead-network"]
    version: Literal[3]
    hosts: list[Annotated[list[str], pydantic.Field(min_length=1)]]
    latency_s: list[_Cells]
    bandwidth_Bps: list[_Cells]
    nic_out_Bps: _Cells
    nic_in_Bps: _Cells
    groups: list[_Group]


def _matrix(cells: list[_Cells] | _Cells, null: float) -> npt.NDArray[np.float64]:
    """The numbers; JSON has a null where there is none."""
    values: npt.NDArray[np.float64] = np.array(cells, dtype=np.float64)
    return np.where(np.isnan(values), null, values)


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
