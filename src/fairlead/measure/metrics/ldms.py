# SPDX-License-Identifier: Apache-2.0
"""What sets of LDMS hold of links: Gemini's directions, interfaces of hosts, InfiniBand's ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fairlead.measure.metrics.ldms_infiniband import adapter_series as infiniband_series
from fairlead.measure.metrics.ldms_infiniband import fabric_series
from fairlead.measure.metrics.ldms_text import MetricSet, Value, parse
from fairlead.measure.metrics.physical_ports import Device, physical_ports
from fairlead.measure.metrics.series import Quantity, Series
from fairlead.measure.metrics.slingshot import COUNTERS, adapter_series
from fairlead.measure.topologies.gemini import DIRECTIONS
from fairlead.measure.topologies.gemini_nodes import Position
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.model.topology import port_name

__all__ = ["MetricSet", "parse", "series_of"]

PERCENT = {"%": 1e-2, "% x1e6": 1e-8, "%_x1e6": 1e-8}
"""Shares by their unit: LDMS keeps whole numbers, so that its sampler multiplies by a million.

Source: LDMS, sampler cray_gemini_r_sampler; ORACLE shows the same metrics in plain percent.
"""

OF_DIRECTION = (
    ("traffic", Quantity.carried_bytes, True),
    ("credit_stall", Quantity.stalled_s, False),
    ("SAMPLE_GEMINI_LINK_USED_BW", Quantity.used_ratio, True),
    ("SAMPLE_GEMINI_LINK_CREDIT_STALL", Quantity.stalled_ratio, False),
)
"""A Gemini's counters of each direction, and whether they describe the link that comes in there.

Bytes do: they are counted where they arrive (ORACLE section III-B). Credit stalls are time in which
the output queue could not send (section III-A), so they describe the link that goes out.
"""


def series_of(sets: list[MetricSet]) -> list[Series]:
    """What sets hold of links: Gemini's directions, interfaces of hosts, InfiniBand's ports."""
    found: dict[tuple[object, ...], Series] = {}
    adapters = [series for metrics in sets for series in _of_slingshot(metrics)]
    adapters += infiniband_series(sets)
    # Messages take them; Ethernet has no counters of their cables, or counts the same without RDMA.
    with_adapters = {name for series in adapters if series.device for name in series.host_names}
    others = (
        series
        for metrics in sets
        for series in (
            *_of_gemini(metrics),
            *(() if metrics.host in with_adapters else _of_interfaces(metrics)),
            *fabric_series(metrics),
        )
    )
    for series in (*others, *adapters):
        # Both nodes of a Gemini report its counters, several samplers a device's: the newest.
        key = (*series.key, series.device)
        other = found.get(key)
        if other is None or other.times_s[-1] < series.times_s[-1]:
            found[key] = series
    return list(found.values())


def _of_gemini(metrics: MetricSet) -> Iterator[Series]:
    """Counters and shares of the six directions of the Gemini that a node is on."""
    at = [metrics.values.get(f"nettopo_mesh_coord_{axis}") for axis in "XYZ"]
    if not all(isinstance(coordinate, int | float) for coordinate in at):
        return
    position = Position(*(int(float(coordinate)) for coordinate in at if coordinate is not None))
    for direction in DIRECTIONS:
        for suffix, quantity, is_into in OF_DIRECTION:
            name = f"{direction}_{suffix}"
            value = metrics.values.get(name)
            if not isinstance(value, int | float):
                continue
            factor = 1.0
            if quantity is Quantity.stalled_s:
                factor = 1e-9
            elif not quantity.is_counter:
                factor = PERCENT.get(metrics.units.get(name, "% x1e6"), float("nan"))
            yield _series(
                (port_name(position, direction), is_into), quantity, metrics, value * factor, factor
            )


def _of_interfaces(metrics: MetricSet) -> Iterator[Series]:
    """Bytes of the physical ports of a host, a series for each device and direction."""
    rows = _rows_of_devices(metrics)
    ports = physical_ports(Device(name) for name in rows)
    for name in sorted(ports):
        for way, is_into in (("rx_bytes", True), ("tx_bytes", False)):
            value = rows[name].get(way)
            if isinstance(value, int | float):
                yield _series(
                    (host_port(metrics.host), is_into), Quantity.carried_bytes, metrics, value, 1.0,
                    device=name, host_names=(metrics.host,),
                )  # fmt: skip


def _of_slingshot(metrics: MetricSet) -> Iterator[Series]:
    """Adapters of a host, by the samplers slingshot_metrics and cxi_sampler."""
    rows = [row for row in metrics.records if any(name in COUNTERS for name in row)]
    for row in rows:
        device = row.get("name", row.get("iface_name", ""))
        values = {
            name: float(value) for name, value in row.items() if isinstance(value, int | float)
        }
        yield from adapter_series(
            metrics.host, str(device), values, metrics.time_s, num_adapters=len(rows)
        )


def _rows_of_devices(metrics: MetricSet) -> dict[str, Mapping[str, Value]]:
    """Counters by device: rows of a list, the set of one device, or metrics `rx_bytes#eth0`."""
    rows = {str(row.get("name")): row for row in metrics.records if "rx_bytes" in row}
    device = metrics.values.get("device")
    if not rows and isinstance(device, str):
        return {device: metrics.values}
    for metric, value in () if rows else metrics.values.items():
        way, hash_sign, name = metric.partition("#")
        if hash_sign and way in ("rx_bytes", "tx_bytes"):
            rows.setdefault(name, {})
            rows[name] = {**rows[name], way: value}
    return rows


def _series(
    end: tuple[str, bool],
    quantity: Quantity,
    metrics: MetricSet,
    value: float,
    factor: float,
    *,
    device: str = "",
    host_names: tuple[str, ...] = (),
) -> Series:
    """One sample; `end` is a port and whether its link comes in."""
    return Series(
        *end, quantity, np.array([metrics.time_s]), np.array([float(value)]), 2.0**64 * factor,
        device=device, host_names=host_names,
    )  # fmt: skip
