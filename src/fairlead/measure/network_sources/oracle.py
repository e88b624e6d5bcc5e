# SPDX-License-Identifier: Apache-2.0
"""A network as an oracle reports it now, along the routes that messages take."""

from __future__ import annotations

from fairlead.errors import InputError
from fairlead.measure.network_sources.source import NetworkSource
from fairlead.measure.oracle import oracle_network
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

PREFIX = "oracle:"


class OracleSource(NetworkSource):
    """`fairlead oracle serve`, asked for one metric."""

    form = f"{PREFIX}URL?metric=stalls"
    basis = "what the oracle reports"
    has_true_rates = False

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """By its begin."""
        return text is not None and text.startswith(PREFIX)

    def look_up(self, cluster: Cluster | None) -> Network:
        """The network as it is at this moment."""
        if cluster is None:
            raise InputError(f"{self.name}: which hosts are asked about is not said")
        return oracle_network(self.name.removeprefix(PREFIX), cluster.hosts)
