# SPDX-License-Identifier: Apache-2.0
"""The input of a mapping method, and how it compares the placements it finds."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead import _core
from fairlead.model.cluster import Cluster
from fairlead.model.compute_demand import ComputeDemand, compute_demand
from fairlead.model.cost import network_arrays, rank_matrix
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

METRICS = ("bytes", "messages")
"""`bytes` costs 1 / bandwidth_Bps each, `messages` latency_s each."""

SLOWEST_RANK = "slowest-rank"
"""The objective that weighs hosts by their speed; it takes the place of the default where they
differ."""

COST_OF_OBJECTIVE = {
    "sum": "serial_time_s",
    "bottleneck": "bottleneck_s",
    "bottleneck-and-mean": "bottleneck_and_mean_s",
    SLOWEST_RANK: "slowest_rank_s",
}
"""The predicted time of `Cost` by which placements of each objective are compared."""

OBJECTIVES = tuple(name for name in COST_OF_OBJECTIVE if name != SLOWEST_RANK)
"""`sum` of traffic times cost over all pairs of ranks, or the time with that name."""

DEFAULT_OBJECTIVE = "bottleneck-and-mean"
"""The objective whose ranking is closest to that of measured times over all recorded networks
(bench/objective); on those whose bottlenecks were measured `bottleneck` is closer."""

HostOfRank = npt.NDArray[np.int64]


def choose_objective(
    objective: str, traffic: Traffic, network: Network | HostTree, weigh_hosts: bool = True
) -> str:
    """The objective by which placements are compared.

    That is `slowest-rank` in place of the default where hosts differ in speed beyond their spread
    and it is known what each rank computes, and the given one in all other cases.

    Args:
        objective: One of OBJECTIVES.
        traffic: What the ranks exchange and compute.
        network: The hosts, with their rates.
        weigh_hosts: Whether that is wanted.
    """
    if not weigh_hosts or objective != DEFAULT_OBJECTIVE or not isinstance(network, Network):
        return objective
    return objective if compute_demand(traffic, network) is None else SLOWEST_RANK


OnProgress = Callable[[int, int], bool]
"""Gets proposals made and proposals in all; the search ends when it returns False."""


@dataclasses.dataclass(frozen=True, eq=False)
class SearchLimits:
    """Bounds on the search of `optimize`, and what must stay.

    Attributes:
        time_limit_s: When to stop, in seconds, or None: enough for the number of ranks.
        num_threads: Threads; 0: one for each core.
        fixed: Position of the host of each rank that must stay there.
        start: Position of the host of each rank at the beginning, or None.
        max_moves: Most ranks that may leave their host in `start`, or None: all.
        on_progress: Called now and then.
        begun_s: When the time began, by time.monotonic().
    """

    time_limit_s: float | None = None
    num_threads: int = 0
    fixed: Mapping[int, int] = dataclasses.field(default_factory=dict)
    start: HostOfRank | None = None
    max_moves: int | None = None
    on_progress: OnProgress | None = None
    begun_s: float = dataclasses.field(default_factory=time.monotonic)


@dataclasses.dataclass(frozen=True, eq=False)
class Problem:
    """T ranks to be placed on the H hosts of a cluster.

    Attributes:
        traffic: What the ranks exchange, all kinds added up.
        network: Measurements or a tree of the cluster's hosts in the cluster's order.
        cluster: Hosts and slots; the ranks fit.
        metric: One of METRICS.
        objective: One of OBJECTIVES, or `slowest-rank`.
        seed: Where random numbers start.
        rank_coordinates: Coordinates of the ranks, shape (T, D), or None; for `geometric` only.
        limits: Bounds on the search of `optimize`; the other methods ignore them.
        point_to_point: What they send point to point alone, or None: the same as `traffic`.
    """

    traffic: Traffic
    network: Network | HostTree
    cluster: Cluster
    metric: str
    objective: str
    seed: int
    limits: SearchLimits = dataclasses.field(default_factory=SearchLimits)
    rank_coordinates: npt.NDArray[np.float64] | None = None
    point_to_point: Traffic | None = None

    @property
    def host_coordinates(self) -> npt.NDArray[np.float64] | None:
        """Coordinates of the hosts, shape (H, D), or None; only `geometric` uses them."""
        return self.network.coordinates if isinstance(self.network, Network) else None

    @property
    def num_ranks(self) -> int:
        """Number of ranks T."""
        return self.traffic.num_ranks

    @property
    def weights(self) -> sp.csr_array:
        """Traffic in the metric's unit, shape (T, T)."""
        return self.traffic.bytes if self.metric == "bytes" else self.traffic.messages

    @property
    def point_to_point_weights(self) -> sp.csr_array:
        """Point-to-point messages in the metric's unit, shape (T, T)."""
        sent = self.traffic if self.point_to_point is None else self.point_to_point
        return sent.bytes if self.metric == "bytes" else sent.messages

    @functools.cached_property
    def host_cost_s(self) -> npt.NDArray[np.float64]:
        """Seconds per byte or per message between hosts, or a tree's costs, shape (H, H).

        Raises:
            TopologyError: A pair was not measured.
        """
        return self.network.pair_costs(self.metric)

    @property
    def rates(self) -> Network:
        """The network, for an objective that reads its rates."""
        assert isinstance(self.network, Network), "a host tree is placed on by the sum only"
        return self.network

    @functools.cached_property
    def compiled_rates(self) -> _core.NetworkArrays:
        """The rates in the compiled core's form."""
        return network_arrays(self.rates)

    @functools.cached_property
    def demand(self) -> ComputeDemand:
        """What the ranks compute, and how fast the hosts are, for the objective `slowest-rank`."""
        demand = compute_demand(self.traffic, self.rates)
        assert demand is not None, "nothing is known about hosts or ranks"
        return demand

    @functools.cached_property
    def compiled_traffic(self) -> tuple[_core.RankMatrix, _core.RankMatrix]:
        """Bytes and messages in the compiled core's form."""
        return rank_matrix(self.traffic.bytes), rank_matrix(self.traffic.messages)

    def value_s(self, host_of_rank: HostOfRank) -> float:
        """The value of the objective for a placement; less is better."""
        if self.objective == "sum":
            return _core.weighted_sum(rank_matrix(self.weights), self.host_cost_s, host_of_rank)
        if self.objective == SLOWEST_RANK:
            return _core.slowest_rank_s(
                *self.compiled_traffic, self.compiled_rates, self.demand.arrays(), host_of_rank
            )
        cost = _core.evaluate(*self.compiled_traffic, self.compiled_rates, host_of_rank)
        return float(getattr(cost, COST_OF_OBJECTIVE[self.objective]))

    def best(self, placements: npt.NDArray[np.int64]) -> HostOfRank:
        """The best row of `placements` (shape (N, T)); the first of those that are equal."""
        values_s = np.array([self.value_s(placement) for placement in placements])
        # nan means that the placement sends over a pair that was not measured.
        best: HostOfRank = placements[np.argmin(np.where(np.isnan(values_s), np.inf, values_s))]
        return best
