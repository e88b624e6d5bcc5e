# SPDX-License-Identifier: Apache-2.0
"""What a placement costs on a measured network."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairlead import _core
from fairlead.errors import ShapeError, TopologyError
from fairlead.model.bottleneck_group import rows_of_pairs
from fairlead.model.compute_demand import compute_demand
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["Cost", "TreeCost", "evaluate", "evaluate_on_tree"]


@dataclasses.dataclass(frozen=True)
class Cost:
    """Costs of one placement.

    Attributes:
        inter_bytes: Bytes between ranks on different hosts (CloudMap eq. 1 and 2, both directions
            of a pair of ranks added up).
        intra_bytes: Bytes between different ranks on the same host (CloudMap eq. 3).
        comm_time_s: The sum over pairs of ranks on different hosts of bytes / bandwidth_Bps
            (CloudMap eq. 4): neither latencies nor what stays inside a host.
        serial_time_s: All messages one after the other: the sum over all pairs of ranks of
            messages * latency_s + bytes / bandwidth_Bps of their hosts.
        bottleneck_s: The largest bytes / capacity over all directed pairs of hosts, over the
            network interfaces, out and in, and over the groups of pairs that share a bottleneck,
            plus the worst rank's summed latencies. An interface's capacity is the network's value
            for it, or else the fastest pair measured through it; a rank's latencies are those of
            what it sends or of what it receives, whichever is more. The objective `bottleneck`.
        bottleneck_and_mean_s: bottleneck_s + serial_time_s / min(H, T) for T ranks and the H hosts
            of the placement: what the busiest part takes, and each of the hosts that can share the
            work on average. The objective `bottleneck-and-mean`.
        slowest_rank_s: The time of the slowest rank: the largest sum, over ranks, of its computing
            time on its host, its summed latencies, and the busiest part of the network that its
            host uses; plus serial_time_s / min(H, T). None where hosts are alike, or nothing is
            known of what ranks compute. The objective `slowest-rank`.
        weighted_sum: The objective `sum` for each metric: "bytes" over bandwidth, "messages"
            times latency, in seconds.
    """

    inter_bytes: float
    intra_bytes: float
    comm_time_s: float
    serial_time_s: float
    bottleneck_s: float
    bottleneck_and_mean_s: float
    slowest_rank_s: float | None
    weighted_sum: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The costs by their names, JSON-serialisable."""
        return {**dataclasses.asdict(self), "weighted_sum": dict(self.weighted_sum)}


