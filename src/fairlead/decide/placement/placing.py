# SPDX-License-Identifier: Apache-2.0
"""`place`: a host for each rank, by any method of the catalogue."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from fairlead.decide.placement.catalogue import METHODS
from fairlead.decide.placement.problem import (
    DEFAULT_OBJECTIVE,
    METRICS,
    OBJECTIVES,
    SLOWEST_RANK,
    HostOfRank,
    OnProgress,
    Problem,
    SearchLimits,
    choose_objective,
)
from fairlead.errors import InputError, ShapeError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.seed import require_seed

__all__ = ["place", "require_method"]


def place(
    traffic: Traffic,
    network: Network | HostTree,
    cluster: Cluster,
    method: str = "optimize",
    *,
    metric: str = "bytes",
    objective: str = DEFAULT_OBJECTIVE,
    seed: int = 0,
    time_limit_s: float | None = None,
    num_threads: int = 0,
    fixed: Mapping[int, str] | None = None,
    start: Placement | None = None,
    max_moves: int | None = None,
    on_progress: OnProgress | None = None,
    rank_coordinates: npt.ArrayLike | None = None,
    weigh_hosts: bool = True,
    uneven: bool = False,
) -> Placement:
    """Choose a host for each rank; no host gets more ranks than slots.

    Args:
        traffic: What the T ranks send one another.
        network: Measurements, or a tree of groups (objective "sum" only); must hold all hosts of
            the cluster, may hold more.
        cluster: Hosts and slots.
        method: Name in `fairlead.decide.placement.METHODS`. `launcher`, `blocked`, `cyclic` and
            `random` look at the slots only.
        metric: How traffic is weighted: "bytes" with 1 / bandwidth_Bps, or "messages" with
            latency_s. It counts for Scotch's methods and `geometric`, and for `optimize` by the
            objective "sum"; the other objectives use both.
        objective: What `optimize`, and the methods that make several placements, go by:
            "bottleneck", `Cost.bottleneck_s`; "bottleneck-and-mean", `Cost.bottleneck_and_mean_s`;
            or "sum" over pairs of ranks of traffic * cost of their hosts.
        seed: Where random numbers start, 0 to 2**32 - 1; same seed, same placement.
        time_limit_s: For `optimize`: when to stop, in seconds from now; None: by the number of
            ranks, some 2 s as a rule and 30 s and 0.4 ms a rank at most.
        num_threads: For `optimize`; 0: one for each core. Without a time limit the answer does not
            depend on it.
        fixed: For `optimize`: host of each rank that must be there.
        start: For `optimize`: a placement of these ranks to begin from.
        max_moves: For `optimize`: most ranks that may leave the host they have in `start`.
        on_progress: For `optimize`: gets proposals made and proposals in all; the search ends
            with what it has when it returns False.
        rank_coordinates: For `geometric`: where the ranks are in the program's own space, shape
            (T, D), such as a grid of processes; None: made up from the traffic.
        weigh_hosts: Whether the default objective becomes "slowest-rank", `Cost.slowest_rank_s`,
            where the network's hosts differ in speed beyond their spread and the traffic has the
            computing times of its ranks.
        uneven: Whether that objective may give a slow host fewer ranks than its even share, where
            other hosts have slots.

    Raises:
        InputError: A name is unknown; the message lists those there are. Or an argument is out of
            its range, or the method has no use for it.
        TopologyError: The ranks do not fit, a host is not in the network, or a pair of hosts that
            the method needs was not measured.
    """
    require_method(method)
    _require_known("metric", metric, METRICS)
    _require_known("objective", objective, OBJECTIVES)
    require_seed(seed)
    cluster.require_room_for(traffic.num_ranks)
    if method != "optimize":
        _require_absent(
            time_limit_s=time_limit_s,
            num_threads=num_threads or None,
            fixed=fixed or None,
            start=start,
            max_moves=max_moves,
            on_progress=on_progress,
        )
    if method != "geometric" and rank_coordinates is not None:
        raise InputError("rank_coordinates: only the method 'geometric' has a use for them")
    limits = SearchLimits(
        time_limit_s=_check_limit(time_limit_s),
        num_threads=_check_count("num_threads", num_threads),
        fixed=_check_fixed(fixed or {}, cluster, traffic.num_ranks),
        start=None if start is None else _check_start(start, cluster, traffic.num_ranks),
        max_moves=None if max_moves is None else _check_count("max_moves", max_moves),
        on_progress=on_progress,
    )
    _require_consistent(limits)
    carried, used = traffic.carried, network.select(cluster.hosts)
    if isinstance(used, HostTree) and objective != "sum":
        raise InputError(
            f"{used.source}: a host tree has costs but no rates: place on it by the objective "
            f"'sum', got {objective!r}"
        )
    at = _check_coordinates(rank_coordinates, traffic.num_ranks)
    if METHODS[method].uses_objective:
        objective = choose_objective(objective, carried, used, weigh_hosts)
    is_free = limits.start is None and not limits.fixed
    if objective == SLOWEST_RANK and not uneven and is_free:
        cluster = _with_even_slots(cluster, traffic.num_ranks)
    problem = Problem(carried, used, cluster, metric, objective, seed, limits, at, traffic)
    host_of_rank = METHODS[method].place(problem)
    return Placement(
        hosts=cluster.hosts,
        host_of_rank=host_of_rank,
        method=method,
        origin={"metric": metric, "objective": objective, "seed": seed},
    )


def _with_even_slots(cluster: Cluster, num_ranks: int) -> Cluster:
    """The cluster with no more slots than a host's even share of the ranks, where they fit."""
    slots = np.array(cluster.slots)
    level = next(
        level
        for level in range(1, int(slots.max()) + 1)
        if np.minimum(slots, level).sum() >= num_ranks
    )
    return dataclasses.replace(cluster, slots=tuple(np.minimum(slots, level).tolist()))


