# SPDX-License-Identifier: Apache-2.0
"""Placements of one program with different predicted costs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from judging import COSTS

import fairlead as fl
from fairlead.decide.placement import METHODS, OBJECTIVES

SWAPS = (2, 4, 8, 16)
"""Pairs of ranks that change places in a good placement: from nearly as good to nearly random."""

POOL = 400
"""Placements of which the most different ones are taken."""

LEAST_RATIO = 1.05
"""Two placements differ where one of their costs does by this factor: the runs are to distinguish
them."""


def differing(
    traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster, number: int, seed: int
) -> list[fl.Placement]:
    """Placements of which no two cost the same: those of the methods, then mixtures.

    First the launcher's, then always the one that is farthest from all taken so far, by the costs
    that are to be judged. There may be fewer than asked for: where all pairs of hosts are alike,
    few placements differ.

    Source: Gonzalez 1985 (farthest-first traversal).
    """
    by_method = methods_own(traffic, network, cluster)
    rng = np.random.default_rng(seed)
    pool = [*by_method, *itertools.islice(_mixtures(by_method, rng), POOL)]
    costs = [fl.evaluate(placement, traffic, network) for placement in pool]
    # The methods' own first: users get these.
    order = farthest_first(log_costs(costs), len(by_method), number)
    return [pool[index] for index in order]


def methods_own(
    traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster
) -> list[fl.Placement]:
    """What every method makes of it, for every objective; the launcher's is the first."""
    found = []
    for method in METHODS:
        # The others ignore the objective.
        for objective in OBJECTIVES if method in {"scotch-best", "optimize"} else OBJECTIVES[:1]:
            placed = fl.place(traffic, network, cluster, method, objective=objective)
            name = method if method != "optimize" else f"{method}, {objective}"
            found.append(fl.Placement(placed.hosts, placed.host_of_rank, name))
    return found


def log_costs(costs: list[fl.Cost]) -> np.ndarray:
    """Logarithms of all costs, shape (P, C); a cost of 0 is as good as a millionth of the least."""
    values = np.array([[cost(one) for cost in COSTS.values()] for one in costs])
    least = np.min(np.where(values > 0, values, np.inf), axis=0)
    return np.log(np.maximum(values, np.where(np.isfinite(least), 1e-6 * least, 1.0)))


def farthest_first(points: np.ndarray, num_first: int, number: int) -> list[int]:
    """Indices of at most `number` points; the first is 0, the next ones of the `num_first`.

    Two points are as far apart as their coordinates at most are, and none is taken that is nearer
    than the least ratio to one that was.
    """
    taken = [0]
    distance = np.abs(points - points[0]).max(axis=1)
    for candidates in (slice(0, num_first), slice(0, len(points))):
        while len(taken) < number:
            next_one = int(np.argmax(distance[candidates]))
            if distance[next_one] < np.log(LEAST_RATIO):
                break
            taken.append(next_one)
            distance = np.minimum(distance, np.abs(points - points[next_one]).max(axis=1))
    return taken


def _mixtures(by_method: list[fl.Placement], rng: np.random.Generator) -> Iterator[fl.Placement]:
    """Placements between the methods' own and random ones.

    The launcher's groups of ranks on shuffled hosts, which changes what crosses racks but not what
    crosses hosts; a method's placement after some swaps; and random ones.
    """
    launchers = by_method[0]
    for num_swaps in itertools.cycle(SWAPS):
        order = rng.permutation(len(launchers.hosts))
        yield _placement(launchers, order[launchers.host_of_rank], "launcher, hosts shuffled")
        good = by_method[rng.integers(len(by_method))]
        yield _placement(
            good, _swapped(good.host_of_rank, num_swaps, rng), f"{good.method}, {num_swaps} swaps"
        )
        yield _placement(launchers, rng.permutation(launchers.host_of_rank), "random")


def _swapped(host_of_rank: np.ndarray, num_swaps: int, rng: np.random.Generator) -> np.ndarray:
    swapped = host_of_rank.copy()
    for _swap in range(num_swaps):
        first, second = rng.choice(len(swapped), 2, replace=False)
        swapped[[first, second]] = swapped[[second, first]]
    return swapped


def _placement(like: fl.Placement, host_of_rank: np.ndarray, name: str) -> fl.Placement:
    return fl.Placement(like.hosts, host_of_rank, name)
