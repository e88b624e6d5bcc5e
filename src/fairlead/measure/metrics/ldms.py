# SPDX-License-Identifier: Apache-2.0
"""LDMS: what `ldms_ls -l` prints, in the forms of versions 2 and 4, also as JSON."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fairlead.measure.metrics.series import MetricError, Quantity, Series
from fairlead.measure.topologies.gemini import DIRECTIONS
from fairlead.measure.topologies.gemini_nodes import Position
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.model.topology import port_name

__all__ = ["MetricSet", "parse", "series_of"]

Value = float | str

_HEADER = re.compile(
    r"(\S+): (consistent|inconsistent), last update: "
    r"(\w{3} \w{3} +\d+ \d+:\d+:\d+ \d{4})(?: ([+-]\d{4}))? ?\[(\d+)us\]\s*",
    re.A,
)
_VERSION_2 = re.compile(
    r"\s*[USFD]\d+\s+(-?[\d.]+(?:[eE][+-]?\d+)?)\s+(\S.*?)(?: \((.*)\))?\s*", re.A
)
_VERSION_4 = re.compile(r"\s*[MD] (\S+)\s+(\S+)\s+(.*?)\s*", re.A)
_NUMBER = re.compile(r"(-?\d[\d.]*(?:[eE][+-]?\d+)?)(?:\s+(\S.*))?", re.A)
_COLUMN = re.compile(r"(\S+)(?: \(([^)]*)\))?")

PERCENT = {"%": 1e-2, "% x1e6": 1e-8, "%_x1e6": 1e-8}
"""Shares by their unit: LDMS keeps whole numbers, so that its sampler multiplies by a million.

Source: LDMS, sampler cray_gemini_r_sampler; ORACLE shows the same metrics in plain percent.
"""


class MetricSet(NamedTuple):
    """One set: what one sampler on one node last told.

    Attributes:
        instance: Its name, `nid00050/cray_gemini_r_sampler`.
        time_s: When it was updated.
        values: By metric.
        units: Of metrics that have one.
        records: Rows of the records of lists.
    """

    instance: str
    time_s: float
    values: Mapping[str, Value]
    units: Mapping[str, str]
    records: tuple[Mapping[str, Value], ...] = ()

    @property
    def host(self) -> str:
        """The node: producer and sampler are parted by a slash."""
        return self.instance.partition("/")[0]


def parse(text: str, name: str) -> list[MetricSet]:
    """All consistent sets of what `ldms_ls -l` printed, with `-f json` or without.

    Args:
        text: What it printed, or what the Python module's `Set.json()` gives, a line for each set.
        name: What errors call it.

    Raises:
        MetricError: It is something else, or ends in the middle.
    """
    if text.lstrip().startswith("{"):
        return _parse_json(text, name)
    sets = []
    for number, block in _blocks(text, name):
        header = _HEADER.fullmatch(block[0])
        assert header is not None  # it began the block
        values: dict[str, Value] = {}
        units: dict[str, str] = {}
        records: list[Mapping[str, Value]] = []
        columns: list[str] = []
        for offset, line in enumerate(block[1:], 1):
            if columns and line.startswith("  "):
                cells = line.split()
                if len(cells) != len(columns):
                    raise MetricError(
                        f"{name}:{number + offset}: a record of {len(columns)} values has "
                        f"{len(cells)}"
                    )
                records.append({c: _value(cell) for c, cell in zip(columns, cells, strict=True)})
                continue
            columns = []
            if line.startswith("  ") and "list<>" in block[offset - 1]:
                columns = [found[1] for found in _COLUMN.finditer(line.strip())]
                continue
            metric = _metric(line)
            if metric is None:
                raise MetricError(f"{name}:{number + offset}: is no metric: {line[:80]!r}")
            metric_name, value, unit = metric
            values[metric_name] = value
            if unit:
                units[metric_name] = unit
        if header[2] == "consistent":
            time_s = _time_s(header[3], header[4]) + int(header[5]) / 1e6
            sets.append(MetricSet(header[1], time_s, values, units, tuple(records)))
    return sets


def series_of(sets: list[MetricSet]) -> list[Series]:
    """What sets tell of links: Gemini's directions, or the interfaces of hosts."""
    found: dict[tuple[str, bool, Quantity], Series] = {}
    for metrics in sets:
        for series in (*_of_gemini(metrics), *_of_interfaces(metrics)):
            # Both nodes of a Gemini tell its counters, and several samplers a host's: the newest.
            other = found.get(series.key)
            if other is None or other.times_s[-1] < series.times_s[-1]:
                found[series.key] = series
    return list(found.values())


