# SPDX-License-Identifier: Apache-2.0
"""Figure 10: two days on one cluster whose pairs stay in their bands (section 5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from rented import moments, rented

from cmpi_items.clusters import CMPI, MESSAGE_BYTES, METHODS, MPICH2, Cluster, Timing
from cmpi_items.figures import Figure, less_percent, mean_of
from cmpi_items.operations import PERCENT
from cmpi_items.options import Options

OF_PAPER = {"bcast": 30.1, "scatter": 17.3}
TIME_OF_PAPER_S = {"bcast": 0.27, "scatter": 0.91}
VARIATION_OF_PAPER = {"bcast": 100 * 4.0e-4**0.5 / 0.27, "scatter": 100 * 2.2e-3**0.5 / 0.91}
"""From means and variances; in percent of the mean."""

STEP_H = 6
"""From one call to the next; the paper's runs followed each other without a pause."""

ANEW = "CMPI, measured and planned anew each time"


def over_two_days(options: Options) -> Iterator[Figure]:
    """MPICH2, plans that were made at the start, and CMPI's plans made anew each time."""
    network = rented(options.num_hosts, 0)
    num_steps = 2 if options.is_short else options.num_hours // STEP_H
    seen_first, *seen_later = itertools.islice(moments(network, 1), 1 + num_steps)
    size_bytes, root = 10**4 if options.is_short else MESSAGE_BYTES, options.root(0)
    first = Cluster(network, options.num_ranks, options.folder)
    kept = {
        operation: {
            method: first.plan(method, operation, size_bytes, root, seen_first)
            for method in METHODS
        }
        for operation in OF_PAPER
    }
    times_s: dict[str, dict[str, list[float]]] = {operation: {} for operation in OF_PAPER}
    # What the network is like at a step, and what a probe at that step finds, differ.
    for now, probed in zip(seen_later, moments(network, 2), strict=False):
        cluster = Cluster(now, options.num_ranks, options.folder)
        plans = {
            (operation, name): plan
            for operation in OF_PAPER
            for name, plan in (
                *kept[operation].items(),
                (ANEW, cluster.plan(CMPI, operation, size_bytes, root, probed)),
            )
        }
        timings = [Timing(each, size_bytes, root, plan) for (each, _), plan in plans.items()]
        for (operation, name), time_s in zip(plans, cluster.times_s(timings), strict=True):
            times_s[operation].setdefault(name, []).append(time_s)
    for operation, of_operation in times_s.items():
        yield from _figures(operation, of_operation)


def _figures(operation: str, times_s: dict[str, list[float]]) -> Iterator[Figure]:
    mpich2_s = times_s[MPICH2]
    for method in METHODS[1:]:
        saved = [
            less_percent(own_s, other_s)
            for own_s, other_s in zip(times_s[method], mpich2_s, strict=True)
        ]
        paper = OF_PAPER[operation] if method == CMPI else None
        yield mean_of(f"{operation}, {method}", PERCENT, paper, saved)
    own_s = np.array(times_s[CMPI])
    paper_s = TIME_OF_PAPER_S[operation]
    yield mean_of(f"{operation}, {CMPI}, time of a call", "s", paper_s, times_s[CMPI])
    yield Figure(
        f"{operation}, {CMPI}, standard deviation over time", "% of the mean",
        VARIATION_OF_PAPER[operation], float(100 * own_s.std() / own_s.mean()), samples=len(own_s),
    )  # fmt: skip
    gains = [
        less_percent(anew_s, kept_s)
        for anew_s, kept_s in zip(times_s[ANEW], times_s[CMPI], strict=True)
    ]
    yield mean_of(f"{operation}, {ANEW}", "% less time than the first plan", "below 2", gains)
