# SPDX-License-Identifier: Apache-2.0
"""Anything that speaks Prometheus' HTTP API: raw samples of the exporters known by name."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairlead.measure.metrics.exporters import (
    EVENTS,
    FACTS,
    METRICS,
    NAMES,
    TICK_S,
    Labels,
    Metric,
    known_name,
)
from fairlead.measure.metrics.prometheus_api import PrometheusApi, matrix, one_series, warnings_of
from fairlead.measure.metrics.prometheus_machines import (
    Machine,
    Samples,
    as_exported,
    better,
    differing_labels,
    growth,
    host_names,
    machines,
)
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series
from fairlead.measure.topologies.infiniband_hosts import adapter_names
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["METRICS", "TICK_S", "PrometheusSource"]

FACTS_S = 300.0
"""So often it is asked what devices are: that changes seldom, and is many series."""


class PrometheusSource(MetricSource):
    """Prometheus, VictoriaMetrics, Thanos, and the clouds' services that answer as they do."""

    has_history = True

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        host_label: str = "",
        step_s: float | None = None,
        selector: str = "",
        tick_s: float = TICK_S,
        devices: Sequence[str] = (),
        timeout_s: float = 10.0,
    ):
        """A source by its URL.

        Args:
            url: Up to what stands before `/api/v1`: http://HOST:9090, or with a prefix.
            headers: Sent along, a bearer token among them.
            host_label: Label that names the host; without it `host`, `node`, `nodename`,
                `instance` without its port, or what the machine calls itself. Of the first three
                one counts only where it differs between hosts.
            step_s: Ask `query_range` with this step, where an engine has no raw samples.
            selector: Further matchers, `job="node"`.
            tick_s: Tick of InfiniBand's PortXmitWait.
            devices: Patterns of the devices that are counted; none: the physical ports.
            timeout_s: For an answer.

        Raises:
            MetricError: The URL is none.
        """
        self.name = f"prometheus:{url}"
        self._api = PrometheusApi(url, dict(headers or {}), step_s, timeout_s)
        self._host_label = host_label
        self._selector = selector
        self._tick_s = tick_s
        self._devices = tuple(devices)
        self._facts: list[tuple[Labels, Samples]] = []
        self._facts_s = -math.inf

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """All samples of the window."""
        names = f'__name__=~"{NAMES}"'
        selector = "{" + ",".join(filter(None, (names, self._selector))) + "}"
        path, form = self._api.question(selector, now_s, window_s)
        answer = self._fetch(path, form)
        results = as_exported(matrix(self.name, answer))
        self.warnings = warnings_of(self.name, answer)
        self._learn_facts(now_s)
        return self._series(results)

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return self._api.fetch(path, form)

    def _learn_facts(self, now_s: float) -> None:
        """Ask what devices are, now and then; what was known stays where there is no answer."""
        if time.monotonic() < self._facts_s + FACTS_S:
            return
        names = f'__name__=~"{"|".join(FACTS)}"'
        selector = "{" + ",".join(filter(None, (names, self._selector))) + "}"
        with contextlib.suppress(MetricError):
            answer = self._fetch("query", {"query": selector, "time": f"{now_s:.3f}"})
            self._facts = as_exported(matrix(self.name, answer, is_instant=True))
        self._facts_s = time.monotonic()

    def _series(self, results: Sequence[tuple[Labels, Samples]]) -> list[Series]:
        self.warnings = list(dict.fromkeys([*self.warnings, *self._grown_events(results)]))
        of_ports: dict[tuple[str, str], Samples] = {}
        of_devices: list[tuple[Labels, Samples]] = []
        portless: dict[str, list[Exception]] = {}
        for labels, samples in results:
            name = known_name(labels.get("__name__", ""))
            if name is None:
                continue
            metric = METRICS[name]
            if metric.port_of is None:
                of_devices.append((labels, samples))
                continue
            try:
                key = metric.port_of(labels), name
            except (KeyError, ValueError) as error:
                portless.setdefault(name, []).append(error)
                continue
            of_ports[key] = better(of_ports.get(key), samples)
        self.skipped = [
            f"{self.name}: {name}: its labels name no port: {errors[0]}"
            + (f" (and {len(errors) - 1} more series)" if errors[1:] else "")
            for name, errors in portless.items()
        ]
        facts = [each for each in (*results, *self._facts) if each[0].get("__name__") in FACTS]
        found = [
            one_series(port, metric, samples)
            for (port, name), samples in of_ports.items()
            for metric in self._both_if_capacity(name)
        ]
        host_labels = (self._host_label,) if self._host_label else differing_labels(of_devices)
        known = machines(of_devices, facts, host_labels)
        for machine in known:
            found += self._of_machine(machine)
        if self.skipped and not found:
            raise MetricError(self.skipped[0])
        self.without_link = [
            f"{machine.names[0]} {port}"
            for machine in known
            for port in machine.adapters_without_link()
        ]
        return found

    def _grown_events(self, results: Sequence[tuple[Labels, Samples]]) -> Iterator[str]:
        """A line for each device and event that happened in the window."""
        events = [each for each in results if each[0].get("__name__") in EVENTS]
        host_labels = (self._host_label,) if self._host_label else differing_labels(events)
        for labels, samples in events:
            if growth(samples) > 0:
                name = labels["__name__"]
                host, *_ = host_names(labels, host_labels)
                device = labels.get("device", "")
                yield f"{self.name}: {host} {device}: {EVENTS[name]} ({name})"

    def _metric(self, name: str) -> Metric:
        metric = METRICS[name]
        return metric._replace(factor=self._tick_s) if metric.in_ticks else metric

    def _both_if_capacity(self, name: str) -> Sequence[Metric]:
        """A capacity is that of both links of a port."""
        metric = self._metric(name)
        if metric.quantity is not Quantity.capacity_Bps:
            return [metric]
        return [metric._replace(is_into=is_into) for is_into in (True, False)]

    def _of_machine(self, machine: Machine) -> Iterator[Series]:
        """Series of the host's interface, a device each; adapters also by names of their own."""
        host = machine.names[0]
        num_adapters = len({port.partition(":")[0] for port in machine.adapters})
        counted = list(machine.counters(self._devices))
        num_stalling = _num_stalling(counted)
        for device, name, samples, is_adapter in counted:
            is_capacity = METRICS[name].quantity is Quantity.capacity_Bps
            for metric in self._both_if_capacity(name):
                # Devices of a host are added up, so each stalls for its part of the time.
                share = num_stalling.get((metric.quantity, metric.is_into), 1)
                part = metric._replace(factor=metric.factor / share)
                yield dataclasses.replace(
                    one_series(host_port(host), part, samples),
                    host_names=machine.names,
                    device=f"{device} {metric.part}".rstrip(),
                    adapter=device if is_adapter else "",
                )
                if is_adapter and not is_capacity:
                    names = adapter_names(host, device, num_adapters)
                    yield dataclasses.replace(
                        one_series(names[0], metric, samples),
                        host_names=machine.names,
                        or_ports=names[1:],
                        adapter=device,
                    )


def _num_stalling(
    counted: Sequence[tuple[str, str, Samples, bool]],
) -> Mapping[tuple[Quantity, bool], int]:
    """How many devices of a host report for how long they stalled, by direction."""
    devices: dict[tuple[Quantity, bool], set[str]] = {}
    for device, name, _, _ in counted:
        metric = METRICS[name]
        if metric.quantity is Quantity.stalled_s:
            devices.setdefault((metric.quantity, metric.is_into), set()).add(device)
    return {key: len(some) for key, some in devices.items()}
