# SPDX-License-Identifier: Apache-2.0
"""Any series of Prometheus, by a map that says which quantity of which port they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.measure.metrics.exporters import Metric
from fairlead.measure.metrics.metric_map import MappedSeries, read_metric_map
from fairlead.measure.metrics.prometheus_api import Matrix, PrometheusApi, one_series
from fairlead.measure.metrics.prometheus_machines import better
from fairlead.measure.metrics.series import MetricSource, Series

__all__ = ["MappedSource"]

MOST_SKIPPED = 8
"""Series of an entry that are named, of those that belong nowhere."""


class MappedSource(MetricSource):
    """A Prometheus, and a file that says what its series are."""

    has_history = True

    def __init__(self, api: PrometheusApi, path: Path):
        """A source by the map of a file.

        Raises:
            InputError: The file is no such map; the message names the field.
        """
        self.name = f"prom:{api.url}"
        self._api = api
        self._path = path
        self._entries = read_metric_map(path)

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """All samples of the window, a question for each entry."""
        skipped: list[str] = []
        warnings: dict[str, None] = {}
        found: dict[tuple[Any, ...], Series] = {}
        for number, entry in enumerate(self._entries):
            where = f"{self._path}: series[{number}] {entry.metric}"
            results, of_answer = self._api.samples(self.name, entry.metric, now_s, window_s)
            warnings |= dict.fromkeys(of_answer)
            if not results:
                skipped.append(f"{where}: {self._api.url} has no such series")
            lost: list[str] = []
            for key, series in _place(entry, results, lost):
                found[key] = series if key not in found else _better(found[key], series)
            skipped += [f"{where}: {line}" for line in lost[:MOST_SKIPPED]]
            if len(lost) > MOST_SKIPPED:
                skipped.append(f"{where}: {len(lost) - MOST_SKIPPED} more belong nowhere")
        self.skipped = skipped
        self.warnings = list(warnings)
        return list(found.values())


def _place(
    entry: MappedSeries, results: Matrix, lost: list[str]
) -> Iterator[tuple[tuple[Any, ...], Series]]:
    """Series of an entry with their ports; `lost` gets a line for each that has none."""
    metric = Metric(entry.quantity, entry.link == "into", entry.factor, entry.bits)
    for labels, samples in results:
        try:
            place = entry.place(labels)
        except InputError as error:
            lost.append(f"{_text(labels)} {error}")
            continue
        series = one_series(
            place.port, metric, samples, device=place.device, host_names=place.host_names
        )
        yield (*series.key, series.device), series


def _better(one: Series, other: Series) -> Series:
    """The replica of a series that has more samples, or newer ones."""
    best = better((one.times_s, one.values), (other.times_s, other.values))
    return one if best[0] is one.times_s else other


def _text(labels: Mapping[str, str]) -> str:
    inside: Sequence[str] = [f'{k}="{v}"' for k, v in labels.items() if k != "__name__"]
    return f"{{{','.join(inside)}}}"
