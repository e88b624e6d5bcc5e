# SPDX-License-Identifier: Apache-2.0
"""A map says which series are which quantity of which port; what belongs nowhere is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fairlead.cli import app
from fairlead.errors import InputError
from fairlead.measure.metrics import Quantity, open_source
from fairlead.measure.metrics.mapped_prometheus import MappedSource
from fairlead.measure.metrics.metric_map import read_metric_map
from fairlead.measure.metrics.prometheus_api import Matrix, PrometheusApi
from fairlead.measure.topologies.switch_tree import tree_topology
from fairlead.report import oracle_view
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.source_check import check_sources

MAP = """
[[series]]
metric = "rack_uplink_bits"
quantity = "carried_bytes"
link = "out"
port = "switch {rack}"
factor = 0.125
bits = 32

[[series]]
metric = 'nic_busy{fabric="hsn"}'
quantity = "used_ratio"
link = "into"
host = "{node}"
device = "nic{nic}"
take = { node = "([a-z0-9]+)-hsn" }
"""


class Recorded(PrometheusApi):
    """A server that has these series, by selector."""

    def samples(
        self, name: str, selector: str, now_s: float, window_s: float
    ) -> tuple[Matrix, Sequence[str]]:
        return SERIES.get(selector, []), ()


def one(*values: float, **labels: str) -> Any:
    return {"__name__": "x", **labels}, (np.arange(float(len(values))), np.array(values))


SERIES: dict[str, Matrix] = {
    "rack_uplink_bits": [one(0, 800, rack="r0"), one(0, 80, rack="r9")],
    'nic_busy{fabric="hsn"}': [
        one(0.5, node="n1-hsn", nic="0"),
        one(0.1, 0.7, node="n1-hsn", nic="0"),
        one(0.2, node="n2", nic="0"),
        one(0.3, node="n3-hsn"),
    ],
}


@pytest.fixture
def source(tmp_path: Path) -> MappedSource:
    (tmp_path / "map.toml").write_text(MAP)
    return MappedSource(Recorded("http://monitor"), tmp_path / "map.toml")


def test_series_become_quantities_of_ports_in_their_units(source: MappedSource) -> None:
    uplink, _, nic = source.read(0, 60)

    assert uplink.key == ("switch r0", False, Quantity.carried_bytes)
    assert (uplink.values.tolist(), uplink.largest) == ([0, 100], 2**29)
    assert (nic.key, nic.device) == (("host n1", True, Quantity.used_ratio), "nic0")
    # The one of two replicas that has more samples.
    assert (nic.host_names, nic.values.tolist()) == (("n1",), [0.1, 0.7])


def test_what_belongs_nowhere_is_named_with_its_labels(source: MappedSource) -> None:
    source.read(0, 60)

    unmatched, unlabelled = source.skipped
    assert unmatched.endswith(
        """{node="n2",nic="0"} label node='n2': '([a-z0-9]+)-hsn' does not match"""
    )
    assert unlabelled.endswith("""{node="n3-hsn"} has no label 'nic'; there are __name__, node""")


def test_a_dry_run_shows_what_matched_and_what_did_not(source: MappedSource) -> None:
    topology = tree_topology({"n1": ["r0"], "n2": ["r1"]}, {"how": "test"}, "test")
    (check,) = check_sources(Oracle(topology).store, [source], 60.0)

    lines = list(oracle_view.check_lines(check))
    assert check.is_well
    assert lines[:4] == [
        "prom:http://monitor:",
        "  carried_bytes out of 1 ports (switch r0), 4 samples",
        "    not in the topology: switch r9",
        "  used_ratio into 1 ports (host n1), 2 samples",
    ]
    assert [line.startswith("  left out: ") for line in lines[4:]] == [True, True]


def test_a_selector_without_series_is_named(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(MAP.replace("rack_uplink_bits", "rack_uplink_bytes"))
    source = MappedSource(Recorded("http://monitor"), path)

    source.read(0, 60)

    assert source.skipped[0] == (
        f"{path}: series[0] rack_uplink_bytes: http://monitor has no such series"
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"carried_bytes"', '"bytes"', r"series\[0\].quantity: .*'carried_bytes'"),
        ('link = "out"', 'link = "up"', r"series\[0\].link: .*'into' or 'out'"),
        ('port = "switch {rack}"', "", r"series\[0\]: expected either host or port"),
        ("switch {rack}", "switch {rack", r"series\[0\]: 'switch {rack': expected '}'"),
        ("switch {rack}", "switch {0}", r"expected names of labels in braces, got '0'"),
        ("factor = 0.125", "factor = 0", r"series\[0\].factor: .* greater than 0, got 0"),
        ("bits = 32", "bits = 4", r"series\[0\].bits: .* greater than or equal to 8, got 4"),
        ("([a-z0-9]+)", "[a-z0-9]+", r"series\[1\].take: node: expected one group .* got 0"),
        ("([a-z0-9]+)", "([a-z0-9+", r"series\[1\].take: node: is no regular expression"),
        ('"rack_uplink_bits"', '"rate(x[5m])"', r"series\[0\].metric: expected the name of"),
        ("[[series]]", "[[counters]]", r": series: Field required"),
    ],
)
def test_a_wrong_map_is_one_line_with_the_field(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path = tmp_path / "map.toml"
    path.write_text(MAP.replace(old, new, 1 if old != "[[series]]" else -1))

    with pytest.raises(InputError, match=problem) as caught:
        read_metric_map(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_prom_without_a_map_says_what_it_needs() -> None:
    with pytest.raises(InputError, match=r"prom:http://m: needs a map: --map FILE.toml"):
        open_source("prom:http://m")


def test_a_dry_run_ends_with_1_where_a_source_cannot_be_read(tmp_path: Path) -> None:
    tree_topology({"n1": ["r0"], "n2": ["r1"]}, {"how": "test"}, "t").save(tmp_path / "t.topo.npz")
    (tmp_path / "map.toml").write_text(MAP)
    arguments = ["oracle", "serve", str(tmp_path / "t.topo.npz"), "--dry-run"]

    done = CliRunner().invoke(
        app,
        [*arguments, "--metrics", "prom:http://127.0.0.1:1", "--map", str(tmp_path / "map.toml")],
    )
    unused = CliRunner().invoke(
        app, [*arguments, "--metrics", "host:", "--map", str(tmp_path / "map.toml")]
    )

    assert done.exit_code == 1
    assert done.stdout.startswith("prom:http://127.0.0.1:1: cannot be read: http://127.0.0.1:1/api")
    assert unused.exit_code == 2
