# SPDX-License-Identifier: Apache-2.0
"""The three clouds in which collectives are compared, as a perfect probe would find them.

A cloud is a network; `platform_of` writes the same network down for SimGrid, so that what is
planned for and what is simulated is one thing.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import fairlead as fl

sys.path.append(str(Path(__file__).parents[1] / "cloudmap"))
from smpi import write_platform

Mbit_per_s = 1e6 / 8  # bytes per second
NIC_Bps = 1000 * Mbit_per_s
LATENCY_S = 50e-6

NUM_RACKS = 4
UPLINK_Bps = 2000 * Mbit_per_s
ACROSS_RACKS_S = 100e-6  # Two switches more than within a rack.

PAIR_MEDIAN_Bps, PAIR_SIGMA = 600 * Mbit_per_s, 0.5
PAIR_MEDIAN_S = 150e-6


def homogeneous(num_hosts: int, seed: int = 0) -> fl.Network:
    """Every pair alike: 1 Gbit/s, 50 us. Nothing is left to chance."""
    shape = (num_hosts, num_hosts)
    return _network(np.full(shape, LATENCY_S), np.full(shape, NIC_Bps))


def racks(num_hosts: int, seed: int = 0) -> fl.Network:
    """Four racks of equal size behind uplinks of 2 Gbit/s in each direction, hosts in hidden order.

    Within a rack as in the homogeneous cloud; across racks 100 us.
    """
    rack_of_host = np.random.default_rng(seed).permutation(np.arange(num_hosts) % NUM_RACKS)
    is_across = rack_of_host[:, None] != rack_of_host[None, :]
    groups = [
        fl.BottleneckGroup(pairs=np.argwhere(is_through), capacity_Bps=UPLINK_Bps)
        for rack in range(NUM_RACKS)
        for is_through in (
            is_across & (rack_of_host == rack)[:, None],
            is_across & (rack_of_host == rack)[None, :],
        )
    ]
    latency_s = np.where(is_across, ACROSS_RACKS_S, LATENCY_S)
    bandwidth_Bps = np.full(is_across.shape, NIC_Bps)
    return dataclasses.replace(_network(latency_s, bandwidth_Bps), groups=groups)


def mesh(num_hosts: int, seed: int = 0) -> fl.Network:
    """A full mesh of directed pairs, each with a bandwidth and a latency of its own.

    Both lognormal with sigma 0.5: bandwidth about 600 Mbit/s, which the interface caps at
    1 Gbit/s, latency about 150 us.
    """
    random, shape = np.random.default_rng(seed), (num_hosts, num_hosts)
    bandwidth_Bps = random.lognormal(np.log(PAIR_MEDIAN_Bps), PAIR_SIGMA, shape)
    latency_s = random.lognormal(np.log(PAIR_MEDIAN_S), PAIR_SIGMA, shape)
    return _network(latency_s, np.minimum(bandwidth_Bps, NIC_Bps))


CLOUDS: dict[str, Callable[[int, int], fl.Network]] = {
    "homogeneous": homogeneous,
    "racks": racks,
    "mesh": mesh,
}
"""The three of the comparison, by the names that the tables use."""


def pairs_only(network: fl.Network) -> fl.Network:
    """What a probe of single pairs sees of it: neither interfaces nor shared bottlenecks."""
    return dataclasses.replace(network, nic_out_Bps=None, nic_in_Bps=None, groups=())


def seen_by_messages(
    network: fl.Network, bandwidth_ratio: float, latency_ratio: float
) -> fl.Network:
    """What a probe by messages of one size finds, where the model slows down each such message.

    Interfaces and shared links are as they are: several of these messages at once can fill them.
    """
    return dataclasses.replace(
        network,
        bandwidth_Bps=bandwidth_ratio * network.bandwidth_Bps,
        latency_s=latency_ratio * network.latency_s,
    )


def platform_of(network: fl.Network, folder: Path, order: Sequence[int] | None = None) -> Path:
    """SimGrid's description of the cloud, and next to it `hosts.txt`, the host of a rank a line.

    Ranks are on the hosts in their order, or in another one.
    """
    path = folder / "platform.xml"
    write_platform(network, path)
    hosts = [network.hosts[host] for host in order or range(network.num_hosts)]
    (folder / "hosts.txt").write_text("".join(f"{host}\n" for host in hosts))
    return path


def _network(latency_s: np.ndarray, bandwidth_Bps: np.ndarray) -> fl.Network:
    num_hosts = len(latency_s)
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    nic_Bps = np.full(num_hosts, NIC_Bps)
    return fl.Network(
        hosts=[f"host{index}" for index in range(num_hosts)],
        latency_s=latency_s,
        bandwidth_Bps=bandwidth_Bps,
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps.copy(),
    )
