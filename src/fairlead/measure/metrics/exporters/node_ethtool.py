# SPDX-License-Identifier: Apache-2.0
"""node_exporter --collector.ethtool: what drivers count, of AWS and of lossless Ethernet."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Metric, both_ways
from fairlead.measure.metrics.series import Quantity

NUM_PRIORITIES = 8
"""Priorities of Ethernet. Source: IEEE 802.1Q."""

MICROSECOND_S = 1e-6

_KERNELS = ("node_network_receive_bytes_total", "node_network_transmit_bytes_total")

ENA = Exporter(
    "node_exporter, ethtool: AWS ENA",
    "Linux, Documentation/networking/device_drivers/ethernet/amazon/ena.rst",
    "",
    "share of packets that were held back or dropped beyond the allowance of the instance",
    both_ways(
        "node_ethtool_bw_in_allowance_exceeded",
        "node_ethtool_bw_out_allowance_exceeded",
        Quantity.shaped_packets,
    ),
)

PHYSICAL_PORT = Exporter(
    "node_exporter, ethtool: mlx5 and ice",
    "Linux, Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
    "bytes of the physical port, RDMA among them (rx_bytes_phy, rx_bytes.nic)",
    "time for which priority flow control stopped the port (rx_prioN_pause_duration), or for which "
    "the port stopped the switch (tx_prioN_pause_duration)",
    {
        **{
            name: Metric(Quantity.carried_bytes, is_into, replaces=_KERNELS)
            for ending in ("phy", "nic")
            for name, is_into in (
                (f"node_ethtool_received_bytes_{ending}", True),
                (f"node_ethtool_transmitted_bytes_{ending}", False),
            )
        },
        **{
            f"node_ethtool_{way}_{lane}_pause_duration": Metric(
                # A pause that is received stops what the port sends.
                *(Quantity.stalled_s, way == "transmitted", MICROSECOND_S),
                part=lane,
                is_of_cable=True,
            )
            for way in ("received", "transmitted")
            for lane in (*(f"prio{priority}" for priority in range(NUM_PRIORITIES)), "global")
        },
    },
)
