# SPDX-License-Identifier: Apache-2.0
"""What is said of an exporter and of each of its metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairlead.measure.metrics.series import Quantity

__all__ = ["OCTETS", "TICK_S", "Exporter", "Labels", "Metric", "both_ways"]

Labels = Mapping[str, str]

OCTETS = 4.0
"""InfiniBand counts data in words of four octets. Source: IBTA, PortXmitData."""

TICK_S = 4e-9
"""Tick of PortXmitWait, which the standard leaves to the hardware. Assumed where `?tick=` is not
given: shares of stalled time then compare with one another only."""


class Metric(NamedTuple):
    """What a metric of an exporter says.

    Attributes:
        quantity: Quantity of the link.
        is_into: Whether of the link into the port.
        factor: To the quantity's unit.
        bits: Bits of the counter.
        port_of: Labels of a port, or None for the devices of a host.
        is_adapter: Whether of an adapter for RDMA, of the devices of a host.
        part: Which part of a device counts, where several metrics of it are added up.
        replaces: Metrics of the same device that count less of the same, and are left out.
        is_of_cable: Whether it counts even where messages take an adapter: it is the same cable.
        in_ticks: Whether it counts ticks, whose length `?tick=` says.
        has_prefix: Whether the exporter's user chooses what stands before the name, and `_`.
    """

    quantity: Quantity
    is_into: bool
    factor: float = 1.0
    bits: int = 64
    port_of: Callable[[Labels], str] | None = None
    is_adapter: bool = False
    part: str = ""
    replaces: tuple[str, ...] = ()
    is_of_cable: bool = False
    in_ticks: bool = False
    has_prefix: bool = False


class Exporter(NamedTuple):
    """An exporter, or the part of one that is of a kind of network.

    Attributes:
        name: What it is called.
        source: Where its metrics are documented.
        bandwidth: What BW rests on; empty: it has none.
        stalls: What STALLS rests on; empty: it has none.
        metrics: By name.
        events: Counters that are reported when they grow, and what they count: no quantity of a
            link, of devices of a host.
    """

    name: str
    source: str
    bandwidth: str
    stalls: str
    metrics: Mapping[str, Metric]
    events: Mapping[str, str] = {}


def both_ways(receive: str, transmit: str, quantity: Quantity, **further: Any) -> dict[str, Metric]:
    """Metrics of both directions that are alike but for that."""
    return {
        receive: Metric(quantity, True, **further),
        transmit: Metric(quantity, False, **further),
    }
