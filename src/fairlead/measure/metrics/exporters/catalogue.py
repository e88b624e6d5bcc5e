# SPDX-License-Identifier: Apache-2.0
"""All exporters whose metrics are known by name."""

from __future__ import annotations

import re

from fairlead.measure.metrics.exporters.cxi import CXI
from fairlead.measure.metrics.exporters.dcgm import DCGM
from fairlead.measure.metrics.exporters.efa import EFA
from fairlead.measure.metrics.exporters.exporter import Exporter, Metric
from fairlead.measure.metrics.exporters.gnmi import GNMI
from fairlead.measure.metrics.exporters.infiniband_fabrics import GUILBAULTS, TREYDOCK, UFM
from fairlead.measure.metrics.exporters.node_ethtool import ENA, PHYSICAL_PORT
from fairlead.measure.metrics.exporters.node_infiniband import NODE_INFINIBAND, ROCE
from fairlead.measure.metrics.exporters.node_network import NODE_NETWORK
from fairlead.measure.metrics.exporters.snmp import SNMP

__all__ = ["EVENTS", "EXPORTERS", "FACTS", "METRICS", "NAMES", "known_name"]

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
    GNMI,
    DCGM,
)
"""Each is a file or a part of one; a further one is a line here."""

METRICS: dict[str, Metric] = {
    name: metric for exporter in EXPORTERS for name, metric in exporter.metrics.items()
}
"""Known metrics by name."""

EVENTS: dict[str, str] = {
    name: what for exporter in EXPORTERS for name, what in exporter.events.items()
}
"""What is reported when it grows, by name."""

_PREFIXED = [name for name, metric in METRICS.items() if metric.has_prefix]
_ENDING = re.compile(f"(?:.+_)?({'|'.join(_PREFIXED)})")

NAMES = "|".join(f"(.+_)?{name}" if name in _PREFIXED else name for name in (*METRICS, *EVENTS))
"""Regular expression of all names, as Prometheus takes it."""

FACTS = (
    *("node_network_info", "node_network_iface_id", "node_network_iface_link"),
    *("node_network_protocol_type", "node_network_flags", "node_network_name_assign_type"),
    *("node_bonding_slaves", "node_ethtool_info", "node_infiniband_state_id", "node_uname_info"),
)
"""What node_exporter says of devices and hosts, which changes seldom."""


def known_name(name: str) -> str | None:
    """The known metric that a series of this name is; None: no exporter has it."""
    if name in METRICS:
        return name
    match = _ENDING.fullmatch(name)
    return None if match is None else match[1]
