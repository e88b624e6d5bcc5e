# SPDX-License-Identifier: Apache-2.0
"""Times along many random trees, which `random_trees/main.cpp` computes by itself."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from bound_process import run_bound

import fairlead as fl

SOURCES = Path(__file__).parent / "random_trees"
BUILD = SOURCES.parents[2] / "build" / "random-trees"

Vector = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A call whose trees are drawn.

    Attributes:
        operation: "bcast" or "scatter".
        network: All NICs alike; no shared groups.
        ranks_of_hosts: Blocks of a scatter that each host gets.
        root: A host.
    """

    operation: str
    network: fl.Network
    ranks_of_hosts: list[int]
    message_bytes: int
    root: int


def times_s(case: Case, num_trees: int, seed: int = 0) -> Vector:
    """Seconds along each tree."""
    return _output(case, num_trees, seed, [])


def trees(case: Case, num_trees: int) -> list[tuple[float, list[int]]]:
    """The same of a few, each with the parent of each host, -1 at the root."""
    rows = _output(case, num_trees, 0, ["parents"]).reshape(num_trees, -1)
    return [(float(row[0]), [int(parent) for parent in row[1:]]) for row in rows]


def _output(case: Case, num_trees: int, seed: int, more: list[str]) -> Vector:
    command = [str(built()), case.operation, str(num_trees), str(seed), *more]
    done = subprocess.run(command, input=_as_bytes(case), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout)


@functools.cache
def built() -> Path:
    """The program; takes some seconds the first time."""
    for command in (
        ["cmake", "-S", str(SOURCES), "-B", str(BUILD)],
        ["cmake", "--build", str(BUILD)],
    ):
        run_bound(command)
    return BUILD / "random_trees"


def _as_bytes(case: Case) -> bytes:
    network = case.network
    assert network.nic_out_Bps is not None
    head = [network.num_hosts, case.root, case.message_bytes, network.nic_out_Bps[0]]
    parts = (head, case.ranks_of_hosts, network.latency_s, network.bandwidth_Bps)
    return b"".join(np.ascontiguousarray(values, dtype=float).tobytes() for values in parts)
