# SPDX-License-Identifier: Apache-2.0
"""Slingshot's adapters by node_exporter's textfile collector, as `oracle setup` writes the file."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Metric
from fairlead.measure.metrics.slingshot import COUNTERS

CXI = Exporter(
    "node_exporter, textfile: Slingshot (node_cxi_*)",
    "Slingshot, Cassini performance counters",
    "octets of the adapter (hni_sts_rx_ok_octets, hni_sts_tx_ok_octets)",
    "cycles for which a path was paused, or the bus blocked",
    {
        f"node_cxi_{name}": Metric(
            counter.quantity, counter.is_into, counter.factor, is_adapter=True, part=name
        )
        for name, counter in COUNTERS.items()
    },
)
