# SPDX-License-Identifier: Apache-2.0
"""CloudMap's mapping by Scotch, its two halves, and two that leave the other half to the launcher.

Source: CloudMap section VI (`scotch`) and section VI-C, figure 13 (`scotch-intra`,
`scotch-inter`).
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead import _core
from fairlead.decide.placement.filling import blocked, random
from fairlead.decide.placement.problem import HostOfRank, Problem
from fairlead.errors import TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.cost import rank_matrix
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network

MOST_TRIES = 8
"""Most random starts of Scotch, of which the best is kept; more gain little
(docs/design/scotch.md)."""

TRIED_PAIRS = 20_000
"""Most pairs of ranks with traffic over all starts together, so that 64 and 256 ranks take less
than CloudMap's 5 and 28 ms (table II)."""


def scotch(problem: Problem) -> HostOfRank:
    """Scotch maps the graph of ranks to the graph of hosts by recursive bipartitioning."""
    placements = _core.scotch_placements(
        rank_matrix(problem.weights),
        problem.host_cost_s,
        np.array(problem.cluster.slots),
        seed=problem.seed,
        num_tries=_num_tries(problem.weights),
    )
    return problem.best(placements)


def scotch_intra(problem: Problem) -> HostOfRank:
    """Scotch groups the ranks, whatever the network; the groups go to hosts at random."""
    return _on_random_hosts(_grouped(problem), problem)


def scotch_groups(problem: Problem) -> HostOfRank:
    """Scotch groups the ranks, whatever the network; the groups go to hosts in their order."""
    return _in_launcher_order(_grouped(problem), problem.cluster)


def scotch_inter(problem: Problem) -> HostOfRank:
    """Ranks are grouped at random; Scotch chooses only each group's host."""
    return _moved_as_groups(random(problem), problem)


def scotch_hosts(problem: Problem) -> HostOfRank:
    """The launcher's groups of ranks stay together; Scotch chooses only each group's host."""
    return _moved_as_groups(blocked(problem), problem)


def _grouped(problem: Problem) -> HostOfRank:
    """Scotch's placement as if all pairs of hosts were equal."""
    if problem.cluster.num_hosts == 1:
        return blocked(problem)
    return scotch(dataclasses.replace(problem, network=_with_equal_pairs(problem.network)))


def _moved_as_groups(host_of_rank: HostOfRank, problem: Problem) -> HostOfRank:
    """Ranks that share a host stay together; Scotch chooses the host of each group."""
    group_of_rank = np.unique(host_of_rank, return_inverse=True)[1]
    ranks = np.arange(problem.num_ranks)
    member = sp.csr_array((np.ones(problem.num_ranks), (group_of_rank, ranks)))
    hosts_of_groups = _core.scotch_placements(
        rank_matrix(sp.csr_array(member @ problem.weights @ member.T)),
        problem.host_cost_s,
        np.ones(problem.cluster.num_hosts, dtype=np.int64),
        seed=problem.seed,
        num_tries=_num_tries(problem.weights),
    )
    sizes = np.bincount(group_of_rank)
    fitting = [_fitted(hosts, sizes, problem.cluster) for hosts in hosts_of_groups]
    return problem.best(np.array([host_of_group[group_of_rank] for host_of_group in fitting]))


def _num_tries(weights: sp.csr_array) -> int:
    """Number of random starts for this size of the traffic, at least one."""
    return max(1, min(MOST_TRIES, TRIED_PAIRS // max(1, weights.nnz)))


def _with_equal_pairs(network: Network | HostTree) -> Network | HostTree:
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


def _on_random_hosts(host_of_rank: HostOfRank, problem: Problem) -> HostOfRank:
    """Permutes hosts at random among those with the same number of slots."""
    random_numbers = np.random.default_rng(problem.seed)
    slots = np.array(problem.cluster.slots)
    host_of_group = np.arange(len(slots))
    for number in np.unique(slots):
        alike = np.flatnonzero(slots == number)
        host_of_group[alike] = random_numbers.permutation(alike)
    return host_of_group[host_of_rank]


def _in_launcher_order(host_of_rank: HostOfRank, cluster: Cluster) -> HostOfRank:
    """Permutes hosts of equal slots, so that groups are in the order of their lowest ranks."""
    host_of_group = np.arange(cluster.num_hosts)
    groups = list(dict.fromkeys(host_of_rank.tolist()))  # by their lowest rank
    for slots in set(cluster.slots):
        hosts = [host for host in range(cluster.num_hosts) if cluster.slots[host] == slots]
        alike = [group for group in groups if cluster.slots[group] == slots]
        host_of_group[alike] = hosts[: len(alike)]
    return host_of_group[host_of_rank]


def _fitted(
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
