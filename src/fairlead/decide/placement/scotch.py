# SPDX-License-Identifier: Apache-2.0
"""CloudMap's mapping, and its two halves: Scotch once, by point-to-point messages alone.

Source: CloudMap section IV-B (which messages count), section IV-C (`scotch`), and section VI-C,
figure 13 (`scotch-intra`, `scotch-inter`).
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead import _core
from fairlead.decide.placement.filling import blocked, random
from fairlead.decide.placement.problem import HostOfRank, Problem
from fairlead.decide.placement.rank_groups import assign_fitting, merge_ranks, with_equal_pairs
from fairlead.model.cost import rank_matrix


def scotch(problem: Problem) -> HostOfRank:
    """Scotch maps the graph of ranks to the graph of hosts by dual recursive bipartitioning."""
    slots = np.array(problem.cluster.slots)
    return _map_once(problem.point_to_point_weights, problem, slots)


def scotch_intra(problem: Problem) -> HostOfRank:
    """Scotch groups the ranks, whatever the network; the groups go to hosts at random."""
    if problem.cluster.num_hosts == 1:
        return blocked(problem)
    grouped = scotch(dataclasses.replace(problem, network=with_equal_pairs(problem.network)))
    return _on_random_hosts(grouped, problem)


def scotch_inter(problem: Problem) -> HostOfRank:
    """Ranks are grouped at random; Scotch chooses only each group's host."""
    group_of_rank = np.unique(random(problem), return_inverse=True)[1]
    between = merge_ranks(problem.point_to_point_weights, group_of_rank)
    preferred = _map_once(between, problem, np.ones(problem.cluster.num_hosts, dtype=np.int64))
    sizes = np.bincount(group_of_rank)
    return assign_fitting(preferred, sizes, problem.cluster)[group_of_rank]


def _map_once(
    weights: sp.csr_array, problem: Problem, slots: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    placements = _core.scotch_placements(
        rank_matrix(weights),
        problem.host_cost_s,
        slots,
        seed=problem.seed,
        num_tries=1,
        is_as_published=True,
    )
    host_of_rank: npt.NDArray[np.int64] = placements[0]
    return host_of_rank


def _on_random_hosts(host_of_rank: HostOfRank, problem: Problem) -> HostOfRank:
    """Permutes hosts at random among those with the same number of slots."""
    random_numbers = np.random.default_rng(problem.seed)
    slots = np.array(problem.cluster.slots)
    host_of_group = np.arange(len(slots))
    for number in np.unique(slots):
        alike = np.flatnonzero(slots == number)
        host_of_group[alike] = random_numbers.permutation(alike)
    return host_of_group[host_of_rank]
