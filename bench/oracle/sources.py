# SPDX-License-Identifier: Apache-2.0
"""What each recorded sample of a source says of its link, against numbers computed by hand.

    .venv/bin/python bench/oracle/sources.py [--short]

The samples and the expected numbers are in tests/golden/oracle/exporters. A sample goes the way
that it takes in the oracle: read by its source, stored, and turned into what the links of its port
do in the last 10 s. It ends with code 1 where a number differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairlead.measure.metrics import Series, open_source
from fairlead.measure.metrics.mapped_prometheus import MappedSource
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.measure.metrics.prometheus_api import PrometheusApi
from fairlead.measure.metrics.rates import means, rates
from fairlead.model.topology import Links
from fairlead.watch.oracle.link_metrics import link_metrics
from fairlead.watch.oracle.samples import SampleStore

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

SAMPLES = Path(__file__).parents[2] / "tests" / "golden" / "oracle" / "exporters"
END_S, WINDOW_S = 1700000010.0, 10.0

_LINE = re.compile(r"(\w+)\{(.*)\} (\S+) (\d+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Row(NamedTuple):
    """A number of a sample.

    Attributes:
        file, port, way, quantity: Which one.
        expected: By hand.
        found: By the source; `nan` where it has none.
    """

    file: str
    port: str
    way: str
    quantity: str
    expected: float
    found: float

    @property
    def is_right(self) -> bool:
        return bool(np.isclose(self.found, self.expected, rtol=1e-6))


class RecordedPrometheus(PrometheusSource):
    """A server of Prometheus that has the series of a file."""

    def __init__(self, path: Path):
        super().__init__("http://recorded")
        self._path = path

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return answer(self._path, form["query"])


@dataclasses.dataclass(frozen=True)
class RecordedApi(PrometheusApi):
    """The same for a map."""

    path: Path = Path()

    def fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return answer(self.path, form["query"])


def answer(path: Path, query: str) -> Any:
    """What a server with the series of a file answers to a name or a regular expression of it."""
    named = re.search(r'__name__=~"([^"]*)"', query)
    wanted = named[1] if named is not None else query.partition("[")[0]
    values: dict[tuple[tuple[str, str], ...], list[list[Any]]] = {}
    for line in path.read_text().splitlines():
        match = _LINE.fullmatch(line)
        if match is not None and re.fullmatch(wanted, match[1]):
            key = (("__name__", match[1]), *_LABEL.findall(match[2]))
            values.setdefault(key, []).append([int(match[4]) / 1000, match[3]])
    result = [{"metric": dict(key), "values": some} for key, some in values.items()]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def series_of(path: Path) -> list[Series]:
    """What the source of a sample reads."""
    if path.stem.startswith("ldms_"):
        return ldms_series(path)
    if path.stem == "slingshot_telemetry":
        return telemetry_series(path)
    if path.with_suffix(".toml").exists():
        return mapped_series(path)
    return RecordedPrometheus(path).read(END_S, WINDOW_S)


def mapped_series(path: Path) -> list[Series]:
    """What the source `prom:` reads by the map next to a sample."""
    source = MappedSource(RecordedApi("http://recorded", path=path), path.with_suffix(".toml"))
    found = source.read(END_S, WINDOW_S)
    if source.skipped:
        raise ValueError(f"{path}: {source.skipped[0]}")
    return found


def ldms_series(path: Path) -> list[Series]:
    """What the source `ldms:` reads while `ldms_ls -l` prints one reading after the other."""
    _, _, text = path.read_text().partition("\n")
    readings: dict[str, list[str]] = {}
    for block in text.split("\n\n"):
        at = re.search(r"last update: (.*?) \[", block)
        if at is not None:
            readings.setdefault(at[1], []).append(block)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        source = open_source(f"ldms:{folder}/printed.txt")
        for blocks in readings.values():
            (Path(folder) / "printed.txt").write_text("\n\n".join(blocks))
            found += source.read(END_S, WINDOW_S)
            if source.skipped:
                raise ValueError(f"{path}: {source.skipped[0]}")
    return found


def telemetry_series(path: Path) -> list[Series]:
    """What the source `cxi:` reads of its files, one reading after the other."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        source = open_source(f"cxi:{folder}?host=n1")
        for at_s in sorted({text.partition("@")[2] for _, text in lines}):
            for name, text in lines:
                if text.endswith(at_s):
                    (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                    (Path(folder) / name).write_text(f"{text}\n")
            found += source.read(END_S, WINDOW_S)
    return found


def links_do(series: list[Series]) -> dict[tuple[str, str], dict[str, float]]:
    """What the two links of each port do, by the oracle's own store and metrics."""
    ports = sorted({one.port for one in series})
    ends = [(port, is_into) for port in ports for is_into in (True, False)]
    links = Links(
        in_ports=[port if is_into else f"beyond {port}" for port, is_into in ends],
        out_ports=[f"beyond {port}" if is_into else port for port, is_into in ends],
        capacity_Bps=np.full(len(ends), np.nan),
    )
    store = SampleStore(links.into(), links.out_of(), hosts=["n1"])
    store.add(series, is_whole=False, source="recorded")
    found = link_metrics(store, links, END_S, WINDOW_S, stale_s=60.0)
    carried = carried_Bps(series)
    return {
        (port, "into" if is_into else "out"): {
            "carried_Bps": carried.get((port, is_into), np.nan),
            "bw": float(found.used_ratio[link]),
            "stalls": float(found.stalled_ratio[link]),
        }
        for link, (port, is_into) in enumerate(ends)
    }


def carried_Bps(series: list[Series]) -> dict[tuple[str, bool], float]:
    """Bytes a second of each link, its devices added up."""
    total: dict[tuple[str, bool], float] = {}
    by_device: dict[tuple[str, bool, str], list[Series]] = {}
    for one in series:
        if one.quantity.value in ("carried_bytes", "carried_Bps"):
            by_device.setdefault((one.port, one.is_into, one.device), []).append(one)
    for (port, is_into, _), some in by_device.items():
        times_s = np.concatenate([one.times_s for one in some])[None, :]
        values = np.concatenate([one.values for one in some])[None, :]
        if some[0].quantity.is_counter:
            largest, unknown = np.array([some[0].largest]), np.array([np.nan])
            found = rates(times_s, values, END_S, WINDOW_S, largest=largest, fastest=unknown)
        else:
            found = means(times_s, values, END_S, WINDOW_S)
        total[port, is_into] = total.get((port, is_into), 0.0) + float(found.values[0])
    return total


def rows() -> Iterator[Row]:
    """All numbers of all samples."""
    expected = tomllib.loads((SAMPLES / "expected.toml").read_text())
    for sample in expected["sample"]:
        found = links_do(series_of(SAMPLES / sample["file"]))
        for way in ("into", "out"):
            for quantity, value in sample.get(way, {}).items():
                if quantity != "by":
                    one = found.get((sample["port"], way), {}).get(quantity, np.nan)
                    yield Row(sample["file"], sample["port"], way, quantity, value, one)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="the same: it takes a second")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    found = list(rows())
    if arguments.json:
        print(json.dumps([row._asdict() for row in found], indent=2))
    else:
        print(f"{'sample':28} {'port':28} {'link':5} {'quantity':12} {'by hand':>12} {'found':>12}")
        for row in found:
            mark = "" if row.is_right else "  differs"
            print(
                f"{row.file:28} {row.port:28} {row.way:5} {row.quantity:12} {row.expected:12.6g} "
                f"{row.found:12.6g}{mark}"
            )
    return 0 if all(row.is_right for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
