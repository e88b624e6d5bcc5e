# SPDX-License-Identifier: Apache-2.0
"""Interfaces of switches by gNMI, as gnmic writes OpenConfig's counters for Prometheus.

A metric is called by its path without keys, after a prefix and the name of the subscription where
gnmic is configured so, and after the name of the model where a switch sends it. The keys become
labels.
"""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Labels, Metric, both_ways
from fairlead.measure.metrics.host_of_instance import host_of_instance
from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.interface_port import interface_port

_COUNTERS = "interfaces_interface_state_counters"


def _interface(labels: Labels) -> str:
    """The target is the switch, by its name in gnmic's configuration or else its address."""
    name = labels.get("interface_name") or labels.get("name")
    if not name:
        raise KeyError("interface_name")
    return interface_port(host_of_instance(labels.get("source") or labels["instance"]), name)


GNMI = Exporter(
    "gnmic, OpenConfig interfaces",
    "gnmic, Prometheus output; OpenConfig, openconfig-interfaces.yang (state/counters)",
    "octets of every interface of a switch (in-octets, out-octets)",
    "share of packets that a switch discarded instead of sending them (out-discards)",
    {
        **both_ways(
            f"{_COUNTERS}_in_octets",
            f"{_COUNTERS}_out_octets",
            Quantity.carried_bytes,
            port_of=_interface,
            has_prefix=True,
        ),
        **both_ways(
            f"{_COUNTERS}_in_unicast_pkts",
            f"{_COUNTERS}_out_unicast_pkts",
            Quantity.packets,
            port_of=_interface,
            has_prefix=True,
        ),
        f"{_COUNTERS}_out_discards": Metric(
            Quantity.shaped_packets, False, port_of=_interface, has_prefix=True
        ),
    },
)
