# SPDX-License-Identifier: Apache-2.0
"""What the metrics of known exporters for Prometheus tell of links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.infiniband import port as infiniband_port

__all__ = ["FACTS", "METRICS", "TICK_S", "Labels", "Metric"]

Labels = Mapping[str, str]

OCTETS = 4.0
"""InfiniBand counts data in words of four octets. Source: IBTA, PortXmitData."""

TICK_S = 4e-9
"""Tick of PortXmitWait, which the standard leaves to the hardware. Assumed where `?tick=` is not
given: shares of stalled time then compare with one another only."""


class Metric(NamedTuple):
    """What a metric of an exporter tells.

    Attributes:
        quantity: Quantity of the link.
        is_into: Whether of the link into the port.
        factor: To the quantity's unit.
        bits: Bits of the counter.
        port_of: Labels of a port, or None for the devices of a host.
        is_adapter: Whether of an adapter of InfiniBand, of the devices of a host.
    """

    quantity: Quantity
    is_into: bool
    factor: float = 1.0
    bits: int = 64
    port_of: Callable[[Labels], str] | None = None
    is_adapter: bool = False


def _cable(labels: Labels) -> str:
    return infiniband_port(labels["local_guid"], labels["local_port"])


def _switch_port(labels: Labels) -> str:
    return infiniband_port(labels["guid"], labels["port"])


def _both_ways(receive: str, transmit: str, quantity: Quantity, *rest: Any) -> dict[str, Metric]:
    return {receive: Metric(quantity, True, *rest), transmit: Metric(quantity, False, *rest)}


METRICS: dict[str, Metric] = {
    # node_exporter
    **_both_ways(
        "node_network_receive_bytes_total",
        "node_network_transmit_bytes_total",
        Quantity.carried_bytes,
    ),
    **_both_ways(
        "node_network_receive_packets_total",
        "node_network_transmit_packets_total",
        Quantity.packets,
    ),
    # node_exporter --collector.ethtool on AWS: packets held back or dropped beyond the allowance
    **_both_ways(
        "node_ethtool_bw_in_allowance_exceeded",
        "node_ethtool_bw_out_allowance_exceeded",
        Quantity.shaped_packets,
    ),
    "node_network_speed_bytes": Metric(Quantity.capacity_Bps, True),
    # node_exporter's own collector for InfiniBand: octets, by device and port of the host
    **_both_ways(
        "node_infiniband_port_data_received_bytes_total",
        "node_infiniband_port_data_transmitted_bytes_total",
        Quantity.carried_bytes, 1.0, 64, None, True,
    ),
    "node_infiniband_port_transmit_wait_total": Metric(
        Quantity.stalled_s, False, TICK_S, 32, None, True
    ),
    "node_infiniband_rate_bytes_per_second": Metric(
        Quantity.capacity_Bps, True, is_adapter=True
    ),
    # infiniband-exporter by guilbaults: a series for each cable, with both ends
    **_both_ways(
        "infiniband_portrcvdata_total",
        "infiniband_portxmitdata_total",
        Quantity.carried_bytes, OCTETS, 64, _cable,
    ),
    "infiniband_portxmitwait_total": Metric(Quantity.stalled_s, False, TICK_S, 32, _cable),
    # infiniband_exporter by treydock: switches and adapters
    **_both_ways(
        "infiniband_switch_port_receive_data_bytes_total",
        "infiniband_switch_port_transmit_data_bytes_total",
        Quantity.carried_bytes, 1.0, 64, _switch_port,
    ),
    **_both_ways(
        "infiniband_hca_port_receive_data_bytes_total",
        "infiniband_hca_port_transmit_data_bytes_total",
        Quantity.carried_bytes, 1.0, 64, _switch_port,
    ),
    "infiniband_switch_port_transmit_wait_total": Metric(
        Quantity.stalled_s, False, TICK_S, 32, _switch_port
    ),
}  # fmt: skip
"""Known metrics by name."""

FACTS = (
    *("node_network_info", "node_network_iface_id", "node_network_iface_link"),
    *("node_network_protocol_type", "node_network_flags", "node_network_name_assign_type"),
    *("node_bonding_slaves", "node_ethtool_info", "node_infiniband_state_id", "node_uname_info"),
)
"""What node_exporter tells of devices and hosts, which changes seldom."""
