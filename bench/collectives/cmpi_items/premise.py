# SPDX-License-Identifier: Apache-2.0
"""Section 3 and figure 5: what the cloud is like, here by construction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from clouds import pairs_only
from rented import (
    ASYMMETRY_OF_128,
    LEVELS_OF_64,
    K,
    asymmetry_ratio,
    levels_of,
    moments,
    rented,
    slowness_of,
)

import fairlead as fl
from cmpi_items.clusters import MESSAGE_BYTES
from cmpi_items.figures import Figure, mean_of
from cmpi_items.options import Options

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

NO_RACKS_SIGMA = 0.8
"""Standard deviation of the logarithms of times, for pairs that have nothing in common."""

PROBE_BYTES = (1, 8 * 10**6)
"""Section 3.1: a byte for the latency, 8 MB for the bandwidth."""


def pair_distributions(options: Options) -> Iterator[Figure]:
    """Figure 2: latency and bandwidth over the pairs of 200 hosts."""
    network = rented(20 if options.is_short else 200)
    apart = ~np.eye(network.num_hosts, dtype=bool)
    for name, values, unit in (
        ("latency", 1e6 * network.latency_s[apart], "us"),
        ("bandwidth", 1e-6 * network.bandwidth_Bps[apart], "MB/s"),
    ):
        for share in QUANTILES:
            yield Figure(
                f"{name}, {share:.0%} of the pairs below", unit, None,
                float(np.quantile(values, share)),
            )  # fmt: skip


def asymmetry(options: Options) -> Iterator[Figure]:
    """Section 3.2: pairs whose directions are at different levels, among 128 hosts."""
    draws = [slowness_of(rented(128, seed)) for seed in range(2 if options.is_short else 20)]
    for name, of_paper in ASYMMETRY_OF_128.items():
        found = [100 * asymmetry_ratio(slowness[name]) for slowness in draws]
        yield mean_of(f"asymmetric by {name}", "% of the pairs", 100 * of_paper, found)


def hierarchy(options: Options) -> Iterator[Figure]:
    """Figure 5: levels, and the sizes of the groups, of 64 hosts."""
    draws = [
        fl.build_hierarchy(pairs_only(rented(64, seed)), MESSAGE_BYTES, k=K, max_span=1)
        for seed in range(2 if options.is_short else 20)
    ]
    counts = [float(len(draw.levels)) for draw in draws]
    yield mean_of("levels of groups above the single hosts", "levels", LEVELS_OF_64, counts)
    for level in range(len(draws[0].levels)):
        sizes = np.bincount(np.asarray(draws[0].levels[level]))
        name = f"first cloud, level {level + 1}"
        yield Figure(f"{name}, groups", "groups", None, float(len(sizes)))
        yield Figure(f"{name}, largest less smallest group", "hosts", "small", float(np.ptp(sizes)))
    of_hours = [
        _distances(network)
        for network in itertools.islice(moments(rented(64, 0), 1), 2 if options.is_short else 48)
    ]
    first, second = np.triu_indices(64, 1)
    same = [
        100 * float(np.mean(earlier[first, second] == later[first, second]))
        for earlier, later in itertools.pairwise(of_hours)
    ]
    name = "first cloud, pairs whose distance is the same an hour later"
    yield mean_of(name, "% of the pairs", "rather stable", same)


def _distances(network: fl.Network) -> npt.NDArray[np.int64]:
    """Level of the lowest group of each pair of hosts."""
    found = fl.build_hierarchy(pairs_only(network), MESSAGE_BYTES, k=K, max_span=1)
    hosts = range(network.num_hosts)
    return np.array([[found.distance(a, b) for b in hosts] for a in hosts])


def balance(options: Options) -> Iterator[Figure]:
    """Section 4.2: what it does that a host joins the qualifying group with the fewest processes.

    The first level of groups, before any host is moved to keep the span.
    """
    seeds = range(2 if options.is_short else 20)
    clouds = [rented(64, seed) for seed in seeds]
    times_s = {
        "racks": [cloud.latency_s + MESSAGE_BYTES / cloud.bandwidth_Bps for cloud in clouds],
        "no racks": [
            np.random.default_rng(seed).lognormal(sigma=NO_RACKS_SIGMA, size=(64, 64))
            for seed in seeds
        ],
    }
    for cloud, draws in times_s.items():
        for name, joins_fewest, paper in (
            ("the group with the fewest processes", True, "much smaller"),
            ("the first group that qualifies", False, None),
        ):
            groups = [_grouped(levels_of(of_draw), joins_fewest) for of_draw in draws]
            spans = [float(np.ptp([len(group) for group in found])) for found in groups]
            yield mean_of(f"{cloud}: span where a host joins {name}", "hosts", paper, spans)
            counts = [float(len(found)) for found in groups]
            yield mean_of(f"{cloud}: groups where a host joins {name}", "groups", None, counts)


def _grouped(levels: npt.NDArray[np.int64], joins_fewest: bool) -> list[list[int]]:
    """Algorithm 2 on single hosts, without its last step."""
    num_hosts = len(levels)
    worse = np.maximum(levels, levels.T)
    for boundary in itertools.count():
        groups: list[list[int]] = []
        for host in range(num_hosts):
            near = [group for group in groups if worse[host, group].max() <= boundary]
            if near:
                (min(near, key=len) if joins_fewest else near[0]).append(host)
            else:
                groups.append([host])
        if 2 * len(groups) <= num_hosts:
            return groups
    raise AssertionError


def bands(options: Options) -> Iterator[Figure]:
    """Section 3.2: a pair over time, against the differences between pairs; hourly, two days."""
    network = rented(8 if options.is_short else 64)
    hours = list(itertools.islice(moments(network, 1), 4 if options.is_short else 48))
    apart = ~np.eye(network.num_hosts, dtype=bool)
    for name in ("latency_s", "bandwidth_Bps"):
        values = np.array([getattr(hour, name)[apart] for hour in hours])
        of_pairs, means = values.std(axis=0) / values.mean(axis=0), values.mean(axis=0)
        metric = name.partition("_")[0]
        yield Figure(
            f"{metric}, standard deviation of a pair over time, median of the pairs",
            "% of its mean", None, float(100 * np.median(of_pairs)), samples=len(hours),
        )  # fmt: skip
        yield Figure(
            f"{metric}, standard deviation of the pairs' means", "% of the mean of all", None,
            float(100 * means.std() / means.mean()),
        )  # fmt: skip


def calibration(options: Options) -> Iterator[Figure]:
    """Section 3.1: how long measuring all pairs of 128 hosts takes, N rounds of N / 2 pairs."""
    network = rented(8 if options.is_short else 128)
    yield Figure("measuring all pairs", "s", "below 100", probing_s(network, PROBE_BYTES))


def probing_s(network: fl.Network, sizes_bytes: tuple[int, ...] = PROBE_BYTES) -> float:
    """Time of a probe as the paper's: in each round each host has one partner.

    A round takes as long as its slowest pair, which sends messages of these sizes in both
    directions, one after the other. An even number of hosts meet in a circle around the last one.
    """
    num_hosts = network.num_hosts
    one_way_s = len(sizes_bytes) * network.latency_s + sum(sizes_bytes) / network.bandwidth_Bps
    both_ways_s = one_way_s + one_way_s.T
    total_s = 0.0
    for turn in range(num_hosts - 1):
        others = [(place + turn) % (num_hosts - 1) for place in range(num_hosts - 1)]
        circle = [num_hosts - 1, *others]
        half = num_hosts // 2
        pairs = zip(circle[:half], circle[: half - 1 : -1], strict=True)
        total_s += max(both_ways_s[pair] for pair in pairs)
    return total_s
