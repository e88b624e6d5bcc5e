# SPDX-License-Identifier: Apache-2.0
"""From the labels of an exporter to machines, and which of their devices are counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics.exporters import METRICS, Labels
from fairlead.measure.metrics.host_of_instance import host_of_instance
from fairlead.measure.metrics.physical_ports import Device, is_chosen, physical_ports

__all__ = [
    "Machine",
    "Samples",
    "as_exported",
    "better",
    "differing_labels",
    "growth",
    "host_names",
    "machines",
]

Samples = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]

ACTIVE = 4
"""State of a port of InfiniBand that carries data, as does the next, ACTIVE_DEFER.

Source: IBTA, PortState; Linux, enum ib_port_state.
"""

HOST_LABELS = ("host", "node", "nodename")
"""Labels that may name a host, where the user names none."""

NO_INSTANCE = "(no instance)"

ENDED_INTERVALS = 5
"""A replica that is as many of its intervals behind another has ended."""

_MOVED = (
    *("node_network_receive_bytes_total", "node_network_transmit_bytes_total"),
    *("node_infiniband_port_data_received_bytes_total",),
    *("node_infiniband_port_data_transmitted_bytes_total",),
    *("node_amazonefa_rx_bytes", "node_amazonefa_tx_bytes"),
    *("node_cxi_hni_sts_rx_ok_octets", "node_cxi_hni_sts_tx_ok_octets"),
)


@dataclasses.dataclass
class Machine:
    """A host as its exporter describes it.

    Attributes:
        names: What it may be called, the likeliest first.
        devices: Samples by device and metric, of network devices.
        adapters: The same of ports of adapters for RDMA, `mlx5_0:1`.
        facts: Labels and newest value by device and metric.
        bonds: Devices that are bonds.
    """

    names: tuple[str, ...]
    devices: dict[str, dict[str, Samples]] = dataclasses.field(default_factory=dict)
    adapters: dict[str, dict[str, Samples]] = dataclasses.field(default_factory=dict)
    facts: dict[str, dict[str, tuple[Labels, float]]] = dataclasses.field(default_factory=dict)
    bonds: set[str] = dataclasses.field(default_factory=set)

    def counters(self, patterns: Sequence[str]) -> Iterator[tuple[str, str, Samples, bool]]:
        """Device, metric and samples of what is counted, and whether it is of an adapter.

        Where adapters for RDMA are in use, messages take them, and figures of Ethernet would stand
        for a cable that they do not describe, but for pauses of lossless Ethernet.
        """
        chosen = {
            port
            for port in self._adapters_in_use()
            if not patterns or is_chosen(port.partition(":")[0], patterns)
        }
        for port in sorted(chosen):
            for metric, samples in _without_replaced(self.adapters[port]):
                yield port, metric, samples, True
        known = [self._device(name) for name in self.devices]
        for name in sorted(physical_ports(known, patterns)):
            for metric, samples in _without_replaced(self.devices[name]):
                if METRICS[metric].is_of_cable or patterns or not chosen:
                    yield name, metric, samples, False

    def adapters_without_link(self) -> list[str]:
        """Ports of adapters that are not up, as far as that is reported."""
        states = {port: self._fact(port, "node_infiniband_state_id")[1] for port in self.facts}
        return sorted(port for port, state in states.items() if state < ACTIVE)

    def _adapters_in_use(self) -> Iterator[str]:
        for port, metrics in self.adapters.items():
            _, state = self._fact(port, "node_infiniband_state_id")
            is_up = np.isnan(state) or state >= ACTIVE
            # Adapters for iWARP have these counters, which stay at 0.
            if is_up and any(_largest(metrics[name]) > 0 for name in _MOVED if name in metrics):
                yield port

    def _device(self, name: str) -> Device:
        info, _ = self._fact(name, "node_network_info")
        driver, _ = self._fact(name, "node_ethtool_info")
        return Device(
            name,
            has_hardware=bool(driver.get("bus_info")) if driver else None,
            address=info.get("address"),
            index=self._number(name, "node_network_iface_id"),
            lower_index=self._number(name, "node_network_iface_link"),
            link_type=self._number(name, "node_network_protocol_type"),
            flags=self._number(name, "node_network_flags"),
            name_assign_type=self._number(name, "node_network_name_assign_type"),
            driver=driver.get("driver"),
            is_bond=name in self.bonds,
            moved_bytes=sum(growth(self.devices[name].get(metric)) for metric in _MOVED),
        )

    def _fact(self, device: str, metric: str) -> tuple[Labels, float]:
        return self.facts.get(device, {}).get(metric, ({}, float("nan")))

    def _number(self, device: str, metric: str) -> int | None:
        value = self._fact(device, metric)[1]
        return None if np.isnan(value) else int(value)


def machines(
    results: Iterable[tuple[Labels, Samples]],
    facts: Iterable[tuple[Labels, Samples]],
    host_labels: Sequence[str],
) -> list[Machine]:
    """The hosts of an answer; of what several targets or replicas report of a device, one series.

    Args:
        results: Labels and samples of metrics of devices.
        facts: The same of what is known of devices.
        host_labels: Labels that may name the host.
    """
    facts = list(facts)
    named = _node_names(facts)
    found: dict[str, Machine] = {}

    def machine(labels: Labels) -> Machine:
        names = host_names(labels, host_labels, named)
        return found.setdefault(names[0], Machine(names))

    for labels, samples in facts:
        name, device = labels.get("__name__", ""), labels.get("device", "")
        if name == "node_bonding_slaves":
            machine(labels).bonds.add(labels.get("master", ""))
        if "port" in labels:
            device = f"{device}:{labels['port']}"
        if device and len(samples[1]):
            machine(labels).facts.setdefault(device, {})[name] = labels, float(samples[1][-1])
    for labels, samples in results:
        name, device = labels.get("__name__", ""), labels.get("device", "")
        at = machine(labels).devices
        if METRICS[name].is_adapter:
            at, device = machine(labels).adapters, f"{device}:{labels.get('port', '')}"
        of_device = at.setdefault(device, {})
        of_device[name] = better(of_device.get(name), samples)
    return list(found.values())


def host_names(
    labels: Labels, host_labels: Sequence[str], name_of_instance: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """What the host of a series may be called, the likeliest first."""
    instance = labels.get("instance", "")
    names = [labels[label] for label in host_labels if labels.get(label)]
    names += [host_of_instance(instance), (name_of_instance or {}).get(instance, "")]
    return tuple(dict.fromkeys(filter(None, names))) or (NO_INSTANCE,)


def as_exported(results: Sequence[tuple[Labels, Samples]]) -> list[tuple[Labels, Samples]]:
    """The same with the instances that were scraped.

    A Prometheus that takes its series from another one gives them its own instance, and calls
    theirs exported_instance. Source: Prometheus, configuration, honor_labels.
    """
    return [
        ({**labels, "instance": labels["exported_instance"]}, samples)
        if labels.get("exported_instance")
        else (labels, samples)
        for labels, samples in results
    ]


def differing_labels(results: Iterable[tuple[Labels, Samples]]) -> Sequence[str]:
    """Labels that may name a host; none that is the same for all of several instances."""
    results = list(results)
    if len({host_of_instance(labels.get("instance", "")) for labels, _ in results}) == 1:
        return HOST_LABELS
    return [label for label in HOST_LABELS if len({labels.get(label) for labels, _ in results}) > 1]


def better(one: Samples | None, other: Samples) -> Samples:
    """The replica of a series that has not ended, has more samples, or else newer ones."""
    if one is None:
        return other
    for ended, going in ((one, other), (other, one)):
        if _has_ended(ended, going):
            return going

    def rank(samples: Samples) -> tuple[int, float]:
        is_value = np.isfinite(samples[1])
        return int(is_value.sum()), float(samples[0][-1]) if len(samples[0]) else -np.inf

    return other if rank(other) > rank(one) else one


def _has_ended(one: Samples, other: Samples) -> bool:
    """Whether the other goes on, and this one does not."""
    own, others = (samples[0][np.isfinite(samples[1])] for samples in (one, other))
    if len(others) < 2:
        return False  # it has no rate yet
    if not len(own):
        return True
    interval_s = float(np.median(np.diff(own if len(own) > 1 else others)))
    return bool(others[-1] - own[-1] > ENDED_INTERVALS * interval_s)


def _node_names(facts: Iterable[tuple[Labels, Samples]]) -> Mapping[str, str]:
    """What machines call themselves, by instance."""
    return {
        labels.get("instance", ""): labels.get("nodename", "")
        for labels, _ in facts
        if labels.get("__name__") == "node_uname_info"
    }


def _without_replaced(metrics: Mapping[str, Samples]) -> Iterator[tuple[str, Samples]]:
    """What a device reports, without metrics of which it has a better one."""
    replaced = {name for metric in metrics for name in METRICS[metric].replaces}
    return ((name, samples) for name, samples in metrics.items() if name not in replaced)


def _largest(samples: Samples) -> float:
    values = samples[1][np.isfinite(samples[1])]
    return float(values.max(initial=0.0))


def growth(samples: Samples | None) -> float:
    """By how much a counter grew."""
    values = np.zeros(0) if samples is None else samples[1][np.isfinite(samples[1])]
    return max(0.0, float(values[-1] - values[0])) if len(values) else 0.0
