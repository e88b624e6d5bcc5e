# SPDX-License-Identifier: Apache-2.0
"""A network that is measured now over TCP, without MPI."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from fairlead.act.launch.remote_command import remote_command
from fairlead.measure.network_sources.source import MeasuredSource
from fairlead.measure.reachable import reachable_part
from fairlead.measure.tcp import hosts_by_agent, measure_pairs, usual_sample
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

__all__ = ["TcpSource"]

_START_S = 30.0


class TcpSource(MeasuredSource):
    """`tcp:` measures pairs over TCP, as `fairlead order` does."""

    form = "tcp:"

    def measure(self, cluster: Cluster, unreachable: Mapping[str, str] | None = None) -> Network:
        """The current network; hosts that do not answer are in `unreachable`."""
        how, reasons = self.measuring, dict(unreachable or {})
        asked = reachable_part(cluster, reasons, how.skip_unreachable)
        how.narrator.report(f"network: measuring {asked.num_hosts} hosts over TCP")
        with hosts_by_agent(asked.hosts, remote_command()) as probes:
            reasons |= probes.greet(_START_S)
            reachable_part(cluster, reasons, how.skip_unreachable)
            with how.narrator.progress("measuring") as on_progress:
                network = measure_pairs(
                    probes,
                    hosts=cluster.hosts,
                    sample=usual_sample(probes, 0),
                    on_progress=on_progress,
                )
        return dataclasses.replace(network, unreachable=reasons)
