#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `fairlead advise` names a bad host without one, and how often it finds a real one.

Networks are drawn as the lab's scenario `pairwise` is, with other seeds and spreads; one host's
rates are then divided in both directions. Nothing is measured: the same everywhere.
"""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import fairlead as fl
from fairlead.decide.hosts import find_bad_hosts
from fairlead.lab.tables import PairRates
from fairlead.lab.topology import draw_pairs

NIC_Bps = 125e6
FACTORS = (3, 5, 10)
BAD = 1  # Position of the host that is made bad.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="20 networks of each kind, 8 hosts")
    options = parser.parse_args()
    num_networks = 20 if options.short else 1000
    table = Table(title=f"Share of {num_networks} networks of each kind")
    for column in ("hosts", "spread of pairs", "a host is named though none is bad"):
        table.add_column(column, justify="right")
    for factor in FACTORS:
        table.add_column(f"one {factor} times slower: just it", justify="right")
    kinds = [(h, s) for h in ((8,) if options.short else (5, 6, 8, 16)) for s in (0.02, 0.2, 0.7)]
    for num_hosts, sigma in track(kinds, transient=True, console=Console(stderr=True)):
        networks = [drawn(num_hosts, sigma, seed) for seed in range(num_networks)]
        named = np.mean([bool(find_bad_hosts(network)) for network in networks])
        found = [
            np.mean([is_found(slowed(network, factor)) for network in networks])
            for factor in FACTORS
        ]
        table.add_row(
            str(num_hosts), f"{sigma:g}", f"{named:.1%}", *(f"{share:.0%}" for share in found)
        )
    Console(width=140).print(table)


def drawn(num_hosts: int, sigma: float, seed: int) -> fl.Network:
    """Lognormal pairs below the rate of the interfaces; latencies equal in both directions."""
    rates = PairRates(median="300Mbit/s", sigma=sigma, asymmetry=0.5)
    delays = PairRates(median="300Mbit/s", sigma=sigma, asymmetry=0)
    bandwidth_Bps = np.minimum(draw_pairs(rates, num_hosts, seed), NIC_Bps)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = 2000 / draw_pairs(delays, num_hosts, seed + 10**6)
    hosts = [f"h{host}" for host in range(num_hosts)]
    return fl.Network(hosts, latency_s, bandwidth_Bps)


def slowed(network: fl.Network, factor: float) -> fl.Network:
    bandwidth_Bps = network.bandwidth_Bps.copy()
    bandwidth_Bps[BAD, :] /= factor
    bandwidth_Bps[:, BAD] /= factor
    return dataclasses.replace(network, bandwidth_Bps=bandwidth_Bps)


def is_found(network: fl.Network) -> bool:
    return [bad.host for bad in find_bad_hosts(network)] == [network.hosts[BAD]]


if __name__ == "__main__":
    main()
