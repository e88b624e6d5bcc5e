# SPDX-License-Identifier: Apache-2.0
"""Anything that speaks Prometheus' HTTP API: raw samples of the exporters known by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics.http import fetch_json, require_http
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series
from fairlead.measure.topologies.infiniband import port as infiniband_port
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["METRICS", "PrometheusSource"]

Labels = Mapping[str, str]
Samples = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]

NO_INTERFACE = re.compile(
    r"lo|docker.*|veth.*|br-.*|ifb.*|virbr.*|dummy.*|cali.*|flannel.*|tun.*|tap.*|cni.*", re.A
)
"""Devices whose packets leave no host, or pass a second device that is counted."""

OCTETS = 4.0
"""InfiniBand counts data in words of four octets. Source: IBTA, PortXmitData."""

TICK_S = 4e-9
"""Of PortXmitWait, whose tick the standard leaves to the hardware. Assumed where `?tick=` does not
say it: shares of stalled time then compare with one another only."""


class Metric(NamedTuple):
    """What a metric of an exporter tells.

    Attributes:
        quantity: Of the link.
        is_into: Whether of the link into the port.
        factor: To the quantity's unit.
        bits: Of the counter.
        port_of: Labels of a port, or None for the interfaces of a host, which are added up.
    """

    quantity: Quantity
    is_into: bool
    factor: float = 1.0
    bits: int = 64
    port_of: Callable[[Labels], str] | None = None


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
        timeout_s: float = 10.0,
    ):
        """A source by its URL.

        Args:
            url: Up to what stands before `/api/v1`: http://HOST:9090, or with a prefix.
            headers: Sent along, a bearer token among them.
            host_label: Label that names the host; without it `host`, `node`, `nodename`, or
                `instance` without its port.
            step_s: Ask `query_range` with this step, where an engine has no raw samples.
            selector: Further matchers, `job="node"`.
            tick_s: Of InfiniBand's PortXmitWait.
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
        self._timeout_s = timeout_s

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
        answer = fetch_json(
            f"{self._url}/api/v1/{path}",
            headers=self._headers,
            form=form,
            timeout_s=self._timeout_s,
        )
        return self._series(_matrix(self.name, answer))

    def _series(self, results: Iterable[tuple[Labels, Samples]]) -> list[Series]:
        found: list[Series] = []
        of_interfaces: dict[tuple[str, str], list[Samples]] = {}
        for labels, samples in results:
            name = labels.get("__name__", "")
            metric = METRICS.get(name)
            if metric is None:
                continue
            if metric.quantity is Quantity.stalled_s:
                metric = metric._replace(factor=self._tick_s)
            if metric.port_of is not None:
                try:
                    at = metric.port_of(labels)
                except (KeyError, ValueError) as error:
                    raise MetricError(
                        f"{self.name}: {name}: its labels name no port: {error}"
                    ) from error
                found.append(_one(at, metric, samples))
            elif not NO_INTERFACE.fullmatch(labels.get("device", "")):
                of_interfaces.setdefault((self._host(labels), name), []).append(samples)
        for (host, name), parts in of_interfaces.items():
            metric = METRICS[name]
            series = _one(host_port(host), metric, _sum(parts, metric.quantity.is_counter))
            found.append(series)
            if metric.quantity is Quantity.capacity_Bps:
                found.append(_one(host_port(host), metric._replace(is_into=False), _sum(parts)))
        return found

    def _host(self, labels: Labels) -> str:
        for label in self._host_labels:
            if labels.get(label):
                return labels[label]
        return labels.get("instance", "").rpartition(":")[0] or labels.get("instance", "")


def _matrix(name: str, answer: Any) -> list[tuple[Labels, Samples]]:
    """Labels and samples of each series.

    Raises:
        MetricError: The answer is an error, or no matrix.
    """
    if not isinstance(answer, dict) or answer.get("status") != "success":
        told = answer.get("error", "no status") if isinstance(answer, dict) else "no object"
        raise MetricError(f"{name}: {' '.join(str(told).split())[:300]}")
    try:
        data = answer["data"]
        if data["resultType"] != "matrix":
            raise MetricError(f"{name}: expected samples, got a {data['resultType']}")
        return [
            (
                result["metric"],
                (
                    np.array([float(at) for at, _ in result["values"]]),
                    np.array([float(value) for _, value in result["values"]]),
                ),
            )
            for result in data["result"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MetricError(f"{name}: is not the answer of Prometheus: {error!r}") from error


def _sum(parts: list[Samples], is_counter: bool = False) -> Samples:
    """Samples of several interfaces added up at the times that all have; shares of 0 left out."""
    told = parts if is_counter else [part for part in parts if np.any(part[1] > 0)]
    if not told:
        return np.zeros(0), np.zeros(0)
    times_s, values = told[0]
    for other_s, more in told[1:]:
        times_s, here, there = np.intersect1d(times_s, other_s, return_indices=True)
        values = values[here] + more[there]
    return times_s, values


def _one(at: str, metric: Metric, samples: Samples) -> Series:
    times_s, values = samples
    # Stale markers come as nan, and no counter is infinite.
    values = np.where(np.isfinite(values), values * metric.factor, np.nan)
    largest = 2.0**metric.bits * metric.factor
    return Series(at, metric.is_into, metric.quantity, times_s, values, largest)
