# SPDX-License-Identifier: Apache-2.0
"""All exporters whose metrics are known by name."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.cxi import CXI
from fairlead.measure.metrics.exporters.dcgm import DCGM
from fairlead.measure.metrics.exporters.efa import EFA
from fairlead.measure.metrics.exporters.exporter import Exporter, Metric
from fairlead.measure.metrics.exporters.infiniband_fabrics import GUILBAULTS, TREYDOCK, UFM
from fairlead.measure.metrics.exporters.node_ethtool import ENA, PHYSICAL_PORT
from fairlead.measure.metrics.exporters.node_infiniband import NODE_INFINIBAND, ROCE
from fairlead.measure.metrics.exporters.node_network import NODE_NETWORK
from fairlead.measure.metrics.exporters.snmp import SNMP

__all__ = ["EXPORTERS", "FACTS", "METRICS"]

EXPORTERS: tuple[Exporter, ...] = (
    NODE_NETWORK,
    ENA,
    PHYSICAL_PORT,
    NODE_INFINIBAND,
    ROCE,
    EFA,
    CXI,
    GUILBAULTS,
    TREYDOCK,
    UFM,
    SNMP,
    DCGM,
)
"""Each is a file or a part of one; a further one is a line here."""

METRICS: dict[str, Metric] = {
    name: metric for exporter in EXPORTERS for name, metric in exporter.metrics.items()
}
"""Known metrics by name."""

FACTS = (
    *("node_network_info", "node_network_iface_id", "node_network_iface_link"),
    *("node_network_protocol_type", "node_network_flags", "node_network_name_assign_type"),
    *("node_bonding_slaves", "node_ethtool_info", "node_infiniband_state_id", "node_uname_info"),
)
"""What node_exporter says of devices and hosts, which changes seldom."""
