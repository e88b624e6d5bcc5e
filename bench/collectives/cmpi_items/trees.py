# SPDX-License-Identifier: Apache-2.0
"""Figure 9: where CMPI and MPICH2 are among random trees.

Times of the trees come from a recursion in `random_trees/main.cpp`. SimGrid gives those of MPICH2,
of CMPI and of ours, and those of some of the trees, which says how good the recursion is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import random_trees

import fairlead as fl
from cmpi_items.clusters import CMPI, MESSAGE_BYTES, METHODS, MPICH2, Cluster, Timing
from cmpi_items.figures import Figure
from cmpi_items.operations import CLUSTER_OPERATIONS, cluster_of, timings_of
from cmpi_items.options import Options

NUM_CHECKED = 10
CHUNK = 1_000_000

SHOWN = {MPICH2: None, CMPI: "close to the best"}


def among_random_trees(options: Options) -> Iterator[Figure]:
    """The density of random trees by quantiles, and each method's place."""
    cluster, root = cluster_of(options, 0)
    size_bytes = 10**5 if options.is_short else MESSAGE_BYTES
    num_trees = 1000 if options.is_short else options.num_trees
    for operation in CLUSTER_OPERATIONS:
        case = random_trees.Case(
            operation,
            cluster.network,
            cluster.ranks_of_hosts(),
            size_bytes,
            root % cluster.network.num_hosts,
        )
        times_s = _times_s(case, num_trees)
        planned_s = cluster.times_s(timings_of(cluster, operation, size_bytes, root))
        best_s = float(times_s.min())
        yield Figure(f"{operation}, the best of the trees", "s", None, best_s, samples=num_trees)
        for share in (0.001, 0.01, 0.1, 0.5, 0.9):
            value = float(np.quantile(times_s, share))
            name = f"{operation}, {100 * share:g} % of the trees within"
            yield Figure(name, "s", None, value, samples=num_trees)
        for method, time_s in zip(METHODS, planned_s, strict=True):
            yield Figure(f"{operation}, {method}", "s", None, time_s)
            yield Figure(
                f"{operation}, {method} over the best tree", "times", SHOWN.get(method),
                time_s / best_s,
            )  # fmt: skip
            faster = 100 * float(np.mean(times_s < time_s))
            name = f"{operation}, trees faster than {method}"
            yield Figure(name, "% of the trees", None, faster, samples=num_trees)
        worst = 100 * max(_deviations(cluster, case, root))
        name = f"{operation}, largest difference of recursion and SimGrid"
        yield Figure(name, "% of SimGrid's time", None, worst, samples=NUM_CHECKED)


def _times_s(case: random_trees.Case, num_trees: int) -> random_trees.Vector:
    sizes = [min(CHUNK, num_trees - first) for first in range(0, num_trees, CHUNK)]
    return np.concatenate(
        [random_trees.times_s(case, size, seed) for seed, size in enumerate(sizes)]
    )


def _deviations(cluster: Cluster, case: random_trees.Case, root: int) -> Sequence[float]:
    """How far the recursion is from SimGrid, as a ratio, for some trees."""
    drawn = random_trees.trees(case, NUM_CHECKED)
    operation, size_bytes = case.operation, case.message_bytes
    timings = [
        Timing(operation, size_bytes, root, _along(operation, size_bytes, parents))
        for _, parents in drawn
    ]
    simulated_s = cluster.times_s(timings)
    return [
        abs(time_s - exact_s) / exact_s
        for (time_s, _), exact_s in zip(drawn, simulated_s, strict=True)
    ]


def _along(operation: str, size_bytes: int, parents: list[int]) -> fl.Schedule:
    """Whole messages to one child after the other, or the blocks of subtrees to all at once."""
    is_whole = operation == "bcast"
    return fl.Schedule(
        operation=operation,
        form="forest" if is_whole else "split_tree",
        method="random tree",
        num_hosts=len(parents),
        root=parents.index(-1),
        message_bytes=size_bytes,
        trees=(tuple(parents),),
        tree_of_segment=(0,) if is_whole else (),
        share_of_segment=(1.0,) if is_whole else (),
        window=1 if is_whole else 0,
        max_sends=1 if is_whole else 0,
    )
