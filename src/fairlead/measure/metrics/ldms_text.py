# SPDX-License-Identifier: Apache-2.0
"""What `ldms_ls -l` prints, in the forms of versions 2 and 4, also as JSON."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from fairlead.measure.metrics.series import MetricError

__all__ = ["MetricSet", "parse"]

Value = float | str

_HEADER = re.compile(
    r"(\S+): (consistent|inconsistent), last update: "
    r"(\w{3} \w{3} +\d+ \d+:\d+:\d+ \d{4})(?: ([+-]\d{4}))? ?\[(\d+)us\](?:\s+(?:PUSH|LAST))*\s*",
    re.A,
)
_TROUBLE = re.compile(
    r"\s*(Error [0-9a-f]+ updating metric set\.?|ldms_ls: .*|Change the LDMS_LS_MEM_SZ .*"
    r"|.*\bvalue is \S+)\s*",
    re.A,
)
"""What stands between sets where one could not be had."""

_DETAILS_BEGIN = re.compile(r"  [A-Z ]+ -{4,}\s*", re.A)
_DETAILS_END = re.compile(r"  -{8,}\s*", re.A)
"""What `-v` adds after the header of a set."""

_VERSION_2 = re.compile(
    r"\s*[USFD]\d+\s+(-?\d+\.?\d*(?:[eE][+-]?\d+)?)\s+(\S.*?)(?: \((.*)\))?\s*", re.A
)
# With -u a word of the user stands between the name and the value, always in hexadecimal.
_VERSION_4 = re.compile(r"\s*[MD] (\S+)\s+(\S+)\s+(?:0x[0-9a-f]+\s+(?=\S))?(.*?)\s*", re.A)
_NUMBER = re.compile(r"(-?\d+\.?\d*(?:[eE][+-]?\d+)?)(?:\s+(\S.*))?", re.A)
_COLUMN = re.compile(r"(\S+)(?: \(([^)]*)\))?")
_CELL = re.compile(r"\"[^\"]*\"|'.'|\S+")
_HAS_ROWS = re.compile(r"\s*[MD] (list<>|record\[\])\s.*", re.A)


class MetricSet(NamedTuple):
    """One set: what one sampler on one node reported last.

    Attributes:
        instance: Its name, `nid00050/cray_gemini_r_sampler`.
        time_s: When it was updated.
        values: By metric.
        units: Units of metrics that have one.
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


def parse(text: str, name: str, skipped: list[str] | None = None) -> list[MetricSet]:
    """All consistent sets of what `ldms_ls -l` printed, with `-f json` or without.

    A set in a form that is not understood costs that set.

    Args:
        text: What it printed, or what the Python module's `Set.json()` gives, a line for each set.
        name: What errors call it.
        skipped: Gets a line for each set that is left out, and for what is no set.

    Raises:
        MetricError: Not one set is understood.
    """
    problems: list[str] = []
    if text.lstrip().startswith("{"):
        found = list(_parse_json(text, name, problems))
    else:
        found = list(_parse_text(text, name, problems))
    if problems and not found:
        raise MetricError(problems[0])
    if skipped is not None:
        skipped += problems
    return [each for each in found if each is not None]


def _parse_text(text: str, name: str, problems: list[str]) -> Iterator[MetricSet | None]:
    """Sets that are understood; None for an inconsistent one."""
    for number, block in _blocks(text, name, problems):
        try:
            yield _set(number, block, name)
        except MetricError as error:
            problems.append(str(error))


