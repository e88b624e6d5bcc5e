# SPDX-License-Identifier: Apache-2.0
"""The readings of MJ in bench/oracle cut tasks and cores alike, and fill each node."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "bench" / "oracle"))

from mj_readings import MJ_READINGS, hosts_by, in_halves
from paper_machine import host_of_rank


@pytest.mark.parametrize("reading", MJ_READINGS)
def test_a_grid_of_tasks_goes_on_a_like_grid_of_cores_as_it_is(reading: str) -> None:
    tasks = np.array(list(np.ndindex(4, 4, 4)), dtype=float)
    order = np.random.default_rng(1).permutation(64)

    core_of_task = MJ_READINGS[reading](tasks, tasks[order])

    assert np.array_equal(tasks[order][core_of_task], tasks)


@pytest.mark.parametrize("reading", MJ_READINGS)
def test_each_node_of_the_program_gets_four_tasks(reading: str) -> None:
    hosts = hosts_by(MJ_READINGS[reading])

    assert Counter(hosts) == Counter(host_of_rank())


def test_halves_are_cut_along_what_is_longest_then() -> None:
    # First along y (0 to 9), then each half along x (0 to 3).
    tasks = np.array([[0.0, 0.0], [3.0, 1.0], [0.0, 9.0], [3.0, 8.0]])
    cores = np.array([[3.0, 7.0], [0.0, 9.0], [3.0, 0.0], [0.0, 2.0]])

    assert in_halves(tasks, cores).tolist() == [3, 2, 1, 0]
