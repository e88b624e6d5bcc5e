# SPDX-License-Identifier: Apache-2.0
"""Questions to Prometheus' HTTP API: samples of a window, by all engines that answer as it does.

They ask for raw samples and for no `rate`: engines compute rates in different ways.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairlead.measure.metrics.exporters import Labels, Metric
from fairlead.measure.metrics.http import fetch_json, require_http
from fairlead.measure.metrics.prometheus_machines import Samples
from fairlead.measure.metrics.series import MetricError, Quantity, Series

__all__ = ["Matrix", "PrometheusApi", "matrix", "one_series", "warnings_of"]

Matrix = list[tuple[Labels, Samples]]

MOST_LETTERS = 300
"""Longest part of a reason or a warning that is shown."""

MOST_CAPACITY_BPS = 1e14
"""No port is as fast. Of an unknown speed kernels and switches say 2^32 - 1 Mbit/s: 5.4e14 B/s."""


@dataclasses.dataclass(frozen=True)
class PrometheusApi:
    """A server.

    Attributes:
        url: Up to what stands before `/api/v1`.
        headers: Sent along, a bearer token among them.
        step_s: Ask `query_range` with this step, where an engine has no raw samples.
        timeout_s: For an answer.
    """

    url: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    step_s: float | None = None
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", require_http(self.url))

    def fetch(self, path: str, form: Mapping[str, str]) -> Any:
        """The answer to a question.

        Raises:
            MetricError: There is none.
        """
        return fetch_json(
            f"{self.url}/api/v1/{path}",
            headers=self.headers,
            form=form,
            timeout_s=self.timeout_s,
        )

    def question(self, selector: str, now_s: float, window_s: float) -> tuple[str, dict[str, str]]:
        """Path and form of a question for the samples of a window."""
        if self.step_s is None:
            return "query", {"query": f"{selector}[{window_s:.0f}s]", "time": f"{now_s:.3f}"}
        return "query_range", {
            "query": selector,
            "start": f"{now_s - window_s:.3f}",
            "end": f"{now_s:.3f}",
            "step": f"{self.step_s:g}",
        }

    def samples(
        self, name: str, selector: str, now_s: float, window_s: float
    ) -> tuple[Matrix, Sequence[str]]:
        """Labels and samples of the series of a selector, and what the engine warns of.

        Raises:
            MetricError: There is no answer, or it is an error; the message begins with `name`.
        """
        answer = self.fetch(*self.question(selector, now_s, window_s))
        return matrix(name, answer), warnings_of(name, answer)


def matrix(name: str, answer: Any, *, is_instant: bool = False) -> Matrix:
    """Labels and samples of each series, or the one newest sample of an instant answer.

    Raises:
        MetricError: The answer is an error, or no matrix.
    """
    if not isinstance(answer, dict) or answer.get("status") != "success":
        reason = answer.get("error", "no status") if isinstance(answer, dict) else "no object"
        raise MetricError(f"{name}: {_one_line(reason)}")
    try:
        data = answer["data"]
        if data["resultType"] != "matrix" and not (is_instant and data["resultType"] == "vector"):
            raise MetricError(f"{name}: expected samples, got {data['resultType']!r}")
        return [
            (
                _labels(result),
                (
                    np.array([float(at) for at, _ in _pairs(result)]),
                    np.array([float(value) for _, value in _pairs(result)]),
                ),
            )
            for result in data["result"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MetricError(f"{name}: is not the answer of Prometheus: {error!r}") from error


def warnings_of(name: str, answer: Mapping[str, Any]) -> list[str]:
    """What an engine says of an answer, a line each: parts of it may be missing.

    Source: Prometheus, HTTP API, `warnings`; Thanos, Querier, partial response; VictoriaMetrics,
    cluster version, `isPartial`.
    """
    warnings = answer.get("warnings") or []
    texts = [warnings] if isinstance(warnings, str) else warnings
    known = dict.fromkeys(map(_one_line, texts if isinstance(texts, list) else [texts]))
    lines = [f"{name}: warns, and samples may be missing: {text}" for text in known]
    if answer.get("isPartial") is True:
        lines.append(f"{name}: gives a part of the samples alone (isPartial)")
    return lines


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:MOST_LETTERS]


def _labels(result: Mapping[str, Any]) -> dict[str, str]:
    labels: dict[str, str] = result["metric"]
    if any(not isinstance(value, str) for value in labels.values()):
        raise TypeError(f"a label that is no text: {labels!r}"[:200])
    return labels


def _pairs(result: Mapping[str, Any]) -> Sequence[list[Any]]:
    pairs: Sequence[list[Any]] = result["values"] if "values" in result else [result["value"]]
    return pairs


def one_series(at: str, metric: Metric, samples: Samples, **further: Any) -> Series:
    """The series of a metric at a port; `further` are fields of it."""
    times_s, values = samples
    # Stale markers come as nan, and no counter is infinite.
    values = np.where(np.isfinite(values), values * metric.factor, np.nan)
    if metric.quantity is Quantity.capacity_Bps:
        values = np.where(values < MOST_CAPACITY_BPS, values, np.nan)
    largest = 2.0**metric.bits * metric.factor
    return Series(at, metric.is_into, metric.quantity, times_s, values, largest, **further)