@dataclasses.dataclass(frozen=True)
class TreeCost:
    """Costs of one placement on a tree, which has no rates.

    Attributes:
        inter_bytes, intra_bytes: As of `Cost`.
        weighted_sum: The objective `sum` for each metric, in the unit of the tree's costs.
    """

    inter_bytes: float
    intra_bytes: float
    weighted_sum: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The costs by their names, JSON-serialisable."""
        return {**dataclasses.asdict(self), "weighted_sum": dict(self.weighted_sum)}


def evaluate_on_tree(placement: Placement, traffic: Traffic, tree: HostTree) -> TreeCost:
    """Costs of a placement of this traffic on a tree of groups of hosts.

    Args:
        placement: Host of each of T ranks.
        traffic: What the T ranks send one another.
        tree: Must hold all hosts of the placement.

    Raises:
        ShapeError: The placement and the traffic differ in their number of ranks.
        TopologyError: A host is not in the tree.
    """
    _require_ranks(placement, traffic)
    used, host = tree.select(placement.hosts), placement.host_of_rank
    sums = {}
    for metric in ("bytes", "messages"):
        pairs = sp.coo_array(getattr(traffic.carried, metric))
        sums[metric] = float(pairs.data @ used.cost(host[pairs.row], host[pairs.col]))
    sent = sp.coo_array(traffic.carried.bytes)
    is_inside = host[sent.row] == host[sent.col]
    is_intra = is_inside & (sent.row != sent.col)
    return TreeCost(float(sent.data[~is_inside].sum()), float(sent.data[is_intra].sum()), sums)


def evaluate(placement: Placement, traffic: Traffic, network: Network) -> Cost:
    """Costs of a placement of this traffic on this network.

    All of `traffic.carried` counts, so also what collectives are expected to send. Traffic inside a
    host has the cost on the network's diagonal: nothing unless it was measured.

    Args:
        placement: Host of each of T ranks.
        traffic: What the T ranks send one another.
        network: Must hold all hosts of the placement; it may hold more, in another order.

    Raises:
        ShapeError: The placement and the traffic differ in their number of ranks.
        TopologyError: A host is not in the network, or traffic crosses an unmeasured pair.
    """
    return costs_of(placement, traffic)(network)


def costs_of(placement: Placement, traffic: Traffic) -> Callable[[Network], Cost]:
    """`evaluate` for one placement of one traffic on many networks; the traffic is read once.

    Raises:
        ShapeError: As `evaluate`, here; a TopologyError comes from the call with a network.
    """
    _require_ranks(placement, traffic)
    carried = traffic.carried
    sent_bytes, messages = rank_matrix(carried.bytes), rank_matrix(carried.messages)

    def on(network: Network) -> Cost:
        used = network.select(placement.hosts)
        rates = network_arrays(used)
        cost = _core.evaluate(sent_bytes, messages, rates, placement.host_of_rank)
        if np.isnan(cost.serial_time_s):
            raise _crosses_unmeasured(placement, carried, used)
        return Cost(
            inter_bytes=cost.inter_bytes,
            intra_bytes=cost.intra_bytes,
            comm_time_s=cost.comm_time_s,
            serial_time_s=cost.serial_time_s,
            bottleneck_s=cost.bottleneck_s,
            bottleneck_and_mean_s=cost.bottleneck_and_mean_s,
            slowest_rank_s=None
            if (demand := compute_demand(carried, network, used.hosts)) is None
            else _core.slowest_rank_s(
                sent_bytes, messages, rates, demand.arrays(), placement.host_of_rank
            ),
            weighted_sum={"bytes": cost.weighted_sum_bytes, "messages": cost.weighted_sum_messages},
        )

    return on


def _require_ranks(placement: Placement, traffic: Traffic) -> None:
    if placement.num_ranks != traffic.num_ranks:
        raise ShapeError(
            f"the placement has {placement.num_ranks} ranks, but the traffic {traffic.num_ranks}"
        )


def rank_matrix(matrix: sp.csr_array) -> _core.RankMatrix:
    """The matrix in the compiled core's form; SciPy's indices may be 32 bits wide."""
    return _core.RankMatrix(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
    )


def network_arrays(network: Network) -> _core.NetworkArrays:
    """The network in the compiled core's form."""
    nothing = np.zeros(0)
    group_of_pair, src_of_pair, dst_of_pair = rows_of_pairs(network.groups).T.copy()
    return _core.NetworkArrays(
        network.latency_s,
        network.bandwidth_Bps,
        nothing if network.nic_out_Bps is None else network.nic_out_Bps,
        nothing if network.nic_in_Bps is None else network.nic_in_Bps,
        group_of_pair,
        src_of_pair,
        dst_of_pair,
        np.array([group.capacity_Bps for group in network.groups]),
    )


def _crosses_unmeasured(placement: Placement, traffic: Traffic, network: Network) -> TopologyError:
    """The error that names the first unmeasured pair of hosts with traffic."""
    pairs = sp.coo_array(traffic.bytes + traffic.messages)
    src_host = placement.host_of_rank[pairs.row]
    dst_host = placement.host_of_rank[pairs.col]
    missing = np.isnan(network.latency_s + network.bandwidth_Bps)[src_host, dst_host]
    first = int(np.flatnonzero(missing & (pairs.data > 0))[0])
    src, dst = network.hosts[src_host[first]], network.hosts[dst_host[first]]
    return TopologyError(
        f"the placement sends from {src!r} to {dst!r}, but that pair was not measured; "
        "probe again, or place on other hosts"
    )
