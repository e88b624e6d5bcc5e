# SPDX-License-Identifier: Apache-2.0
"""The five mechanisms that CloudMap compares (section V-C), its two halves, and ours.

`default` interleaves, as Open MPI 1.6.5 did in the paper: a task for each instance in turn. Its
RoundRobin fills one instance after the other, which is what mpirun does today.
"""

from __future__ import annotations

import dataclasses

import traces

import fairlead as fl

OVERHEAD_S = {8: 0.69 + 0.005, 32: 1.67 + 0.028}
"""Profiling and mapping by the number of instances, table II."""

BASELINE = "default"


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """How tasks are placed.

    Attributes:
        method: A method of `fairlead.place`.
        is_profiled: Whether each run measures the network first, which counts.
    """

    method: str
    metric: str = "bytes"
    is_profiled: bool = False


PUBLISHED = {
    BASELINE: Mechanism("cyclic"),
    "RoundRobin": Mechanism("blocked"),
    "Random": Mechanism("random"),
    "CloudMap_bw": Mechanism("scotch", "bytes", is_profiled=True),
    "CloudMap_lat": Mechanism("scotch", "messages", is_profiled=True),
}
HALVES = {
    "intra only": Mechanism("scotch-intra", "bytes"),
    "inter only": Mechanism("scotch-inter", "bytes", is_profiled=True),
}
OURS = {"optimize (ours)": Mechanism("optimize", is_profiled=True)}
ALL = {**PUBLISHED, **HALVES, **OURS}


def place(mechanism: str, name: str, network: fl.Network, slots: int, run: int) -> fl.Placement:
    """The placement of a recording, from a perfect profile of the network at its start."""
    chosen = ALL[mechanism]
    return fl.place(
        traces.traffic(name),
        network,
        fl.Cluster.uniform(network.hosts, slots),
        chosen.method,
        metric=chosen.metric,
        seed=run,
    )


def overhead_s(mechanism: str, num_hosts: int) -> float:
    """What a mechanism takes before the program starts: profile and mapping as in table II.

    Table II is of A7, whose overhead is the highest of the three sizes (section VI-F).
    """
    return OVERHEAD_S[num_hosts] if ALL[mechanism].is_profiled else 0.0
