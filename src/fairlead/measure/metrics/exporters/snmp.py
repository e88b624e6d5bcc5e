# SPDX-License-Identifier: Apache-2.0
"""snmp_exporter's module if_mib: interfaces of switches, so the links between them, too."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Labels, Metric, both_ways
from fairlead.measure.metrics.host_of_instance import host_of_instance
from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.interface_port import interface_port

MEGABIT_BYTES = 1e6 / 8


def _interface(labels: Labels) -> str:
    """The target is the switch; interfaces have their short names as LLDP reports them."""
    name = labels.get("ifName") or labels.get("ifDescr")
    if not name:
        raise KeyError("ifName")
    return interface_port(host_of_instance(labels["instance"]), name)


SNMP = Exporter(
    "snmp_exporter, if_mib",
    "RFC 2863, The Interfaces Group MIB",
    "octets of every interface of a switch (ifHCInOctets, ifHCOutOctets)",
    "share of packets that a switch discarded instead of sending them (ifOutDiscards)",
    {
        **both_ways("ifHCInOctets", "ifHCOutOctets", Quantity.carried_bytes, port_of=_interface),
        **both_ways("ifHCInUcastPkts", "ifHCOutUcastPkts", Quantity.packets, port_of=_interface),
        "ifOutDiscards": Metric(Quantity.shaped_packets, False, bits=32, port_of=_interface),
        "ifHighSpeed": Metric(Quantity.capacity_Bps, True, MEGABIT_BYTES, port_of=_interface),
    },
)
