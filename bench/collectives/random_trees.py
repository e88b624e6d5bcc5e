# SPDX-License-Identifier: Apache-2.0
"""Many random trees, whose times `random_trees/main.cpp` predicts with the planner's own code."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fairlead as fl

SOURCES = Path(__file__).parent / "random_trees"
SEED = 0
BUILD = SOURCES.parents[2] / "build" / "random-trees"


class RandomTrees(NamedTuple):
    """The time of the best of them, and how many are faster than each of some times."""

    best_s: float
    num_faster: list[int]


def against_trees(
    operation: str,
    network: fl.Network,
    message_bytes: int,
    num_trees: int,
    times_s: Sequence[float],
) -> RandomTrees:
    """Compare times with those of random trees; the network has no shared groups."""
    numbers = (message_bytes, num_trees, SEED, *times_s)
    done = subprocess.run(
        [str(built()), operation, *map(repr, numbers)],
        input=_as_bytes(network),
        stdout=subprocess.PIPE,
        check=True,
    )
    best_s, *num_faster = done.stdout.split()
    return RandomTrees(float(best_s), [int(count) for count in num_faster])


def built() -> Path:
    """The program; takes half a minute the first time."""
    for command in (
        ["cmake", "-S", str(SOURCES), "-B", str(BUILD)],
        ["cmake", "--build", str(BUILD)],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return BUILD / "random_trees"


def _as_bytes(network: fl.Network) -> bytes:
    assert network.nic_out_Bps is not None
    assert network.nic_in_Bps is not None
    matrices = (network.latency_s, network.bandwidth_Bps, network.nic_out_Bps, network.nic_in_Bps)
    return b"".join(
        np.ascontiguousarray(values, dtype=float).tobytes()
        for values in (float(network.num_hosts), *matrices)
    )
