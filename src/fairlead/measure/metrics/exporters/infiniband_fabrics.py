# SPDX-License-Identifier: Apache-2.0
"""Exporters that ask the switches of an InfiniBand fabric, each cable by its ports."""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import OCTETS, Exporter, Labels, Metric, both_ways
from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.infiniband import port as infiniband_port


def _cable(labels: Labels) -> str:
    return infiniband_port(labels["local_guid"], labels["local_port"])


def _switch_port(labels: Labels) -> str:
    return infiniband_port(labels["guid"], labels["port"])


def _node_port(labels: Labels) -> str:
    return infiniband_port(labels["node_guid"], labels["port_num"])


GUILBAULTS = Exporter(
    "infiniband-exporter by guilbaults",
    "IBTA, PortCounters",
    "words of four octets of every cable",
    "ticks in which a port had data and could not send (PortXmitWait)",
    {
        **both_ways(
            "infiniband_portrcvdata_total",
            "infiniband_portxmitdata_total",
            Quantity.carried_bytes,
            factor=OCTETS,
            port_of=_cable,
        ),
        "infiniband_portxmitwait_total": Metric(
            Quantity.stalled_s, False, bits=32, port_of=_cable, in_ticks=True
        ),
    },
)

TREYDOCK = Exporter(
    "infiniband_exporter by treydock",
    "IBTA, PortCounters",
    "bytes of switches and adapters",
    "ticks in which a switch's port had data and could not send (PortXmitWait)",
    {
        **both_ways(
            "infiniband_switch_port_receive_data_bytes_total",
            "infiniband_switch_port_transmit_data_bytes_total",
            Quantity.carried_bytes,
            port_of=_switch_port,
        ),
        **both_ways(
            "infiniband_hca_port_receive_data_bytes_total",
            "infiniband_hca_port_transmit_data_bytes_total",
            Quantity.carried_bytes,
            port_of=_switch_port,
        ),
        "infiniband_switch_port_transmit_wait_total": Metric(
            Quantity.stalled_s, False, bits=32, port_of=_switch_port, in_ticks=True
        ),
    },
)

UFM = Exporter(
    "NVIDIA UFM Telemetry",
    "NVIDIA, UFM Telemetry, Prometheus endpoint support; IBTA, PortCountersExtended",
    "words of four octets of every port",
    "ticks in which a port had data and could not send (PortXmitWait)",
    {
        **both_ways(
            "PortRcvDataExtended",
            "PortXmitDataExtended",
            Quantity.carried_bytes,
            factor=OCTETS,
            port_of=_node_port,
        ),
        "PortXmitWaitExtended": Metric(
            Quantity.stalled_s, False, port_of=_node_port, in_ticks=True
        ),
    },
)
