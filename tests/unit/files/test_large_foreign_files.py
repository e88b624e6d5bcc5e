# SPDX-License-Identifier: Apache-2.0
"""Large files of traffic, metrics and hosts: read or refused in a line, within bounded memory."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from large_files import MIB, Large, read_large

from fairlead.measure.traffic_files.catalogue import FORMS


def csv_rows() -> Iterator[str]:
    return itertools.repeat("0,1,100\n1,0,200\n" * 1000)


def monitored() -> Iterator[str]:
    return itertools.repeat("E\t0\t0\t100 bytes\t1 msgs sent\t0,0,0,1\n" * 1000)


CHART = """| Data Transfers per Rank-to-Rank Communication
| Rank --> Rank           Time(sec)        Time(%)      Volume(MB)        Volume(%)        Transfers
|---------------------------------------------------------------------------------------------------
"""


def chart_rows() -> Iterator[str]:
    row = "  0002 --> 0000      14.30      60.00      2.50      50.00      10\n"
    return itertools.repeat(row * 1000)


def zeros() -> Iterator[str]:
    return itertools.repeat("\0" * MIB)


def report_lines() -> Iterator[str]:
    return itertools.repeat("@--- Callsites: 12 ---\n" * 1000)


def sets() -> Iterator[str]:
    for node in itertools.count():
        yield (
            f"n{node}/procnet/eth0: consistent, last update: Tue Nov 17 10:00:00 2026 +0000 "
            '[1us]\nD char[]     device       "eth0"\n'
            f"D u64        rx_bytes     {node}\n\n"
        )


def json_sets() -> Iterator[str]:
    for node in itertools.count():
        metrics = [
            {"name": "device", "type": "char[]", "units": "", "value": "eth0"},
            {"name": "rx_bytes", "type": "u64", "units": "", "value": node},
        ]
        made = {"schema_name": "procnet", "inst_name": f"n{node}/procnet/eth0"}
        made |= {"timestamp": 1.0, "duration": 0.1, "info": "x" * 300, "metrics": metrics}
        yield ("," if node else "") + json.dumps(made)


def entries() -> Iterator[str]:
    entry = '[[series]]\nmetric = "x"\nquantity = "packets"\nlink = "into"\nhost = "{node}"\n'
    return itertools.repeat(entry * 100)


def hosts() -> Iterator[str]:
    return (f"n{host} slots=8\n" for host in itertools.count())


SERIES = r"\d{4,} series"
"""Thousands of them."""

LARGE = {
    "t.csv": Large("traffic", "src,dst,bytes\n", csv_rows, "", 6 * MIB, "2 ranks", 4 * MIB),
    "t.0.prof": Large("traffic", "", monitored, "", 8 * MIB, "1 ranks", 4 * MIB),
    "aps.txt": Large("traffic", CHART, chart_rows, "", 6 * MIB, "aps.txt:", 4 * MIB),
    "traces.otf2": Large("traffic", "", zeros, "", 100 * MIB, "as OTF2", 32 * MIB),
    "report.mpiP": Large("traffic", "@ mpiP\n", report_lines, "", 100 * MIB, "mpiP", 8 * MIB),
    "unnamed": Large("traffic", "@ mpiP\n", report_lines, "", 100 * MIB, "mpiP", 8 * MIB),
    "other.txt": Large("traffic", "", report_lines, "", 100 * MIB, "other.txt", 256 * MIB),
    "sets.txt": Large("ldms", "", sets, "", 2 * MIB, SERIES, 128 * MIB),
    "sets.json": Large("ldms", '{"set_data": [', json_sets, "]}", 4 * MIB, SERIES, 256 * MIB),
    "map.toml": Large("map", "", entries, "", 100 * MIB, "is larger than", 64 * MIB),
    "hosts": Large("hosts", "", hosts, "", 100 * MIB, "not a hostfile: is larger", 64 * MIB),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    large = LARGE[name]
    found = read_large(large, tmp_path / name)

    assert re.search(large.result, found.result), found
    assert "\n" not in found.result
    assert found.peak_bytes < large.most_bytes, found


def test_every_form_of_traffic_that_is_a_file_has_a_large_one(tmp_path: Path) -> None:
    large = {name for name, each in LARGE.items() if each.kind == "traffic"}
    for name in large:
        (tmp_path / name).write_text(LARGE[name].begin)

    forms = {form.name for form in FORMS for name in large if form.is_form(tmp_path / name)}

    assert {form.name for form in FORMS} - forms == {"a folder of a traced run's shares"}