def _require_absent(**given: object) -> None:
    """Check that no option was given that only `optimize` uses."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}: only the method 'optimize' has a use for it")


def _check_coordinates(
    given: npt.ArrayLike | None, num_ranks: int
) -> npt.NDArray[np.float64] | None:
    if given is None:
        return None
    at = np.asarray(given, dtype=np.float64)
    if at.ndim != 2 or at.shape[0] != num_ranks or not at.shape[1]:
        raise ShapeError(
            f"rank_coordinates: expected shape ({num_ranks}, D) for {num_ranks} ranks, "
            f"got {at.shape}"
        )
    if not np.all(np.isfinite(at)):
        raise InputError("rank_coordinates: each must be finite")
    return at


def _check_limit(time_limit_s: float | None) -> float | None:
    if time_limit_s is not None and not (np.isfinite(time_limit_s) and time_limit_s > 0):
        raise InputError(f"time_limit_s: must be finite and > 0, got {time_limit_s}")
    return time_limit_s


def _check_count(name: str, number: int) -> int:
    if number < 0:
        raise InputError(f"{name}: must be >= 0, got {number}")
    return number


def _check_fixed(fixed: Mapping[int, str], cluster: Cluster, num_ranks: int) -> dict[int, int]:
    position = {host: index for index, host in enumerate(cluster.hosts)}
    room = list(cluster.slots)
    checked = {}
    for rank, host in fixed.items():
        if not 0 <= rank < num_ranks:
            raise InputError(f"fixed: there is no rank {rank}; there are 0..{num_ranks - 1}")
        if host not in position:
            raise TopologyError(f"fixed: rank {rank}: host {host!r} is not in the cluster")
        checked[rank] = position[host]
        room[position[host]] -= 1
        if room[position[host]] < 0:
            raise TopologyError(f"fixed: more ranks on {host!r} than its slots")
    return checked


def _check_start(start: Placement, cluster: Cluster, num_ranks: int) -> HostOfRank:
    if start.num_ranks != num_ranks:
        raise ShapeError(f"start: expected {num_ranks} ranks, got {start.num_ranks}")
    position = {host: index for index, host in enumerate(cluster.hosts)}
    missing = [host for host in start.hosts if start.ranks_on(host) and host not in position]
    if missing:
        raise TopologyError(f"start: host {missing[0]!r} is not in the cluster")
    host_of_rank = np.array(
        [position[start.hosts[host]] for host in start.host_of_rank], dtype=np.int64
    )
    counts = np.bincount(host_of_rank, minlength=cluster.num_hosts)
    full = np.flatnonzero(counts > np.array(cluster.slots))
    if full.size:
        raise TopologyError(f"start: more ranks on {cluster.hosts[full[0]]!r} than its slots")
    return host_of_rank


def _require_consistent(limits: SearchLimits) -> None:
    if limits.max_moves is None:
        return
    if limits.start is None:
        raise InputError("max_moves: counts from a placement, give it as start")
    moved = sum(limits.start[rank] != host for rank, host in limits.fixed.items())
    if moved:
        raise InputError(f"fixed: {moved} of these ranks are elsewhere in start")


def require_method(name: str) -> None:
    """Check that there is such a method, before anything is measured.

    Raises:
        InputError: The name is unknown; the message lists those there are.
    """
    _require_known("method", name, METHODS)


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise InputError(f"{what}: unknown name {name!r}; there are {', '.join(known)}")
