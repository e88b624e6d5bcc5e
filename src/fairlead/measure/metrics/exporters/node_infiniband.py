# SPDX-License-Identifier: Apache-2.0
"""node_exporter --collector.infiniband: ports of adapters, of InfiniBand and of RoCE."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Metric, both_ways
from fairlead.measure.metrics.series import Quantity

NODE_INFINIBAND = Exporter(
    "node_exporter, infiniband",
    "Linux, Documentation/ABI/stable/sysfs-class-infiniband",
    "bytes of the adapter's port",
    "ticks in which the port had data and could not send (PortXmitWait)",
    {
        **both_ways(
            "node_infiniband_port_data_received_bytes_total",
            "node_infiniband_port_data_transmitted_bytes_total",
            Quantity.carried_bytes,
            is_adapter=True,
        ),
        "node_infiniband_port_transmit_wait_total": Metric(
            Quantity.stalled_s, False, bits=32, is_adapter=True, in_ticks=True
        ),
        "node_infiniband_rate_bytes_per_second": Metric(
            Quantity.capacity_Bps, True, is_adapter=True
        ),
    },
)

ROCE = Exporter(
    "node_exporter, infiniband: RoCE",
    "NVIDIA, Understanding mlx5 Linux Counters (hw_counters)",
    "bytes of the adapter's port",
    "share of packets that were marked for congestion (np_ecn_marked_roce_packets, or "
    "np_cnp_sent), and of packets sent for which a notification slowed the sender (rp_cnp_handled)",
    {
        **both_ways(
            "node_infiniband_port_packets_received_total",
            "node_infiniband_port_packets_transmitted_total",
            Quantity.packets,
            is_adapter=True,
        ),
        "node_infiniband_np_ecn_marked_roce_packets_received_total": Metric(
            Quantity.shaped_packets,
            True,
            is_adapter=True,
            replaces=("node_infiniband_np_cnp_packets_sent_total",),
        ),
        "node_infiniband_np_cnp_packets_sent_total": Metric(
            Quantity.shaped_packets, True, is_adapter=True
        ),
        "node_infiniband_rp_cnp_packets_handled_total": Metric(
            Quantity.shaped_packets, False, is_adapter=True
        ),
    },
)
