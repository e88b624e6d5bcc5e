# SPDX-License-Identifier: Apache-2.0
"""`place`: a host for each rank, by any method of the catalogue."""

from __future__ import annotations

from collections.abc import Collection

from fairlead.cluster import Cluster
from fairlead.errors import InputError
from fairlead.mapping.catalogue import METHODS
from fairlead.mapping.problem import METRICS, OBJECTIVES, Problem
from fairlead.network import Network
from fairlead.placement import Placement
from fairlead.traffic import Traffic

__all__ = ["place", "require_method"]


def place(
    traffic: Traffic,
    network: Network,
    cluster: Cluster,
    method: str = "scotch",
    *,
    metric: str = "bytes",
    objective: str = "sum",
    seed: int = 0,
) -> Placement:
    """Choose a host for each rank; no host gets more ranks than slots.

    Args:
        traffic: What the T ranks send one another.
        network: Measurements; must hold all hosts of the cluster, may hold more.
        cluster: Hosts and slots.
        method: Name in `fairlead.mapping.METHODS`. `launcher`, `blocked`, `cyclic` and `random`
            look at the slots only.
        metric: What the traffic is weighed by: "bytes" with 1 / bandwidth_Bps, or "messages"
            with latency_s.
        objective: What decides between the placements that the method finds: "sum" over pairs of
            ranks of traffic * cost of their hosts, or "bottleneck", `Cost.bottleneck_s`.
        seed: Where random numbers start, 0 or more; same seed, same placement.

    Raises:
        InputError: A name is unknown; the message lists those there are.
        TopologyError: The ranks do not fit, a host is not in the network, or a pair of hosts that
            the method needs was not measured.
    """
    require_method(method)
    _require_known("metric", metric, METRICS)
    _require_known("objective", objective, OBJECTIVES)
    if seed < 0:
        raise InputError(f"seed: must be >= 0, got {seed}")
    cluster.require_room_for(traffic.num_ranks)
    problem = Problem(
        traffic=traffic.total(),
        network=network.select(cluster.hosts),
        cluster=cluster,
        metric=metric,
        objective=objective,
        seed=seed,
    )
    return Placement(
        hosts=cluster.hosts,
        host_of_rank=METHODS[method].place(problem),
        method=method,
        origin={"metric": metric, "objective": objective, "seed": seed},
    )


def require_method(name: str) -> None:
    """Check that there is such a method, before measuring for it.

    Raises:
        InputError: The name is unknown; the message lists those there are.
    """
    _require_known("method", name, METHODS)


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise InputError(f"{what}: unknown name {name!r}; there are {', '.join(known)}")