def _blocks(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Lines of each set, its header first, with the number of the header's line."""
    block: list[str] = []
    begun = 0
    for number, line in enumerate(text.splitlines(), 1):
        if _HEADER.fullmatch(line):
            if block:
                yield begun, block
            block, begun = [line], number
        elif line.strip():
            if not block:
                raise MetricError(
                    f"{name}:{number}: expected a set of ldms_ls -l, got {line[:80]!r}"
                )
            block.append(line)
    if block:
        yield begun, block


def _metric(line: str) -> tuple[str, Value, str] | None:
    """Name, value and unit of a metric in either form."""
    second = _VERSION_2.fullmatch(line)
    if second:
        return second[2], float(second[1]), second[3] or ""
    fourth = _VERSION_4.fullmatch(line)
    if fourth is None:
        return None
    number = _NUMBER.fullmatch(fourth[3])
    if number is None:
        return fourth[2], fourth[3].strip('"'), ""
    return fourth[2], float(number[1]), (number[2] or "").strip("()")


def _value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text.strip('"')


def _time_s(text: str, offset: str | None) -> float:
    """Seconds since 1970; without an offset, as version 2 has none, by the clock of this host."""
    if offset is None:
        return datetime.datetime.strptime(text, "%a %b %d %H:%M:%S %Y").timestamp()
    return datetime.datetime.strptime(f"{text} {offset}", "%a %b %d %H:%M:%S %Y %z").timestamp()


def _parse_json(text: str, name: str) -> list[MetricSet]:
    try:
        if '"set_data"' in text:
            return [_from_json(entry) for entry in json.loads(text)["set_data"]]
        return [_from_module(json.loads(line)) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise MetricError(f"{name}: is not JSON, or not all of it: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise MetricError(f"{name}: is not the JSON of LDMS: {error!r}") from error


def _from_json(entry: Mapping[str, Any]) -> MetricSet:
    values: dict[str, Value] = {}
    records: list[Mapping[str, Value]] = []
    for metric in entry["metrics"]:
        if isinstance(metric["value"], list):
            records += [
                {name: cell["value"] for name, cell in row.items()} for row in metric["value"]
            ]
        elif isinstance(metric["value"], int | float | str):
            values[metric["name"]] = metric["value"]
    units = {metric["name"]: metric["units"] for metric in entry["metrics"] if metric.get("units")}
    return MetricSet(entry["inst_name"], float(entry["timestamp"]), values, units, tuple(records))


def _from_module(entry: Mapping[str, Any]) -> MetricSet:
    """What `Set.json()` of LDMS' Python module gives."""
    stamp, data = entry["transaction_timestamp"], entry["data"]
    time_s = stamp["sec"] + stamp["usec"] / 1e6 if entry["is_consistent"] else float("nan")
    records = [row for value in data.values() if isinstance(value, list) for row in value]
    values = {key: value for key, value in data.items() if isinstance(value, int | float | str)}
    return MetricSet(entry["name"], time_s, values, {}, tuple(records))


def _of_gemini(metrics: MetricSet) -> Iterator[Series]:
    """Counters and shares of the six directions of the Gemini that a node is on."""
    at = [metrics.values.get(f"nettopo_mesh_coord_{axis}") for axis in "XYZ"]
    if not all(isinstance(coordinate, int | float) for coordinate in at):
        return
    position = Position(*(int(float(coordinate)) for coordinate in at if coordinate is not None))
    for direction in DIRECTIONS:
        for suffix, quantity in (
            ("traffic", Quantity.carried_bytes),
            ("credit_stall", Quantity.stalled_s),
            ("SAMPLE_GEMINI_LINK_USED_BW", Quantity.used_ratio),
            ("SAMPLE_GEMINI_LINK_CREDIT_STALL", Quantity.stalled_ratio),
        ):
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
                (port_name(position, direction), True), quantity, metrics, value * factor, factor
            )


def _of_interfaces(metrics: MetricSet) -> Iterator[Series]:
    """Bytes of the interfaces of a host, all but the one to itself, added up."""
    rows = [row for row in metrics.records if "rx_bytes" in row and row.get("name") != "lo"]
    device = metrics.values.get("device")
    if not rows and isinstance(device, str) and device != "lo":
        rows = [metrics.values]
    if not rows:
        names = {
            name.partition("#")[2] for name in metrics.values if name.startswith("rx_bytes#")
        } - {"lo"}
        rows = [
            {way: metrics.values[f"{way}#{name}"] for way in ("rx_bytes", "tx_bytes")}
            for name in names
            if f"tx_bytes#{name}" in metrics.values
        ]
    for way, is_into in (("rx_bytes", True), ("tx_bytes", False)):
        counted = [row[way] for row in rows if isinstance(row.get(way), int | float)]
        if counted:
            total = sum(float(value) for value in counted)
            yield _series(
                (host_port(metrics.host), is_into), Quantity.carried_bytes, metrics, total, 1.0
            )


def _series(
    end: tuple[str, bool], quantity: Quantity, metrics: MetricSet, value: float, factor: float
) -> Series:
    """One sample; `end` is a port and whether its link comes in."""
    largest = 2.0**64 * factor
    return Series(*end, quantity, np.array([metrics.time_s]), np.array([value]), largest)
