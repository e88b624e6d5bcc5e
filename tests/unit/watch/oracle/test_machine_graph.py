# SPDX-License-Identifier: Apache-2.0
"""Edge weights of ORACLE's machine graph, by hand on a ring of four routers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torus_files import host, shares, topology

from fairlead.errors import InputError, TopologyError
from fairlead.measure.metrics import open_source
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.machine_graph import machine_graph

# A ring of four routers in Z. Counters of stalls are at the sending end: Z+ of router 0 counts how
# long it could not send to router 1. Here as part of the time.
STALLED = {
    ((0, 0, 0), "Z+"): 0.10,  # 0 -> 1
    ((0, 0, 1), "Z+"): 0.60,  # 1 -> 2
    ((0, 0, 2), "Z+"): 0.20,  # 2 -> 3
    ((0, 0, 3), "Z+"): 0.00,  # 3 -> 0
    ((0, 0, 1), "Z-"): 0.30,  # 1 -> 0
    ((0, 0, 2), "Z-"): 0.40,  # 2 -> 1
    ((0, 0, 3), "Z-"): 0.00,  # 3 -> 2
    ((0, 0, 0), "Z-"): 0.50,  # 0 -> 3
}
ZERO, ONE, TWO = (host(0, 0, z) for z in range(3))
OTHER_NODE = ONE.replace("n0", "n1")
"""The other node at the router of ONE."""


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    (tmp_path / "ldms.txt").write_text(shares(STALLED))
    made = Oracle(topology(tmp_path, 1, 1, 4), [open_source(f"ldms:{tmp_path}/ldms.txt")])
    made.use_clock_of_samples()
    made.collector.read_all()
    return made


def test_hops_are_links_and_none_within_a_node_or_a_router(oracle: Oracle) -> None:
    graph = machine_graph(oracle, [ZERO, ZERO, ONE, OTHER_NODE, TWO], "hops", 60.0)

    assert graph.tolist() == [
        [0, 0, 1, 1, 2],
        [0, 0, 1, 1, 2],
        [1, 1, 0, 0, 1],
        [1, 1, 0, 0, 1],
        [2, 2, 1, 1, 0],
    ]


def test_stalls_are_the_largest_percent_on_the_route_in_the_worse_direction(oracle: Oracle) -> None:
    graph = machine_graph(oracle, [ZERO, ONE, OTHER_NODE, TWO], "stalls", 60.0)

    # 0 -> 1: 10, back 30. 1 -> 2: 60, back 40. 0 and 2 are two apart either way round; as both
    # are even, both routes go by plus: 0 -> 1 -> 2 has 10 and 60, 2 -> 3 -> 0 has 20 and 0.
    np.testing.assert_allclose(
        graph, [[0, 30, 30, 60], [30, 0, 0, 60], [30, 0, 0, 60], [60, 60, 60, 0]]
    )


def test_without_a_metric_all_edges_are_alike(oracle: Oracle) -> None:
    graph = machine_graph(oracle, [ZERO, ZERO, ONE], "none", 60.0)

    assert graph.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_metric_that_weighs_no_edges_is_refused(oracle: Oracle) -> None:
    with pytest.raises(InputError, match="oracle's are none, hops, bw, stalls, got 'latency_s'"):
        machine_graph(oracle, [ZERO, ONE], "latency_s", 60.0)


def test_route_of_which_nothing_is_known_is_named(oracle: Oracle) -> None:
    with pytest.raises(TopologyError, match=f"bw: nothing is known of the route from '{ZERO}'"):
        machine_graph(oracle, [ZERO, ONE], "bw", 60.0)
