# SPDX-License-Identifier: Apache-2.0
"""Figures 6, 7 and 8: the operations by size, by process, and on different virtual clusters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from rented import rented

from cmpi_items.clusters import CMPI, MESSAGE_BYTES, METHODS, MPICH2, OPERATIONS, Cluster, Timing
from cmpi_items.figures import Figure, less_percent, mean_of, quantiles_of
from cmpi_items.kept import kept
from cmpi_items.options import Options

SIZES_BYTES = (10**3, 10**4, 10**5, 10**6)
"""The text names the last two of figure 6."""

NUM_OF_FIGURE_6 = 3
"""Clusters, each with a root of its own; the paper has one."""

CLUSTER_OPERATIONS = ("bcast", "scatter")
PERCENT = "% less time than MPICH2"


def by_size(options: Options) -> Iterator[Figure]:
    """Figure 6: each operation and size by MPICH2, CMPI and ours."""
    sizes = (10**4,) if options.is_short else SIZES_BYTES
    clusters = range(1 if options.is_short else NUM_OF_FIGURE_6)
    cells = list(itertools.product(OPERATIONS, sizes))
    saved: dict[tuple[str, str, int], list[float]] = {}
    for seed in clusters:
        for (operation, size_bytes), times_s in by_methods(options, seed, cells).items():
            for method in METHODS[1:]:
                value = less_percent(times_s[method], times_s[MPICH2])
                saved.setdefault((operation, method, size_bytes), []).append(value)
    for (operation, of_paper), method in itertools.product(OPERATIONS.items(), METHODS[1:]):
        means = np.mean([saved[operation, method, size] for size in sizes], axis=0)
        paper = of_paper if method == CMPI else None
        yield mean_of(f"{operation}, {method}, mean of the sizes", PERCENT, paper, list(means))
        for size in sizes:
            name = f"{operation}, {method}, {size:,} bytes"
            yield mean_of(name, PERCENT, None, saved[operation, method, size])
    for method, paper in zip(METHODS[1:], (25.4, None), strict=True):
        all_means = [
            float(np.mean([saved[operation, method, size][seed] for operation, size in cells]))
            for seed in clusters
        ]
        yield mean_of(f"all four operations, {method}", PERCENT, paper, all_means)


def by_process(options: Options) -> Iterator[Figure]:
    """Figure 7: when the processes of a scatter have done, after a common start."""
    size_bytes = 10**4 if options.is_short else MESSAGE_BYTES
    of_draws = []
    for seed in options.draws:
        cluster, root = cluster_of(options, seed)
        timings = timings_of(cluster, "scatter", size_bytes, root)
        of_draws.append(cluster.rank_times_s(timings))
    for method, times_s in zip(METHODS, zip(*of_draws, strict=True), strict=True):
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            within = [float(np.quantile(of_draw, share)) for of_draw in times_s]
            yield mean_of(f"{method}, {share:.0%} of the processes within", "s", None, within)
        shown = {MPICH2: "less balanced", CMPI: "more balanced"}.get(method)
        name = f"{method}, standard deviation of a process"
        deviations_s = [float(of_draw.std()) for of_draw in times_s]
        yield mean_of(f"{name} in seconds", "s", shown, deviations_s)
        variations = [100 * float(of_draw.std() / of_draw.mean()) for of_draw in times_s]
        yield mean_of(name, "% of the mean", shown, variations)


def by_cluster(options: Options) -> Iterator[Figure]:
    """Figure 8: bcast and scatter on virtual clusters of 64 hosts."""
    num_clusters = 2 if options.is_short else options.num_clusters
    size_bytes = 10**4 if options.is_short else MESSAGE_BYTES
    cells = [(operation, size_bytes) for operation in CLUSTER_OPERATIONS]
    found = [_kept_by_methods(options, seed, cells) for seed in range(num_clusters)]
    for cell in cells:
        operation, _ = cell
        runs = [of_cell[cell] for of_cell in found]
        times_s = {method: [run[method] for run in runs] for method in METHODS}
        for method in METHODS[1:]:
            saved = [
                less_percent(own_s, mpich2_s)
                for own_s, mpich2_s in zip(times_s[method], times_s[MPICH2], strict=True)
            ]
            paper = "faster" if method == CMPI else None
            yield mean_of(f"{operation}, {method}", PERCENT, paper, saved)
            slower = 100 * float(np.mean(np.array(saved) < 0))
            name = f"{operation}, {method} slower than MPICH2"
            yield Figure(name, "% of the clusters", None, slower, samples=num_clusters)
        for method in METHODS:
            yield from quantiles_of(f"{operation}, {method}", "s", times_s[method], (0.1, 0.5, 0.9))
            variation = 100 * float(np.std(times_s[method]) / np.mean(times_s[method]))
            shown = {MPICH2: "less stable", CMPI: "more stable"}.get(method)
            name = f"{operation}, {method}, standard deviation over the clusters"
            yield Figure(name, "% of the mean", shown, variation, samples=num_clusters)


def cluster_of(options: Options, seed: int) -> tuple[Cluster, int]:
    """A virtual cluster under the default setting, and its root."""
    network = rented(options.num_hosts, seed)
    return Cluster(network, options.num_ranks, options.folder), options.root(seed)


def timings_of(cluster: Cluster, operation: str, size_bytes: int, root: int) -> Sequence[Timing]:
    """The call by each method."""
    return [
        Timing(operation, size_bytes, root, cluster.plan(method, operation, size_bytes, root))
        for method in METHODS
    ]


Cell = tuple[str, int]
"""An operation and its size in bytes."""


def by_methods(options: Options, seed: int, cells: Sequence[Cell]) -> dict[Cell, dict[str, float]]:
    """Seconds of each call on the cluster of that number, by each method, in one simulation."""
    times_s = iter(_times_s(options, seed, cells))
    return {cell: {method: next(times_s) for method in METHODS} for cell in cells}


def _kept_by_methods(
    options: Options, seed: int, cells: Sequence[Cell]
) -> dict[Cell, dict[str, float]]:
    """The same, kept for each cluster."""
    words = [str(word) for cell in cells for word in cell]
    name = "-".join([*words, str(options.num_ranks), str(seed)])
    times_s = iter(kept(options.measured, name, partial(_times_s, options, seed, cells)))
    return {cell: {method: next(times_s) for method in METHODS} for cell in cells}


def _times_s(options: Options, seed: int, cells: Sequence[Cell]) -> list[float]:
    """Seconds of each cell by each method."""
    cluster, root = cluster_of(options, seed)
    timings = [timing for cell in cells for timing in timings_of(cluster, *cell, root)]
    return cluster.times_s(timings)
