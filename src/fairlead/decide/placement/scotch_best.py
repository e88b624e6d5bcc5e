# SPDX-License-Identifier: Apache-2.0
"""Scotch as we use it: all that a placement carries, several starts, the best by the objective.

Two more methods leave one half of the mapping to the launcher.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse as sp

from fairlead import _core
from fairlead.decide.placement.filling import blocked
from fairlead.decide.placement.problem import (
    DEFAULT_OBJECTIVE,
    SLOWEST_RANK,
    HostOfRank,
    Problem,
)
from fairlead.decide.placement.rank_groups import assign_fitting, merge_ranks, with_equal_pairs
from fairlead.model.cluster import Cluster
from fairlead.model.cost import rank_matrix

MOST_TRIES = 8
"""Most random starts of Scotch, of which the best is kept; more gain little
(docs/design/scotch.md)."""

TRIED_PAIRS = 20_000
"""Most pairs of ranks with traffic over all starts together, so that 64 and 256 ranks take less
than CloudMap's 5 and 28 ms (table II)."""


def scotch_best(problem: Problem) -> HostOfRank:
    """The best of several starts of Scotch, for messages and what collectives send."""
    placements = _core.scotch_placements(
        rank_matrix(problem.weights),
        problem.host_cost_s,
        np.array(problem.cluster.slots),
        seed=problem.seed,
        num_tries=_num_tries(problem.weights),
    )
    return problem.best(placements)


def scotch_groups(problem: Problem) -> HostOfRank:
    """Scotch groups the ranks, whatever the network; the groups go to hosts in their order."""
    if problem.cluster.num_hosts == 1:
        return blocked(problem)
    even = dataclasses.replace(
        problem,
        network=with_equal_pairs(problem.network),
        # Which host a group gets is the launcher's choice, so how fast hosts are plays no part.
        objective=DEFAULT_OBJECTIVE if problem.objective == SLOWEST_RANK else problem.objective,
    )
    return _in_launcher_order(scotch_best(even), problem.cluster)


def scotch_hosts(problem: Problem) -> HostOfRank:
    """The launcher's groups of ranks stay together; Scotch chooses only each group's host."""
    group_of_rank = np.unique(blocked(problem), return_inverse=True)[1]
    hosts_of_groups = _core.scotch_placements(
        rank_matrix(merge_ranks(problem.weights, group_of_rank)),
        problem.host_cost_s,
        np.ones(problem.cluster.num_hosts, dtype=np.int64),
        seed=problem.seed,
        num_tries=_num_tries(problem.weights),
    )
    sizes = np.bincount(group_of_rank)
    fitting = [assign_fitting(hosts, sizes, problem.cluster) for hosts in hosts_of_groups]
    return problem.best(np.array([host_of_group[group_of_rank] for host_of_group in fitting]))


def _num_tries(weights: sp.csr_array) -> int:
    """Number of random starts for this size of the traffic, at least one."""
    return max(1, min(MOST_TRIES, TRIED_PAIRS // max(1, weights.nnz)))


def _in_launcher_order(host_of_rank: HostOfRank, cluster: Cluster) -> HostOfRank:
    """Permutes hosts of equal slots, so that groups are in the order of their lowest ranks."""
    host_of_group = np.arange(cluster.num_hosts)
    groups = list(dict.fromkeys(host_of_rank.tolist()))  # by their lowest rank
    for slots in set(cluster.slots):
        hosts = [host for host in range(cluster.num_hosts) if cluster.slots[host] == slots]
        alike = [group for group in groups if cluster.slots[group] == slots]
        host_of_group[alike] = hosts[: len(alike)]
    return host_of_group[host_of_rank]
