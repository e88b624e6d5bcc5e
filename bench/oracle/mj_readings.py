# SPDX-License-Identifier: Apache-2.0
"""Other readings of MJ, which ORACLE compares with (section V): it cuts tasks and cores into parts.

The text does not say into how many parts at a time. `geometric` cuts the nodes, of which each has
four cores: 16 nodes into 3, 3 and 2 parts. These cut the 64 cores, each with its node's
coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from paper_machine import APPLICATION, RANKS_OF_NODE, name_of, router_of, task_coordinates

from fairlead.decide.placement.geometric import multi_jagged

Coordinates = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def in_fourths(tasks: Coordinates, cores: Coordinates) -> Indices:
    """A core for each task: 4 parts along each of the three dimensions, as the tasks are."""
    return multi_jagged(tasks, cores, np.ones(len(cores), dtype=np.int64))


def in_halves(tasks: Coordinates, cores: Coordinates) -> Indices:
    """A core for each task: again and again two parts, along what is then the longest dimension."""
    core_of_task = np.zeros(len(tasks), dtype=np.int64)

    def cut(of_tasks: Indices, of_cores: Indices) -> None:
        if len(of_tasks) == 1:
            core_of_task[of_tasks] = of_cores
            return
        halves = [_in_order(tasks, of_tasks), _in_order(cores, of_cores)]
        middle = len(of_tasks) // 2
        cut(*(half[:middle] for half in halves))
        cut(*(half[middle:] for half in halves))

    cut(np.arange(len(tasks)), np.arange(len(cores)))
    return core_of_task


def _in_order(coordinates: Coordinates, members: Indices) -> Indices:
    """Members along their longest dimension; what is equal in it by the next longest ones."""
    own = coordinates[members]
    longest_last = np.argsort(np.ptp(own, axis=0), kind="stable")
    return np.asarray(members[np.lexsort(own[:, longest_last].T)])


def hosts_by(cut: Callable[[Any, Any], Indices]) -> list[str]:
    """Host of each task of ORACLE's program."""
    nodes = [node for node in APPLICATION for _ in range(RANKS_OF_NODE)]
    cores = np.array([router_of(node) for node in nodes], dtype=float)
    return [name_of(nodes[core]) for core in cut(np.array(task_coordinates()), cores)]


MJ_READINGS = {
    "MJ, cores cut into fourths": in_fourths,
    "MJ, cores cut into halves": in_halves,
}
