# SPDX-License-Identifier: Apache-2.0
"""Ranks that share a host as one group, and hosts for the groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.errors import TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network


def merge_ranks(weights: sp.csr_array, group_of_rank: npt.NDArray[np.int64]) -> sp.csr_array:
    """The traffic between groups, shape (G, G) for groups 0..G-1."""
    ranks = np.arange(len(group_of_rank))
    member = sp.csr_array((np.ones(len(ranks)), (group_of_rank, ranks)))
    return sp.csr_array(member @ weights @ member.T)


def with_equal_pairs(network: Network | HostTree) -> Network | HostTree:
    """The network as it would be if every pair of hosts were the median pair."""
    if isinstance(network, HostTree):
        return HostTree(
            network.hosts, np.zeros((0, network.num_hosts), dtype=np.int64), np.array([0.0, 1.0])
        )
    inside = np.eye(network.num_hosts, dtype=bool)
    if np.all(np.isnan((network.latency_s + network.bandwidth_Bps)[~inside])):
        raise TopologyError("no pair of these hosts was measured; probe again")
    return Network(
        hosts=network.hosts,
        latency_s=np.where(inside, 0.0, np.nanmedian(network.latency_s[~inside])),
        bandwidth_Bps=np.where(inside, np.inf, np.nanmedian(network.bandwidth_Bps[~inside])),
    )


def assign_fitting(
    host_of_group: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], cluster: Cluster
) -> npt.NDArray[np.int64]:
    """Assigns each group a host that holds it, the preferred host if possible.

    The largest group is assigned first; the others still find a host, since every host that holds
    the largest group holds them as well.
    """
    fitted = host_of_group.copy()
    free = sorted(range(cluster.num_hosts), key=lambda host: cluster.slots[host])
    for group in np.argsort(-sizes, kind="stable"):
        preferred = int(host_of_group[group])
        holding = [host for host in free if cluster.slots[host] >= sizes[group]]
        fitted[group] = preferred if preferred in holding else holding[0]
        free.remove(int(fitted[group]))
    return fitted
