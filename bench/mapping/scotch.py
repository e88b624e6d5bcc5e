#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the scaling of costs and the number of starts change Scotch's placements, and the time.

python bench/mapping/scotch.py        about half a minute; --short for a few seconds
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import fairlead as fl
from fairlead import _core
from fairlead.model.cost import rank_matrix

DISTANCES = (1, 3, 10, 30, 100, 1000, 100_000)
STARTS = (1, 2, 4, 8, 16)
SMALL_SLOTS = ((2, 2, 2), (3, 2, 2), (4, 1, 1))
PAPER_S = {(64, 8): 0.005, (256, 32): 0.028}  # CloudMap table II


class Case(NamedTuple):
    """Traffic on hosts whose slots are all needed."""

    traffic: _core.RankMatrix
    cost: np.ndarray
    slots: np.ndarray


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--short", action="store_true", help="fewer cases and repeats")
    short = options.parse_args().short
    cases = list(make_cases(np.random.default_rng(1), repeats=1 if short else 4))
    reference = best_values(cases, largest_distance=1000, num_tries=4 if short else 64)
    print(f"{len(cases)} cases, 25 to 256 ranks on 8 and 16 hosts; cost over the best known cost")
    report("largest distance, 4 starts", DISTANCES, cases, reference, by_distance)
    report("starts, largest distance 1000", STARTS, cases, reference, by_starts)
    report_small(num_cases=5 if short else 60)
    report_times(repeats=3 if short else 15)


