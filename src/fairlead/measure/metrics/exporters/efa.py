# SPDX-License-Identifier: Apache-2.0
"""AWS's exporter for the Elastic Fabric Adapter, a fork of node_exporter.

`unresponsive_remote_events` and the like count connections, which is neither time nor a share of
packets: they are reported, and are no STALLS.
"""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Metric, both_ways
from fairlead.measure.metrics.series import Quantity

EFA = Exporter(
    "EFA node exporter (node_amazonefa_*)",
    "AWS, EC2 user guide, monitoring of an Elastic Fabric Adapter (hw_counters)",
    "bytes of the adapter's port",
    "share of packets sent that were sent again (retrans_pkts)",
    {
        **both_ways(
            "node_amazonefa_rx_bytes",
            "node_amazonefa_tx_bytes",
            Quantity.carried_bytes,
            is_adapter=True,
        ),
        **both_ways(
            "node_amazonefa_rx_pkts", "node_amazonefa_tx_pkts", Quantity.packets, is_adapter=True
        ),
        "node_amazonefa_retrans_pkts": Metric(Quantity.shaped_packets, False, is_adapter=True),
    },
    {
        "node_amazonefa_impaired_remote_conn_events": "connections that run at a reduced rate",
        "node_amazonefa_unresponsive_remote_events": "peers that did not answer",
        "node_amazonefa_retrans_timeout_events": "timeouts that changed a path",
    },
)
