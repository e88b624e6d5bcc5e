# SPDX-License-Identifier: Apache-2.0
"""The five mechanisms that CloudMap compares (section V-C), its two halves, and ours.

`default` interleaves, as Open MPI 1.6.5 did in the paper: a task for each instance in turn. Its
RoundRobin fills one instance after the other, which is what mpirun does today.
"""

from __future__ import annotations

import dataclasses

import traces

import fairlead as fl

PROFILE_S = {8: 0.69, 32: 1.67}
"""By the number of instances, table II."""

MAPPING_S = {64: 0.005, 256: 0.028}
"""By the number of tasks, on which alone it depends (table II and section VI-F)."""

BASELINE = "default"


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """How tasks are placed.

    Attributes:
        method: A method of `fairlead.place`.
        is_profiled, is_mapped: Whether each run first measures the network, and whether it computes
            a mapping, both of which count.
    """

    method: str
    metric: str = "bytes"
    is_profiled: bool = False
    is_mapped: bool = False


PUBLISHED = {
    BASELINE: Mechanism("cyclic"),
    "RoundRobin": Mechanism("blocked"),
    "Random": Mechanism("random"),
    "CloudMap_bw": Mechanism("scotch", "bytes", is_profiled=True, is_mapped=True),
    "CloudMap_lat": Mechanism("scotch", "messages", is_profiled=True, is_mapped=True),
}
HALVES = {
    "intra only": Mechanism("scotch-intra", "bytes", is_mapped=True),
    "inter only": Mechanism("scotch-inter", "bytes", is_profiled=True, is_mapped=True),
}
OURS = {"optimize (ours)": Mechanism("optimize", is_profiled=True, is_mapped=True)}
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


def overhead_s(mechanism: str, num_hosts: int, num_tasks: int) -> float:
    """What a mechanism takes before the program starts: profile and mapping as in table II.

    Table II is of A7, whose overhead is the highest of the three sizes (section VI-F).
    """
    chosen = ALL[mechanism]
    profile_s = PROFILE_S[num_hosts] if chosen.is_profiled else 0.0
    return profile_s + (MAPPING_S[num_tasks] if chosen.is_mapped else 0.0)
