# SPDX-License-Identifier: Apache-2.0
"""Placements of one program that differ in how good they should be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import fairlead as fl

METHODS = ("launcher", "cyclic", "scotch", "scotch-intra", "scotch-inter")
SWAPS = (2, 4, 8, 16)
"""Pairs of ranks that change places in a good placement: from nearly as good to nearly random."""


def spread(
    traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster, number: int, seed: int
) -> list[fl.Placement]:
    """Different placements: those of the methods, then mixtures and random ones in turn.

    Mixtures are the launcher's groups of ranks on shuffled hosts, which changes what crosses racks
    but not what crosses hosts, and Scotch's placement after some swaps.
    """
    by_method = [fl.place(traffic, network, cluster, method) for method in METHODS]
    rng = np.random.default_rng(seed)
    different: dict[tuple[int, ...], fl.Placement] = {}
    # A small case may have fewer placements than are asked for.
    tries = itertools.islice(_mixtures(by_method, rng), 100 * number)
    for placement in itertools.chain(by_method, tries):
        if len(different) == number:
            break
        different.setdefault(tuple(placement.host_of_rank.tolist()), placement)
    return list(different.values())


def _mixtures(by_method: list[fl.Placement], rng: np.random.Generator) -> Iterator[fl.Placement]:
    launchers, scotch = by_method[0], by_method[METHODS.index("scotch")]
    for num_swaps in itertools.cycle(SWAPS):
        order = rng.permutation(len(launchers.hosts))
        yield _placement(launchers, order[launchers.host_of_rank], "launcher, hosts shuffled")
        yield _placement(
            scotch, _swapped(scotch.host_of_rank, num_swaps, rng), f"scotch, {num_swaps} swaps"
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
