# SPDX-License-Identifier: Apache-2.0
"""Placements that use only the slots: in the order of the hosts, in turn, or at random."""

from __future__ import annotations

import numpy as np

from fairlead.decide.placement.problem import HostOfRank, Problem
from fairlead.model.cluster import Cluster


def fill_by_slot(cluster: Cluster, num_ranks: int) -> HostOfRank:
    """Rank after rank fills the first host's slots, then the next one's.

    Source: the default order of Open MPI (`--map-by slot` and, with more than two ranks, by
    socket or NUMA domain inside a host) and of MPICH's hydra; SPREAD calls it Blocked.
    """
    return np.repeat(np.arange(cluster.num_hosts, dtype=np.int64), cluster.slots)[:num_ranks]


def blocked(problem: Problem) -> HostOfRank:
    """Neighbouring ranks together, hosts filled one after the other.

    Source: CloudMap section V-C calls it RoundRobin.
    """
    return fill_by_slot(problem.cluster, problem.num_ranks)


def cyclic(problem: Problem) -> HostOfRank:
    """A rank for each host in turn; a host without a free slot is passed over.

    Source: CloudMap section V-C, the default of Open MPI 1.6.5 and its baseline.
    """
    slots = np.array(problem.cluster.slots)
    host_of_slot = fill_by_slot(problem.cluster, problem.cluster.num_slots)
    turn_of_slot = np.concatenate([np.arange(number) for number in slots])
    return host_of_slot[np.lexsort((host_of_slot, turn_of_slot))][: problem.num_ranks]


def random(problem: Problem) -> HostOfRank:
    """Every slot is equally likely for every rank."""
    host_of_slot = fill_by_slot(problem.cluster, problem.cluster.num_slots)
    return np.random.default_rng(problem.seed).permutation(host_of_slot)[: problem.num_ranks]
