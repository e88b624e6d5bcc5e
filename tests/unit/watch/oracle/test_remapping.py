# SPDX-License-Identifier: Apache-2.0
"""Tasks are shared out anew where it pays, and stay where it does not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from torus_files import host, shares, topology

from fairlead.errors import InputError
from fairlead.measure.metrics import open_source
from fairlead.measure.topologies.gemini import TILE_BPS
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.remapping import Remapped, RemapQuestion, remap

LINE = tuple(host(0, 0, z) for z in range(4))
STALLS = (0, 0, 2)
"""The router of a line of four that is slow to reach."""


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    idle = {
        ((x, 0, z), way): 0.0
        for x in range(3)
        for z in range(4)
        for way in ("X-", "X+", "Z-", "Z+")
    }
    stalled = {((0, 0, 1), "Z+"): 0.9, ((0, 0, 3), "Z-"): 0.9}
    (tmp_path / "ldms.txt").write_text(shares(idle | stalled))
    made = Oracle(topology(tmp_path, 3, 1, 4), [open_source(f"ldms:{tmp_path}/ldms.txt")])
    made.use_clock_of_samples()
    made.collector.read_all()
    return made


# Tasks 1 and 2 exchange much, and one of them is behind the slow links.
HEAVY = RemapQuestion(LINE, (0, 1, 2, 3), [(1, 2, 1e9), (2, 1, 1e9), (0, 3, 1.0)])


def hosts_of(found: Remapped, *tasks: int) -> set[str]:
    process_of_task = np.argsort(found.task_of_process)
    return {LINE[process_of_task[task]] for task in tasks}


@pytest.mark.parametrize("method", ["optimize", "scotch"])
def test_what_talks_moves_away_from_links_that_stall(oracle: Oracle, method: str) -> None:
    found = remap(oracle, dataclasses.replace(HEAVY, method=method))

    assert host(*STALLS) not in hosts_of(found, 1, 2)
    assert found.then_s < 0.5 * found.now_s
    assert sorted(found.task_of_process) == [0, 1, 2, 3]


def test_metric_decides(oracle: Oracle) -> None:
    # Neighbours already: by hops alone there is nothing to gain.
    found = remap(oracle, dataclasses.replace(HEAVY, metric="hops"))

    assert found.task_of_process.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"least_gain_ratio": 0.95}, "it would save less than 95% of the time on the network"),
        ({"repeats_left": 1, "move_bytes_of_process": [1e12] * 4}, "moving would take longer"),
    ],
)
def test_move_that_does_not_pay_is_left(oracle: Oracle, change: dict, reason: str) -> None:
    found = remap(oracle, dataclasses.replace(HEAVY, **change))

    assert found.task_of_process.tolist() == [0, 1, 2, 3]
    assert found.then_s < found.now_s
    assert found.reason.startswith(reason)


def test_move_is_taken_once_enough_is_sent_after_it(oracle: Oracle) -> None:
    costly = dataclasses.replace(HEAVY, move_bytes_of_process=[1e12] * 4)

    found = remap(oracle, dataclasses.replace(costly, repeats_left=1e6))

    assert found.task_of_process.tolist() != [0, 1, 2, 3]
    assert found.move_s > 0


PAIR_S = 2e9 / TILE_BPS["cable"]
"""For a gigabyte to a neighbour: by hops, the pair has half of the rate of its one cable."""


@pytest.mark.parametrize(("nic_Bps", "busiest_s"), [(6e9, PAIR_S), (None, PAIR_S), (1e9, 2.0)])
def test_host_sends_by_several_links_at_once_as_far_as_its_interface_can(
    oracle: Oracle, nic_Bps: float | None, busiest_s: float
) -> None:
    ring = [(task, (task + step) % 4, 1e9) for task in range(4) for step in (-1, 1)]
    every = None if nic_Bps is None else np.full(oracle.topology.num_hosts, nic_Bps)
    oracle.topology = dataclasses.replace(oracle.topology, nic_Bps=every)

    found = remap(oracle, dataclasses.replace(HEAVY, sent=ring, metric="hops"))

    # The mean over the hosts is added to the busiest part, and has all that a host sends in a row.
    assert found.now_s == pytest.approx(busiest_s + 2 * PAIR_S, rel=1e-3)


def test_second_question_moves_nothing(oracle: Oracle) -> None:
    first = remap(oracle, HEAVY)

    second = remap(
        oracle, dataclasses.replace(HEAVY, task_of_process=first.task_of_process.tolist())
    )

    assert second.task_of_process.tolist() == first.task_of_process.tolist()


def test_tasks_that_stay_on_a_host_stay_with_their_process(oracle: Oracle) -> None:
    twice = tuple(name for name in LINE for _ in range(2))
    heavy = [(2, 4, 1e9), (4, 2, 1e9), (0, 6, 1.0)]

    found = remap(oracle, RemapQuestion(twice, tuple(range(8)), heavy))

    moved = found.task_of_process != np.arange(8)
    host_of_task = dict(zip(found.task_of_process.tolist(), twice, strict=True))
    assert moved.any()
    assert all(host_of_task[task] != twice[task] for task in np.flatnonzero(moved))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"task_of_process": (0, 1, 1, 3)}, "task_of_process: expected each of 0 to 3 once"),
        ({"host_of_process": LINE[:3]}, "host_of_process: expected 4 values, got 3"),
        ({"sent": [(0, 4, 1.0)]}, "sent: there is no task 4"),
        ({"sent": [(0, 1, float("nan"))]}, "sent: bytes must be finite and >= 0, got nan"),
        ({"method": "magic"}, "method: unknown 'magic'; there are launcher, "),
        ({"move_bytes_of_process": [1.0]}, "move_bytes_of_process: expected 4 values, got 1"),
    ],
)
def test_question_that_contradicts_itself_is_refused(
    oracle: Oracle, change: dict, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        remap(oracle, dataclasses.replace(HEAVY, **change))


def test_method_oracle_takes_the_map_of_scotch_whatever_would_be_saved(oracle: Oracle) -> None:
    found = remap(
        oracle,
        dataclasses.replace(
            HEAVY, method="oracle", least_gain_ratio=0.95, repeats_left=1,
            move_bytes_of_process=[1e12] * 4,
        ),
    )  # fmt: skip

    assert host(*STALLS) not in hosts_of(found, 1, 2)
    assert sorted(found.task_of_process) == [0, 1, 2, 3]
    assert np.isnan([found.now_s, found.then_s, found.move_s]).all()
    # 90 % on both links of the slow router: 2e9 bytes cross one of them before.
    assert found.reason.startswith("by stalls the messages cost ")
    assert found.reason.endswith(", before 1.8e+11")


def test_method_oracle_keeps_a_map_that_is_its_own(oracle: Oracle) -> None:
    by_metric = dataclasses.replace(HEAVY, method="oracle")
    first = remap(oracle, by_metric)

    second = remap(
        oracle, dataclasses.replace(by_metric, task_of_process=first.task_of_process.tolist())
    )

    assert hosts_of(second, 1, 2) == hosts_of(first, 1, 2)


def test_coordinates_decide_by_geometric_and_are_no_trouble_for_others(oracle: Oracle) -> None:
    # The line of tasks is 2, 0, 3, 1, and so is then that on the line of hosts.
    line = [[1.0], [3.0], [0.0], [2.0]]
    geometric = dataclasses.replace(
        HEAVY, sent=[(2, 0, 1e9), (0, 3, 1e9), (3, 1, 1e9)], metric="hops", method="geometric",
        coordinates_of_task=line,
    )  # fmt: skip

    found = remap(oracle, geometric)
    other = remap(oracle, dataclasses.replace(HEAVY, coordinates_of_task=line))

    assert found.task_of_process.tolist() == [2, 0, 3, 1]
    assert other.task_of_process.tolist() == remap(oracle, HEAVY).task_of_process.tolist()
