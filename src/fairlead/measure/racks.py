# SPDX-License-Identifier: Apache-2.0
"""Racks in a measured network: groups of hosts nearer to one another than to the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.cluster.hierarchy
import scipy.special

from fairlead.model.network import Network

Vector = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

LEAST_RATIO = 1.2
"""How many times better pairs inside racks must be than others, in latency or in bandwidth, to get
a frame."""
RESOLUTION = 0.02
"""Spread of logarithms below which differences are ignored: 2 %."""
CERTAINTY = float(np.log(20))
"""Nats that racks must save beyond their own description: odds of 20 to 1."""
MAX_RACKS = 64
MAX_HOSTS = 2048
"""The search takes time and memory that grow with the square of the hosts."""


def racks(network: Network) -> list[list[int]]:
    """Positions of the hosts of each rack, or nothing if the measurement shows no racks.

    Hosts are joined by average linkage; of all cuts of that tree, the one is taken by which the
    pairs are described in the fewest bits: a mean for pairs inside and one for pairs between racks,
    and the partition itself. So noise alone makes no racks.

    Returns:
        Racks by their first host, hosts ascending; each host once. A host far from all is alone.

    Source: Sokal and Michener 1958 (average linkage); Rissanen 1978 (shortest description).
    """
    num_hosts = network.num_hosts
    if not 3 < num_hosts <= MAX_HOSTS:
        return []
    sides = [
        side
        for values, sign in ((network.latency_s, 1), (network.bandwidth_Bps, -1))
        if (side := _side(values, sign)) is not None
    ]
    if not sides:
        return []
    tree = scipy.cluster.hierarchy.linkage(_distances(sides), method="average")
    first, second = np.triu_indices(num_hosts, 1)
    best, best_saving = None, CERTAINTY
    for count in range(2, min(num_hosts - 1, MAX_RACKS) + 1):
        labels = scipy.cluster.hierarchy.fcluster(tree, count, criterion="maxclust")
        is_inside = labels[first] == labels[second]
        saving = _gain_of_split(sides, is_inside) - _partition_cost(num_hosts, int(labels.max()))
        if saving > best_saving and _is_worth_it(sides, is_inside):
            best, best_saving = labels, saving
    if best is None:
        return []
    groups = [np.flatnonzero(best == label).tolist() for label in np.unique(best)]
    return sorted(groups)


def _side(values: npt.NDArray[np.float64], sign: int) -> Vector | None:
    """Logarithms of all unordered pairs, small where near, `nan` where unmeasured.

    None where too little is known, or all is alike.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = sign * np.log(values)
    upper = np.triu_indices(len(values), 1)
    both = np.stack([logarithm[upper], logarithm.T[upper]])
    both[~np.isfinite(both)] = np.nan
    known = np.isfinite(both).sum(axis=0)
    mean = np.where(known > 0, np.nansum(both, axis=0) / np.maximum(known, 1), np.nan)
    if (known > 0).sum() < 3 or np.nanstd(mean) < RESOLUTION:
        return None
    return np.asarray(mean)


def _distances(sides: list[Vector]) -> Vector:
    """How far hosts are from one another, all quantities counting alike; condensed."""
    total = np.zeros(len(sides[0]))
    for values in sides:
        # One pair that is off by orders of magnitude must not outweigh all others.
        low, middle, high = np.nanquantile(values, [0.02, 0.5, 0.98])
        score = np.clip(np.nan_to_num(values, nan=middle), low, high)
        total += (score - score.min()) / max(float(np.std(score)), RESOLUTION)
    return total


def _gain_of_split(sides: list[Vector], is_inside: npt.NDArray[np.bool_]) -> float:
    """Nats that two means instead of one save; 0 where those inside are not the nearer ones."""
    saved = 0.0
    for values in sides:
        known = np.isfinite(values)
        inside, between = values[known & is_inside], values[known & ~is_inside]
        if not (inside.size and between.size) or inside.mean() >= between.mean():
            continue
        count = int(known.sum())
        total = RESOLUTION**2 + np.var(values[known], ddof=1)
        rest = inside.size * np.var(inside) + between.size * np.var(between)
        left = RESOLUTION**2 + rest / max(count - 2, 1)
        saved += count / 2 * float(np.log(total / left)) - np.log(count) / 2
    return saved


def _partition_cost(num_hosts: int, num_racks: int) -> float:
    """Nats for describing which host is in which rack."""
    return float(num_hosts * np.log(num_racks) - scipy.special.gammaln(num_racks + 1))


def _is_worth_it(sides: list[Vector], is_inside: npt.NDArray[np.bool_]) -> bool:
    return any(
        np.nanmedian(values[~is_inside]) - np.nanmedian(values[is_inside]) >= np.log(LEAST_RATIO)
        for values in sides
        if np.isfinite(values[is_inside]).any() and np.isfinite(values[~is_inside]).any()
    )
