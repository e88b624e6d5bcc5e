# SPDX-License-Identifier: Apache-2.0
"""`optimize`: Fairlead's own engine, started from the other methods' placements as well."""

from __future__ import annotations

import os
import time

import numpy as np

from fairlead import _core
from fairlead.decide.placement.filling import blocked
from fairlead.decide.placement.problem import SLOWEST_RANK, HostOfRank, Problem, SearchLimits
from fairlead.decide.placement.scotch_best import scotch_best
from fairlead.errors import TopologyError
from fairlead.model.cost import rank_matrix
from fairlead.model.host_tree import HostTree

SCOTCH_S_PER_PAIR = 3e-7
SCOTCH_S_PER_RANK = 5e-5
SCOTCH_S_PER_EXCHANGE = 2e-7
"""Scotch's usual time: its graph of hosts is complete (bench/placement/limits.py)."""

MOST_SCOTCH_S = 10.0
"""If Scotch takes longer, the engine makes better use of the time."""

LEAST_SCOTCH_S = 0.02
"""If Scotch takes less, it is worth its time under any limit."""

MOST_SHARE = 0.5
"""Share of the time limit that Scotch may take."""

LEAST_SHARE = 0.2
"""Least share of the time limit for the engine, however long the starts took."""

LEAST_S = 1e-3
"""Least time of the engine, in which it compares the starts, even if reading took the whole
limit."""


def optimize(problem: Problem) -> HostOfRank:
    """The best placement that annealing finds.

    On a network it is never worse than `blocked`, nor than `scotch-best` unless Scotch would take
    too much of the time; on a tree of hosts neither is a start.
    """
    if isinstance(problem.network, HostTree):
        return _optimize_on_tree(problem, problem.network)
    starts, spent_s = _starts(problem)
    limits = core_limits(problem.limits, problem.seed, starts, problem.num_ranks, spent_s)
    slots = np.array(problem.cluster.slots, dtype=np.int64)
    if problem.objective == "sum":
        found = _core.optimize_sum(rank_matrix(problem.weights), problem.host_cost_s, slots, limits)
    elif problem.objective == SLOWEST_RANK:
        _require_measured(problem)
        found = _core.optimize_slowest_rank(
            *problem.compiled_traffic,
            problem.compiled_rates,
            problem.demand.arrays(),
            slots,
            limits,
        )
    else:
        _require_measured(problem)
        found = _core.optimize_bottleneck(
            *problem.compiled_traffic,
            problem.compiled_rates,
            slots,
            problem.objective == "bottleneck-and-mean",
            limits,
        )
    return np.array(found, dtype=np.int64)


def _optimize_on_tree(problem: Problem, tree: HostTree) -> HostOfRank:
    """The smallest sum of weight times cost that is found, without a matrix of all hosts."""
    starts = [] if problem.limits.start is None else [problem.limits.start]
    found = _core.optimize_sum_on_tree(
        rank_matrix(problem.weights),
        tree.groups,
        tree.costs,
        np.array(problem.cluster.slots, dtype=np.int64),
        core_limits(problem.limits, problem.seed, starts, problem.num_ranks),
    )
    return np.array(found, dtype=np.int64)


def core_limits(
    limits: SearchLimits, seed: int, starts: list[HostOfRank], num_ranks: int, spent_s: float = 0.0
) -> _core.SearchLimits:
    """The limits in the compiled core's form, less the time of the starts."""
    fixed = np.full(num_ranks if limits.fixed else 0, -1, dtype=np.int64)
    for rank, host in limits.fixed.items():
        fixed[rank] = host
    return _core.SearchLimits(
        seed=seed,
        num_proposals=0,
        time_limit_s=max(_limit_s(limits) - spent_s, LEAST_SHARE * _limit_s(limits)),
        num_threads=limits.num_threads or len(os.sched_getaffinity(0)),
        starts=[start.tolist() for start in starts],
        fixed_host_of_rank=fixed,
        most_moves=-1 if limits.max_moves is None else limits.max_moves,
        on_progress=limits.on_progress,
        deadline_s=max(_limit_s(limits) - (time.monotonic() - limits.begun_s), LEAST_S),
    )


def _limit_s(limits: SearchLimits) -> float:
    return np.inf if limits.time_limit_s is None else limits.time_limit_s


def _starts(problem: Problem) -> tuple[list[HostOfRank], float]:
    """The starts, and the usual time for finding them, in seconds.

    The given placement comes first, then those of other methods.
    """
    given = [] if problem.limits.start is None else [problem.limits.start]
    if problem.limits.max_moves is not None:
        return given, 0.0
    scotch_s = (
        SCOTCH_S_PER_PAIR * problem.cluster.num_hosts**2
        + SCOTCH_S_PER_RANK * problem.num_ranks
        + SCOTCH_S_PER_EXCHANGE * problem.weights.nnz
    )
    most_s = max(LEAST_SCOTCH_S, MOST_SHARE * _limit_s(problem.limits))
    if scotch_s > min(MOST_SCOTCH_S, most_s):
        return [*given, blocked(problem)], 0.0
    return [*given, blocked(problem), scotch_best(problem)], scotch_s


def _require_measured(problem: Problem) -> None:
    network = problem.rates
    missing = np.argwhere(np.isnan(network.latency_s + network.bandwidth_Bps))
    if missing.size:
        src, dst = (network.hosts[host] for host in missing[0])
        raise TopologyError(
            f"from {src!r} to {dst!r} was not measured; probe again, or leave one of the two "
            "hosts out"
        )