def _blocks(text: str, name: str, problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines of each set, its header first, with the number of the header's line."""
    block: list[str] = []
    begun = 0
    is_detail = False
    for number, line in enumerate(text.splitlines(), 1):
        if _HEADER.fullmatch(line):
            if block:
                yield begun, block
            block, begun, is_detail = [line], number, False
        elif is_detail:
            is_detail = not _DETAILS_END.fullmatch(line)
        elif block and _DETAILS_BEGIN.fullmatch(line):
            is_detail = True
        elif _TROUBLE.fullmatch(line):
            problems.append(f"{name}:{number}: {line.strip()[:80]}")
        elif line.strip() and block:
            block.append(line)
        elif line.strip():
            problems.append(f"{name}:{number}: expected a set of ldms_ls -l, got {line[:80]!r}")
    if block:
        yield begun, block


def _set(number: int, block: list[str], name: str) -> MetricSet | None:
    """A set of lines; None where it is inconsistent.

    Raises:
        MetricError: A line is no metric.
    """
    header = _HEADER.fullmatch(block[0])
    assert header is not None  # it began the block
    values: dict[str, Value] = {}
    units: dict[str, str] = {}
    records: list[Mapping[str, Value]] = []
    columns: list[str] = []
    of_set = f" (set {header[1]})"

    def where(offset: int) -> str:
        return f"{name}:{number + offset}"

    for offset, line in enumerate(block[1:], 1):
        if columns and line.startswith("  "):
            cells = _CELL.findall(line)
            if len(cells) != len(columns):
                raise MetricError(
                    f"{where(offset)}: a record of {len(columns)} values has {len(cells)}{of_set}"
                )
            records.append({c: _value(cell) for c, cell in zip(columns, cells, strict=True)})
            continue
        columns = []
        if line.startswith("  ") and _HAS_ROWS.fullmatch(block[offset - 1]):
            columns = [found[1] for found in _COLUMN.finditer(line.strip())]
            continue
        if _HAS_ROWS.fullmatch(line):
            continue
        metric = _metric(line)
        if metric is None:
            raise MetricError(f"{where(offset)}: is no metric: {line[:80]!r}{of_set}")
        metric_name, value, unit = metric
        values[metric_name] = value
        if unit:
            units[metric_name] = unit
    if header[2] != "consistent":
        return None
    try:
        time_s = _time_s(header[3], header[4]) + int(header[5]) / 1e6
    except (ValueError, OverflowError) as error:
        raise MetricError(f"{where(0)}: is no time: {header[3][:80]!r}{of_set}") from error
    return MetricSet(header[1], time_s, values, units, tuple(records))


def _metric(line: str) -> tuple[str, Value, str] | None:
    """Name, value and unit of a metric in either form."""
    second = _VERSION_2.fullmatch(line)
    if second:
        value = float(second[1])
        return (second[2], value, second[3] or "") if math.isfinite(value) else None
    fourth = _VERSION_4.fullmatch(line)
    if fourth is None:
        return None
    number = _NUMBER.fullmatch(fourth[3])
    if number is None or math.isinf(float(number[1])):
        return fourth[2], fourth[3].strip('"'), ""
    return fourth[2], float(number[1]), (number[2] or "").strip("()")


def _value(text: str) -> Value:
    try:
        value = float(text)
    except ValueError:
        return text.strip('"')
    return value if math.isfinite(value) else text


def _is_value(value: object) -> bool:
    """Whether JSON's value is text or a number: 1e400 is infinite, and no counter is."""
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _time_s(text: str, offset: str | None) -> float:
    """Seconds since 1970; without an offset, as version 2 has none, by the clock of this host."""
    if offset is None:
        return datetime.datetime.strptime(text, "%a %b %d %H:%M:%S %Y").timestamp()
    return datetime.datetime.strptime(f"{text} {offset}", "%a %b %d %H:%M:%S %Y %z").timestamp()


def _parse_json(text: str, name: str, problems: list[str]) -> Iterator[MetricSet | None]:
    """Sets that are understood; a document that is none is a problem of its own."""
    read: Callable[[Any], MetricSet | None]
    try:
        if '"set_data"' in text:
            entries, read = json.loads(text)["set_data"], _from_json
        else:
            lines = (line for line in text.splitlines() if line.strip())
            entries, read = [json.loads(line) for line in lines], _from_module
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        problems.append(f"{name}: is not JSON, or not all of it: {error}")
        return
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        try:
            yield read(entry)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            which = entry.get("inst_name") or entry.get("name") if isinstance(entry, dict) else None
            problems.append(f"{name}: is not the JSON of LDMS: {error!r} (set {which or index})")


def _from_json(entry: Mapping[str, Any]) -> MetricSet:
    values: dict[str, Value] = {}
    records: list[Mapping[str, Value]] = []
    for metric in entry["metrics"]:
        if not isinstance(metric["name"], str):
            raise TypeError(f"name: {metric['name']!r}")
        if isinstance(metric["value"], list):
            records += [
                {name: cell["value"] for name, cell in row.items() if _is_value(cell["value"])}
                for row in metric["value"]
            ]
        elif _is_value(metric["value"]):
            values[metric["name"]] = metric["value"]
    units = {metric["name"]: metric["units"] for metric in entry["metrics"] if metric.get("units")}
    return MetricSet(entry["inst_name"], float(entry["timestamp"]), values, units, tuple(records))


def _from_module(entry: Mapping[str, Any]) -> MetricSet:
    """What `Set.json()` of LDMS' Python module gives."""
    stamp, data = entry["transaction_timestamp"], entry["data"]
    time_s = stamp["sec"] + stamp["usec"] / 1e6 if entry["is_consistent"] else float("nan")
    records = [row for value in data.values() if isinstance(value, list) for row in value]
    values = {key: value for key, value in data.items() if _is_value(value)}
    return MetricSet(entry["name"], time_s, values, {}, tuple(records))
