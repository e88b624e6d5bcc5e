# SPDX-License-Identifier: Apache-2.0
"""Anything that speaks Prometheus' HTTP API: raw samples of the exporters known by name."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fairlead.measure.metrics.http import fetch_json, require_http
from fairlead.measure.metrics.prometheus_machines import Machine, Samples, better, machines
from fairlead.measure.metrics.prometheus_metrics import FACTS, METRICS, TICK_S, Labels, Metric
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series
from fairlead.measure.topologies.infiniband_hosts import adapter_names
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["METRICS", "TICK_S", "PrometheusSource"]

FACTS_S = 300.0
"""So often it is asked what devices are: that changes seldom, and is many series."""


class PrometheusSource(MetricSource):
    """Prometheus, VictoriaMetrics, Thanos, and the clouds' services that answer as they do.

    It asks for raw samples and for no `rate`: engines compute rates in different ways.
    """

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
                `instance` without its port, or what the machine calls itself.
            step_s: Ask `query_range` with this step, where an engine has no raw samples.
            selector: Further matchers, `job="node"`.
            tick_s: Tick of InfiniBand's PortXmitWait.
            devices: Patterns of the devices that are counted; none: the physical ports.
            timeout_s: For an answer.

        Raises:
            MetricError: The URL is none.
        """
        self.name = f"prometheus:{url}"
        self._url = require_http(url)
        self._headers = dict(headers or {})
        self._host_labels = (host_label,) if host_label else ("host", "node", "nodename")
        self._step_s = step_s
        self._selector = selector
        self._tick_s = tick_s
        self._devices = tuple(devices)
        self._timeout_s = timeout_s
        self._facts: list[tuple[Labels, Samples]] = []
        self._facts_s = -math.inf

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """All samples of the window."""
        names = f'__name__=~"{"|".join(METRICS)}"'
        selector = "{" + ",".join(filter(None, (names, self._selector))) + "}"
        if self._step_s is None:
            path, form = "query", {
                "query": f"{selector}[{window_s:.0f}s]", "time": f"{now_s:.3f}"
            }  # fmt: skip
        else:
            path = "query_range"
            form = {
                "query": selector,
                "start": f"{now_s - window_s:.3f}",
                "end": f"{now_s:.3f}",
                "step": f"{self._step_s:g}",
            }
        results = _matrix(self.name, self._fetch(path, form))
        self._learn_facts(now_s)
        return self._series(results)

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return fetch_json(
            f"{self._url}/api/v1/{path}",
            headers=self._headers,
            form=form,
            timeout_s=self._timeout_s,
        )

    def _learn_facts(self, now_s: float) -> None:
        """Ask what devices are, now and then; what was known stays where there is no answer."""
        if time.monotonic() < self._facts_s + FACTS_S:
            return
        names = f'__name__=~"{"|".join(FACTS)}"'
        selector = "{" + ",".join(filter(None, (names, self._selector))) + "}"
        with contextlib.suppress(MetricError):
            answer = self._fetch("query", {"query": selector, "time": f"{now_s:.3f}"})
            self._facts = _matrix(self.name, answer, is_instant=True)
        self._facts_s = time.monotonic()

    def _series(self, results: Sequence[tuple[Labels, Samples]]) -> list[Series]:
        of_ports: dict[tuple[str, str], Samples] = {}
        of_devices: list[tuple[Labels, Samples]] = []
        for labels, samples in results:
            name = labels.get("__name__", "")
            metric = METRICS.get(name)
            if metric is None:
                continue
            if metric.port_of is None:
                of_devices.append((labels, samples))
                continue
            try:
                key = metric.port_of(labels), name
            except (KeyError, ValueError) as error:
                raise MetricError(
                    f"{self.name}: {name}: its labels name no port: {error}"
                ) from error
            of_ports[key] = better(of_ports.get(key), samples)
        facts = [each for each in (*results, *self._facts) if each[0].get("__name__") in FACTS]
        found = [_one(port, self._metric(name), of_ports[port, name]) for port, name in of_ports]
        for machine in machines(of_devices, facts, self._host_labels):
            found += self._of_machine(machine)
        return found

    def _metric(self, name: str) -> Metric:
        metric = METRICS[name]
        is_wait = metric.quantity is Quantity.stalled_s
        return metric._replace(factor=self._tick_s) if is_wait else metric

    def _of_machine(self, machine: Machine) -> Iterator[Series]:
        """Series of the host's interface, a device each; adapters also by names of their own."""
        host = machine.names[0]
        num_adapters = len({port.partition(":")[0] for port in machine.adapters})
        for device, name, samples, is_adapter in machine.counted(self._devices):
            metric = self._metric(name)
            is_capacity = metric.quantity is Quantity.capacity_Bps
            for is_into in (True, False) if is_capacity else (metric.is_into,):
                series = dataclasses.replace(
                    _one(host_port(host), metric._replace(is_into=is_into), samples),
                    host_names=machine.names,
                    device=device,
                )
                yield series
                if is_adapter and not is_capacity:
                    names = adapter_names(host, device, num_adapters)
                    yield dataclasses.replace(series, port=names[0], or_ports=names[1:], device="")


def _matrix(name: str, answer: Any, *, is_instant: bool = False) -> list[tuple[Labels, Samples]]:
    """Labels and samples of each series, or the one newest sample of an instant answer.

    Raises:
        MetricError: The answer is an error, or no matrix.
    """
    if not isinstance(answer, dict) or answer.get("status") != "success":
        reason = answer.get("error", "no status") if isinstance(answer, dict) else "no object"
        raise MetricError(f"{name}: {' '.join(str(reason).split())[:300]}")
    try:
        data = answer["data"]
        if data["resultType"] != "matrix" and not (is_instant and data["resultType"] == "vector"):
            raise MetricError(f"{name}: expected samples, got a {data['resultType']}")
        return [
            (
                result["metric"],
                (
                    np.array([float(at) for at, _ in _pairs(result)]),
                    np.array([float(value) for _, value in _pairs(result)]),
                ),
            )
            for result in data["result"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MetricError(f"{name}: is not the answer of Prometheus: {error!r}") from error


def _pairs(result: Mapping[str, Any]) -> list[list[Any]]:
    pairs: list[list[Any]] = result["values"] if "values" in result else [result["value"]]
    return pairs


def _one(at: str, metric: Metric, samples: Samples) -> Series:
    times_s, values = samples
    # Stale markers come as nan, and no counter is infinite.
    values = np.where(np.isfinite(values), values * metric.factor, np.nan)
    largest = 2.0**metric.bits * metric.factor
    return Series(at, metric.is_into, metric.quantity, times_s, values, largest)
