# SPDX-License-Identifier: Apache-2.0
"""What a program does to the links itself is no reason for it to go elsewhere."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from torus_files import host, topology

from fairlead.measure.metrics import MetricSource, Quantity, Series
from fairlead.measure.metrics.rates import Faults
from fairlead.model.topology import Topology
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.crossings import Crossings
from fairlead.watch.oracle.link_metrics import LinkMetrics
from fairlead.watch.oracle.network_for_program import without_own
from fairlead.watch.oracle.remapping import RemapQuestion, remap
from fairlead.watch.oracle.shared_links import shared_links

CAPACITY_BPS = 100.0


def links(carried_Bps: list[float], stalled_ratio: list[float]) -> LinkMetrics:
    used_ratio = np.array(carried_Bps) / CAPACITY_BPS
    capacity_Bps = np.full(len(used_ratio), CAPACITY_BPS)
    return LinkMetrics(
        used_ratio, np.array(stalled_ratio), capacity_Bps * (1 - used_ratio), capacity_Bps,
        np.zeros(len(used_ratio)), Faults(),
    )  # fmt: skip


def test_link_with_least_for_the_program_tells_how_often_it_sends() -> None:
    # Four repeats a second; others send 20 and 60 bytes a second over the first and the last link.
    found = links([40.0, 20.0, 40.0, 60.0], [0.4, 0.1, 0.2, 0.8])

    others = without_own(found, np.array([5.0, 5.0, 10.0, 0.0]))

    np.testing.assert_allclose(others.used_ratio, [0.2, 0.0, 0.0, 0.6], atol=1e-12)
    np.testing.assert_allclose(others.stalled_ratio, [0.2, 0.0, 0.0, 0.8], atol=1e-12)
    np.testing.assert_allclose(others.free_Bps, [80.0, 100.0, 100.0, 40.0])


@pytest.mark.parametrize(
    ("carried_Bps", "own_bytes"), [([np.nan, 50.0], [5.0, 0.0]), ([0.0, 50.0], [5.0, 0.0])]
)
def test_link_without_a_rate_says_nothing_of_the_program(
    carried_Bps: list[float], own_bytes: list[float]
) -> None:
    found = links(carried_Bps, [0.4, 0.5])

    others = without_own(found, np.array(own_bytes))

    np.testing.assert_array_equal(others.used_ratio, found.used_ratio)
    np.testing.assert_array_equal(others.stalled_ratio, found.stalled_ratio)


@pytest.mark.parametrize(
    ("metric", "left_Bps"), [("bw", 60), ("stalls", 30), ("free_Bps", 60), ("hops", 100)]
)
def test_shared_link_has_what_the_metric_leaves_of_it(metric: str, left_Bps: float) -> None:
    # The third link follows the first on the same routes, and only one pair takes the second.
    crossed = Crossings(*np.array([(0, 0, 1), (0, 0, 2), (1, 0, 2), (2, 0, 1), (2, 0, 2)]).T)

    (group,) = shared_links(links([40.0, 20.0, 0.0], [0.7, 0.1, 0.0]), metric, crossed)

    assert group.capacity_Bps == pytest.approx(left_Bps)
    assert group.pairs.tolist() == [[0, 1], [0, 2]]


def test_program_behind_one_router_crosses_no_link(tmp_path: Path) -> None:
    oracle = Oracle(topology(tmp_path, 3, 1, 4))
    nodes = ["c0-0c0s0n0", "c0-0c0s0n1"]

    found = remap(oracle, RemapQuestion(nodes, [0, 1], [(0, 1, 1e9)], "hops", "optimize"))

    assert list(oracle.crossings(tuple(nodes)).pairs_of_links()) == []
    assert found.task_of_process.tolist() == [0, 1]


class Loaded(MetricSource):
    """Counters of links that nobody uses but two tasks, which fill the one between them."""

    name = "loaded"

    def __init__(self, of: Topology, own: list[int]):
        links = of.links
        busy = np.isin(np.arange(links.num_links), own)
        at_s = np.array([time.time() - 1, time.time()])
        self._series = [
            Series(port, True, quantity, at_s, np.array([0.0, 0.9 * busy[link] * each]))
            for link, port in enumerate(links.in_ports)
            for quantity, each in (
                (Quantity.carried_bytes, links.capacity_Bps[link]),
                (Quantity.stalled_s, 1.0),
            )
        ]

    def read(self, now_s: float, window_s: float) -> list[Series]:
        return self._series


@pytest.mark.parametrize("metric", ["bw", "stalls"])
@pytest.mark.parametrize("method", ["optimize", "scotch"])
def test_program_that_fills_its_links_does_not_move_away_from_itself(
    tmp_path: Path, metric: str, method: str
) -> None:
    of = topology(tmp_path, 3, 1, 4)
    line = [host(0, 0, z) for z in range(4)]
    tasks, num_moves = [0, 1, 2, 3], 0

    for _ in range(10):
        process_of_task = np.argsort(tasks)
        talking = [line[process_of_task[0]], line[process_of_task[1]]]
        own = [*of.route(*talking).tolist(), *of.route(*reversed(talking)).tolist()]
        oracle = Oracle(of, [Loaded(of, own)])
        oracle.collector.read_all()
        found = remap(
            oracle, RemapQuestion(line, tasks, [(0, 1, 1e9), (1, 0, 1e9)], metric, method)
        )
        num_moves += found.task_of_process.tolist() != tasks
        tasks = found.task_of_process.tolist()

    assert num_moves == 0
