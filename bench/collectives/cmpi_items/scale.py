# SPDX-License-Identifier: Apache-2.0
"""What the paper's text says of its appendix B: more processes, and the parameters k and T_span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from clouds import pairs_only
from rented import rented

import fairlead as fl
from cmpi_items.clusters import CMPI, MESSAGE_BYTES, MPICH2, OPERATIONS, OURS, Cluster, Timing
from cmpi_items.figures import Figure, less_percent, mean_of
from cmpi_items.kept import kept
from cmpi_items.operations import PERCENT, cluster_of
from cmpi_items.options import Options

NUM_RANKS = (32, 64, 128, 256, 512, 1024, 2048)
RANKS_OF_HOST = 8
SIZE_BYTES = 10**5
"""Smaller than the default, so that 2,048 blocks are in the memory of one computer."""

MOST_RANKS_OF_OURS = 512
"""Our planning takes minutes of a core for more than 64 hosts."""

KS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SPANS = (0, 1, 2, 4, 16)


def by_processes(options: Options) -> Iterator[Figure]:
    """32 to 2,048 processes: 25.4 to 31.2 % less time than MPICH2, 28.3 % in the abstract."""
    all_saved = []
    counts = [count for count in NUM_RANKS if count <= options.most_ranks]
    for num_ranks in counts[:1] if options.is_short else counts:
        methods = [CMPI, OURS] if num_ranks <= MOST_RANKS_OF_OURS else [CMPI]
        draws = [_saved_percent(options, num_ranks, seed, methods) for seed in options.draws]
        for method in methods:
            paper = "25.4 to 31.2" if method == CMPI else None
            name = f"{num_ranks:,} processes, {method}"
            means = [float(np.mean(of_draw[method])) for of_draw in draws]
            yield mean_of(f"{name}, mean of the operations", PERCENT, paper, means)
            for index, operation in enumerate(OPERATIONS):
                saved = [of_draw[method][index] for of_draw in draws]
                yield mean_of(f"{name}, {operation}", PERCENT, None, saved)
            if method == CMPI:
                all_saved.append(float(np.mean(means)))
    yield mean_of(f"all numbers of processes, {CMPI}", PERCENT, 28.3, all_saved)


def _saved_percent(
    options: Options, num_ranks: int, seed: int, methods: Sequence[str]
) -> dict[str, list[float]]:
    """On a cloud, by each method, of each operation how much less time than MPICH2 it takes."""
    words = "-".join(method.lower() for method in methods)
    times_s = [
        kept(
            options.measured,
            f"{num_ranks}-{seed}-{operation}-{words}",
            partial(_times_s, options, num_ranks, seed, operation, methods),
        )
        for operation in OPERATIONS
    ]
    return {
        method: [less_percent(of_operation[column], of_operation[0]) for of_operation in times_s]
        for column, method in enumerate(methods, start=1)
    }


def _times_s(
    options: Options, num_ranks: int, seed: int, operation: str, methods: Sequence[str]
) -> list[float]:
    """Seconds of one operation by MPICH2, then by each method."""
    cluster = Cluster(rented(num_ranks // RANKS_OF_HOST, seed), num_ranks, options.folder)
    root = int(np.random.default_rng(num_ranks + 10_000 * seed).integers(num_ranks))
    plans = [cluster.plan(method, operation, SIZE_BYTES, root) for method in (MPICH2, *methods)]
    return cluster.times_s([Timing(operation, SIZE_BYTES, root, plan) for plan in plans])


def by_parameters(options: Options) -> Iterator[Figure]:
    """A bcast of 1 MB with other values of k and of T_span; the paper's on EC2 are 4 and 1."""
    settings = [*((k, 1) for k in KS), *((4.0, span) for span in SPANS if span != 1)]
    draws = [_by_setting(options, seed, settings) for seed in options.draws]
    for (k, span), of_draws in zip(settings, zip(*draws, strict=True), strict=True):
        name = f"bcast, k = {k:g}, T_span = {span}"
        yield mean_of(name, PERCENT, None, [saved for saved, _ in of_draws])
        yield mean_of(f"{name}, levels", "levels", None, [levels for _, levels in of_draws])


def _by_setting(
    options: Options, seed: int, settings: Sequence[tuple[float, int]]
) -> list[tuple[float, float]]:
    """On a cloud, how much less time than MPICH2 a bcast takes by k and T_span, and its levels."""
    cluster, root = cluster_of(options, seed)
    size_bytes = 10**5 if options.is_short else MESSAGE_BYTES
    host = root % cluster.network.num_hosts
    seen = pairs_only(cluster.network)
    plans = [
        fl.collectives.plan("bcast", seen, size_bytes, host, method="cmpi", k=k, max_span=span)
        for k, span in settings
    ]
    timings = [Timing("bcast", size_bytes, root, plan) for plan in (None, *plans)]
    mpich2_s, *times_s = cluster.times_s(timings)
    return [
        (less_percent(time_s, mpich2_s), float(len(plan.levels)))
        for plan, time_s in zip(plans, times_s, strict=True)
    ]
