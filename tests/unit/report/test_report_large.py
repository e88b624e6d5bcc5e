# SPDX-License-Identifier: Apache-2.0
"""Large inputs stay small on the page and in the terminal."""

from __future__ import annotations

import io
import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from report_samples import ring, two_racks
from rich.console import Console

import fairlead as fl
from fairlead.report.blocks import reduce_blocks, split_evenly, sum_blocks
from fairlead.report.network_charts import network_charts
from fairlead.report.terminal import facts, view
from fairlead.report.traffic_charts import traffic_charts

NUM_RANKS = 60_000
NUM_HOSTS = 7_500
MAX_BYTES = 400e6
"""Written out, the traffic would be 28.8 GB."""


@pytest.fixture(scope="module")
def traffic():
    return ring(NUM_RANKS)


@pytest.fixture
def peak_bytes():
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def size_of(charts):
    return sum(len(json.dumps(chart.figure)) for chart in charts)


def test_sparse_traffic_is_charted_sparsely(traffic, peak_bytes):
    hosts = [f"n{host}" for host in range(NUM_HOSTS)]
    ranks = np.arange(NUM_RANKS)
    before = fl.Placement(hosts, ranks // 8, "launcher")
    after = fl.Placement(hosts, ranks % NUM_HOSTS, "cyclic")

    charts = traffic_charts(traffic, before, after)

    assert peak_bytes() < MAX_BYTES
    assert size_of(charts) < 3e6
    for chart in charts:
        cells = chart.figure["data"][0]["z"]
        assert len(cells) <= 128
        # Colours follow the logarithm here; z is in GiB, rounded.
        shown = sum(10**value for row in cells for value in row if value is not None)
        assert "(GiB)" in chart.title
        assert shown * 2**30 == pytest.approx(NUM_RANKS * 5e6, rel=1e-3)


def test_sparse_traffic_is_viewed_sparsely(traffic, peak_bytes):
    stream = io.StringIO()

    Console(file=stream, width=80).print(view(traffic, 80))

    assert peak_bytes() < MAX_BYTES
    assert "Traffic of 60000 ranks" in stream.getvalue()


def test_facts_hold_every_pair(traffic, peak_bytes):
    pairs = facts(traffic)["pairs"]

    assert peak_bytes() < MAX_BYTES
    assert len(pairs) == NUM_RANKS
    assert pairs[7] == [7, 8, 5e6, 10.0]


def test_messages_are_those_of_the_same_pair():
    # Pairs with bytes and without messages, and the reverse.
    traffic = fl.Traffic(
        sp.csr_array(np.array([[0, 3, 5], [0, 0, 0], [7, 0, 0]])),
        sp.csr_array(np.array([[0, 0, 2], [9, 0, 0], [4, 0, 0]])),
    )

    assert facts(traffic)["pairs"] == [[0, 1, 3, 0], [0, 2, 5, 2], [2, 0, 7, 4]]


def test_sparse_sums_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 9, (30, 30)) * (rng.random((30, 30)) < 0.2)
    blocks = [np.array([4, 2, 9]), np.array([0]), np.arange(10, 30)]

    sums = sum_blocks(sp.csr_array(matrix), blocks)

    assert sums.tolist() == reduce_blocks(matrix, blocks, np.sum).tolist()
    assert sums[2, 1] == matrix[10:30, 0].sum()


def test_network_of_many_hosts_makes_small_charts():
    charts = network_charts(two_racks([f"node{host}" for host in range(400)]))

    assert size_of(charts) < 3e6
    heatmap = charts[0].figure
    assert len(heatmap["data"][0]["z"]) <= 128
    # Two racks, each framed by a line and its rim.
    assert len(heatmap["layout"]["shapes"]) == 4
    assert heatmap["layout"]["shapes"][0]["x1"] == len(heatmap["data"][0]["z"]) / 2 - 0.5
    points = next(chart for chart in charts if chart.title == "Latency of every pair")
    assert len(points.figure["data"][0]["x"]) == 600
    assert "600 of 159600 pairs are drawn" in points.note


def test_blocks_of_single_hosts_keep_their_order():
    matrix = np.arange(9.0).reshape(3, 3)

    assert reduce_blocks(matrix, split_evenly(3, 3), np.nanmedian).tolist() == matrix.tolist()
