# SPDX-License-Identifier: Apache-2.0
"""A network by its topology alone: what a route costs by its number of links.

A pair whose route is unknown counts as far as the farthest known one, and a link of unknown
bandwidth as slow as the slowest known one: a flattering default would attract the heaviest traffic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from fairlead.errors import InputError
from fairlead.measure.network_sources.source import NetworkSource
from fairlead.measure.oracle import cost_network
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.topology import Reduction, Topology
from fairlead.model.topology.routes import known_reducer

MOST_HOSTS = 4096
"""Most hosts for whose pairs a matrix is computed."""


class TopologySource(NetworkSource):
    """A `.topo.npz` file, as `fairlead import` writes it."""

    form = "FILE.topo.npz"
    basis = "the declared topology"
    has_true_rates = False

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """By the ending of the name."""
        return text is not None and text.endswith(".topo.npz")

    def look_up(self, cluster: Cluster | None) -> Network:
        """The network of the file, by hops."""
        topology = Topology.load(self.name)
        names = topology.hosts if cluster is None else cluster.hosts
        if len(names) > MOST_HOSTS:
            raise InputError(f"{self.name}: {len(names)} hosts, at most {MOST_HOSTS} are placed on")
        hosts = topology.indices(names)
        src, dst = np.broadcast_arrays(hosts[:, None], hosts[None, :])
        hops = topology.known_hops()(src, dst)
        is_unknown = np.isnan(hops)
        farthest = float(hops[~is_unknown].max(initial=0.0))
        hops = np.where(is_unknown, max(farthest, 1.0), hops)
        least = known_reducer(topology.routes, topology.links.capacity_Bps, Reduction.min)(src, dst)
        least_Bps = np.where(np.isfinite(least) & ~is_unknown, least, np.nan)
        network = cost_network(names, "hops", hops, hops, least_Bps)
        at = topology.coordinates
        return dataclasses.replace(
            network,
            coordinates=None if at is None else at[hosts],
            origin={"file": self.name, **topology.origin},
        )
