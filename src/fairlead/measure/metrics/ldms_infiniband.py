# SPDX-License-Identifier: Apache-2.0
"""Ports of InfiniBand and Omni-Path in sets of LDMS: adapters of hosts, and ports of switches.

Sources: LDMS' samplers ibmad_sampler, ibmad_records_sampler, sysclassib, opa2 and ibnet; words of
four octets and ticks of PortXmitWait by the IBTA, as libibmad's names have them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fairlead.measure.metrics.exporters.exporter import OCTETS, TICK_S
from fairlead.measure.metrics.ldms_text import MetricSet, Value
from fairlead.measure.metrics.series import Quantity, Series
from fairlead.measure.topologies.infiniband import port as infiniband_port
from fairlead.measure.topologies.infiniband_hosts import adapter_names
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["adapter_series", "fabric_series"]


class _Counter(NamedTuple):
    is_into: bool
    quantity: Quantity
    factor: float
    bits: int = 64


_COUNTERS = {
    **dict.fromkeys(
        ("port_rcv_data", "PortRcvData"), _Counter(True, Quantity.carried_bytes, OCTETS)
    ),
    **dict.fromkeys(
        ("port_xmit_data", "PortXmitData"), _Counter(False, Quantity.carried_bytes, OCTETS)
    ),
    **dict.fromkeys(
        ("port_xmit_wait", "PortXmitWait"), _Counter(False, Quantity.stalled_s, TICK_S, 32)
    ),
}
"""By metric; samplers that read files spell it as the kernel does, the others as libibmad."""

_SYSCLASSIB = re.compile(r"ib\.(\w+)#(.+)\.(\d+)", re.A)
_GUID = re.compile(r"(?:0x|GUID_)?([0-9a-fA-F]{16})", re.A)


def adapter_series(sets: Sequence[MetricSet]) -> Iterator[Series]:
    """Ports of the adapters of hosts, as parts of their interfaces and by names of their own.

    Sets without these metrics give nothing. Of several samplers of a port the newest set counts.
    A port that has never carried anything is no part of the interface: sysclassib also lists ports
    of Ethernet (RoCE), which count what RDMA carries alone.
    """
    newest: dict[str, dict[str, tuple[float, Mapping[str, Value]]]] = {}
    for metrics in sorted(sets, key=lambda metrics: metrics.time_s):
        for name, values in _adapter_ports(metrics):
            newest.setdefault(metrics.host, {})[name] = metrics.time_s, values
    for host, ports in newest.items():
        num_adapters = len({name.partition(":")[0] for name in ports})
        num_used = sum(_is_used(values) for _, values in ports.values())
        for name, (time_s, values) in ports.items():
            names = adapter_names(host, name, num_adapters)
            for series in _port_series(names[0], values, time_s):
                yield dataclasses.replace(
                    series, host_names=(host,), or_ports=names[1:], adapter=name
                )
                if not _is_used(values):
                    continue
                # The ports of a host are added up, so each stalls for its part of the time.
                share = num_used if series.quantity is Quantity.stalled_s else 1
                yield dataclasses.replace(
                    series,
                    port=host_port(host),
                    values=series.values / share,
                    largest=series.largest / share,
                    device=name,
                    host_names=(host,),
                    adapter=name,
                )


def fabric_series(metrics: MetricSet) -> Iterator[Series]:
    """A port that the sampler `ibnet` has asked over the fabric, of a switch or an adapter.

    Its set is called NODE/PORT/SCHEMA. A node that is named by its GUID is one of the topology;
    another is named by a map of the site's, which only a topology of the same names can match.
    """
    node, _, rest = metrics.instance.partition("/")
    number = metrics.values.get("port")
    if "remote" not in metrics.values or not rest or not isinstance(number, int | float):
        return
    guid = _GUID.fullmatch(node)
    name = infiniband_port(guid[1], int(number)) if guid else f"{node}:{int(number)}"
    yield from _port_series(name, metrics.values, metrics.time_s)


def _adapter_ports(metrics: MetricSet) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Each port `mlx5_0:1` with its values."""
    for values in (*metrics.records, metrics.values):
        adapter, number = values.get("ca_name"), values.get("port")
        if isinstance(adapter, str) and isinstance(number, int | float):
            yield f"{adapter}:{int(number)}", values
    by_port: dict[str, dict[str, Value]] = {}
    for name, value in metrics.values.items():
        match = _SYSCLASSIB.fullmatch(name)
        if match is not None:
            by_port.setdefault(f"{match[2]}:{match[3]}", {})[match[1]] = value
    yield from by_port.items()


def _is_used(values: Mapping[str, Value]) -> bool:
    return any(
        values.get(name, 0) != 0
        for name, counter in _COUNTERS.items()
        if counter.quantity is Quantity.carried_bytes
    )


def _port_series(port: str, values: Mapping[str, Value], time_s: float) -> Iterator[Series]:
    for name, (is_into, quantity, factor, bits) in _COUNTERS.items():
        value = values.get(name)
        if isinstance(value, int | float):
            times_s, sample = np.array([time_s]), np.array([value * factor])
            yield Series(port, is_into, quantity, times_s, sample, 2.0**bits * factor)