def make_cases(rng: np.random.Generator, repeats: int):
    """Grids and random patterns, ranks in random order, on hidden racks and uneven pairs."""
    for _ in range(repeats):
        patterns = [grid((5, 5), rng), grid((4, 4, 4), rng), grid((8, 8, 4), rng)]
        patterns += [random_pattern(64, 6, rng), random_pattern(256, 8, rng)]
        for pattern in patterns:
            num_ranks = pattern.shape[0]
            for num_hosts in (8, 16):
                for cost in (racks(num_hosts, rng), uneven_pairs(num_hosts, rng)):
                    slots = np.full(num_hosts, -(-num_ranks // num_hosts))
                    yield Case(rank_matrix(pattern), cost, slots)


def grid(shape: Sequence[int], rng: np.random.Generator) -> sp.csr_array:
    """Neighbours exchange ten times more along each further axis."""
    rank = rng.permutation(int(np.prod(shape))).reshape(shape)
    pattern = np.zeros((rank.size, rank.size))
    for axis, length in enumerate(shape):
        low = np.take(rank, range(length - 1), axis).ravel()
        high = np.take(rank, range(1, length), axis).ravel()
        pattern[low, high] = pattern[high, low] = 10.0 ** (6 + axis)
    return sp.csr_array(pattern)


def random_pattern(num_ranks: int, degree: int, rng: np.random.Generator) -> sp.csr_array:
    """A few partners each, lognormal bytes."""
    talks = rng.random((num_ranks, num_ranks)) < degree / num_ranks
    np.fill_diagonal(talks, False)
    return sp.csr_array(np.where(talks, rng.lognormal(14, 2, talks.shape), 0.0))


def racks(num_hosts: int, rng: np.random.Generator) -> np.ndarray:
    """Racks of four hosts in hidden order, five times slower between them, 5 % noise."""
    rack = rng.permutation(np.arange(num_hosts) // 4)
    bandwidth_Bps = np.where(rack[:, None] == rack, 125e6, 25e6)
    return without_own(1 / (bandwidth_Bps * rng.lognormal(0, 0.05, bandwidth_Bps.shape)))


def uneven_pairs(num_hosts: int, rng: np.random.Generator) -> np.ndarray:
    """Directed lognormal pairs."""
    return without_own(1 / (125e6 * rng.lognormal(0, 0.5, (num_hosts, num_hosts))))


def without_own(cost: np.ndarray) -> np.ndarray:
    np.fill_diagonal(cost, 0.0)
    return cost


def best_values(cases: Sequence[Case], largest_distance: float, num_tries: int) -> np.ndarray:
    """Cost of the best placement of each case."""
    values = []
    for case in cases:
        placements = _core.scotch_placements(
            *case, seed=2, num_tries=num_tries, largest_distance=largest_distance
        )
        values.append(min(_core.weighted_sum(*case[:2], row) for row in placements))
    return np.array(values)


def by_distance(cases: Sequence[Case], distance: int) -> np.ndarray:
    return best_values(cases, largest_distance=distance, num_tries=4)


def by_starts(cases: Sequence[Case], num_tries: int) -> np.ndarray:
    return best_values(cases, largest_distance=1000, num_tries=num_tries)


def report(
    title: str,
    settings: Sequence[int],
    cases: Sequence[Case],
    reference: np.ndarray,
    measure: Callable[[Sequence[Case], int], np.ndarray],
) -> None:
    """A line for each setting: mean and worst cost over the best that any setting found."""
    found = {setting: measure(cases, setting) for setting in settings}
    best = np.minimum.reduce([reference, *found.values()])
    print(f"\n{title}\n{'':>10} {'mean':>7} {'worst':>7}")
    for setting, values in found.items():
        print(f"{setting:>10} {np.mean(values / best):7.3f} {np.max(values / best):7.3f}")


def report_small(num_cases: int) -> None:
    """Six ranks on three hosts, random directed traffic and costs, against all placements."""
    rng = np.random.default_rng(2)
    print(f"\nsix ranks on three hosts, {num_cases} cases each: cost over the least")
    print(f"{'slots':>10} {'median':>7} {'90 %':>7} {'launcher, median':>17}")
    for slots in SMALL_SLOTS:
        ratios = np.array([small_ratios(slots, rng) for _ in range(num_cases)])
        scotch, launcher = np.median(ratios, axis=0)
        title = ", ".join(map(str, slots))
        print(f"{title:>10} {scotch:7.2f} {np.quantile(ratios[:, 0], 0.9):7.2f} {launcher:17.2f}")


def small_ratios(slots: tuple[int, ...], rng: np.random.Generator) -> tuple[float, float]:
    """The sums of Scotch's placement and of the launcher's over the least of all placements."""
    sent = rng.lognormal(0, 1, (6, 6)) * (1 - np.eye(6))
    cost = rng.lognormal(0, 1, (3, 3)) * (1 - np.eye(3))

    def value(host_of_rank: Sequence[int]) -> float:
        return float((sent * cost[np.ix_(host_of_rank, host_of_rank)]).sum())

    least = min(
        value(host_of_rank)
        for host_of_rank in itertools.product(range(3), repeat=6)
        if all(host_of_rank.count(host) <= slots[host] for host in range(3))
    )
    hosts = ["h0", "h1", "h2"]
    network = fl.Network(hosts, np.zeros((3, 3)), 1 / np.maximum(cost, 1e-300))
    traffic, cluster = fl.Traffic(sent, sent), fl.Cluster(hosts, slots)
    found = [
        fl.place(traffic, network, cluster, method, objective="sum")
        for method in ("scotch-best", "launcher")
    ]
    scotch, launcher = (value(placement.host_of_rank) / least for placement in found)
    return scotch, launcher


def report_times(repeats: int) -> None:
    """Time of fl.place next to CloudMap's."""
    rng = np.random.default_rng(3)
    print(f"\ntime of place(), median of {repeats}, in milliseconds\n{'':>22} {'here':>7} paper")
    for (num_ranks, num_hosts), paper_s in PAPER_S.items():
        cost = uneven_pairs(num_hosts, rng)
        np.fill_diagonal(cost, 1e-300)
        hosts = [f"h{host}" for host in range(num_hosts)]
        network = fl.Network(hosts, np.zeros(cost.shape), 1 / cost)
        cluster = fl.Cluster.uniform(hosts, num_ranks // num_hosts)
        side = int(num_ranks**0.5)
        dense = sp.csr_array(rng.random((num_ranks, num_ranks)))
        for name, pattern in {"grid": grid((side, side), rng), "all pairs": dense}.items():
            traffic = fl.Traffic(pattern, pattern)
            times_s = []
            for _ in range(repeats):
                started = time.perf_counter()
                fl.place(traffic, network, cluster, "scotch-best", objective="sum")
                times_s.append(time.perf_counter() - started)
            label = f"{num_ranks} on {num_hosts}, {name}"
            print(f"{label:>22} {np.median(times_s) * 1e3:7.1f} {paper_s * 1e3:5.0f}")


if __name__ == "__main__":
    main()
