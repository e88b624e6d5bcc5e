# SPDX-License-Identifier: Apache-2.0
"""Small clusters, networks and traffics for the tests of placements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import fairlead as fl


def network(bandwidth_Bps: np.ndarray, latency_s: np.ndarray | None = None) -> fl.Network:
    """A network of hosts h0, h1, ... whose inside costs nothing."""
    bandwidth_Bps = np.array(bandwidth_Bps, dtype=float)
    num_hosts = len(bandwidth_Bps)
    latency_s = np.full((num_hosts, num_hosts), 1e-5) if latency_s is None else np.array(latency_s)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    np.fill_diagonal(latency_s, 0.0)
    return fl.Network([f"h{host}" for host in range(num_hosts)], latency_s, bandwidth_Bps)


def racks(rack_of_host: Sequence[int], ratio: float = 5.0) -> fl.Network:
    """125 MB/s and 50 us inside a rack; `ratio` times worse between racks."""
    rack = np.array(rack_of_host)
    same = rack[:, None] == rack
    return network(np.where(same, 125e6, 125e6 / ratio), np.where(same, 5e-5, 5e-5 * ratio))


def random_network(num_hosts: int, rng: np.random.Generator) -> fl.Network:
    """Lognormal directed pairs."""
    shape = (num_hosts, num_hosts)
    return network(1e8 * rng.lognormal(0, 0.8, shape), 1e-5 * rng.lognormal(0, 0.8, shape))


def random_traffic(num_ranks: int, rng: np.random.Generator) -> fl.Traffic:
    """Half of the pairs talk, a few of them much more than the others."""
    shape = (num_ranks, num_ranks)
    talks = rng.random(shape) < 0.5
    return fl.Traffic(
        bytes=np.where(talks, np.floor(rng.lognormal(10, 2, shape)), 0.0),
        messages=np.where(talks, np.floor(rng.lognormal(3, 1, shape)) + 1, 0.0),
    )


def groups_traffic(group_of_rank: Sequence[int]) -> fl.Traffic:
    """Heavy traffic inside groups, light traffic from each group to the next by number."""
    group = np.array(group_of_rank)
    same = (group[:, None] == group) & ~np.eye(group.size, dtype=bool)
    follows = group[:, None] + 1 == group
    return fl.Traffic(bytes=same * 1e6 + follows * 1e3, messages=same * 100.0 + follows * 1.0)


def all_placements(num_ranks: int, slots: Sequence[int]) -> Iterator[np.ndarray]:
    """Every way to put ranks on hosts within the slots."""
    for code in np.ndindex(*(len(slots),) * num_ranks):
        host_of_rank = np.array(code)
        if np.all(np.bincount(host_of_rank, minlength=len(slots)) <= slots):
            yield host_of_rank
