# SPDX-License-Identifier: Apache-2.0
"""node_exporter's collectors that are on by default: interfaces of a host."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Metric, both_ways
from fairlead.measure.metrics.series import Quantity

NODE_NETWORK = Exporter(
    "node_exporter, netdev and netclass",
    "Linux, Documentation/networking/statistics.rst",
    "bytes of the kernel's interfaces: without RDMA, which passes the kernel by",
    "",
    {
        **both_ways(
            "node_network_receive_bytes_total",
            "node_network_transmit_bytes_total",
            Quantity.carried_bytes,
        ),
        **both_ways(
            "node_network_receive_packets_total",
            "node_network_transmit_packets_total",
            Quantity.packets,
        ),
        "node_network_speed_bytes": Metric(Quantity.capacity_Bps, True),
    },
)
