# SPDX-License-Identifier: Apache-2.0
"""ORACLE's mapping of tasks on a weighted complete graph of cores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fairlead.decide.placement.metric_mapping import MOST_CORES, estimate_costs, map_by_metric
from fairlead.errors import InputError, ShapeError

CHAIN = sp.csr_array(np.diag([5.0, 50.0, 5.0], k=1))
"""Task 1 sends much to task 2; 0 and 3 are the ends of the chain."""

STALLED = np.array([[0, 0, 70, 70], [0, 0, 70, 70], [70, 70, 0, 0], [70, 70, 0, 0]], dtype=float)
"""Cores 0 and 1 on one router, 2 and 3 on another one."""


def test_one_call_finds_the_best_of_all_mappings_of_a_small_chain() -> None:
    best = min(
        estimate_costs(CHAIN, STALLED, np.array(cores)).sum()
        for cores in itertools.permutations(range(4))
    )

    found = map_by_metric(CHAIN, STALLED)

    assert best == 2 * 5 * 70  # the middle pair together, both ends over the links that stall
    assert estimate_costs(CHAIN, STALLED, found).sum() == best


def test_message_costs_its_bytes_times_the_weight_of_its_edge() -> None:
    costs = estimate_costs(CHAIN, STALLED, np.array([0, 2, 3, 1]))

    assert costs.tolist() == [5 * 70, 50 * 0, 5 * 70]


@pytest.mark.parametrize(
    ("weight", "error", "problem"),
    [
        (np.zeros((3, 3)), InputError, "expected 4 to 1024 cores for 4 tasks, got 3"),
        (np.zeros((4, 3)), ShapeError, r"weight: expected a square, got \(4, 3\)"),
        (STALLED - 1, InputError, "weight: each must be finite and >= 0"),
        (np.where(STALLED == 70, np.nan, 0), InputError, "weight: each must be finite and >= 0"),
        (np.triu(STALLED), InputError, "weight: must be the same in both directions"),
    ],
)
def test_graph_that_cannot_be_is_refused(
    weight: np.ndarray, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        map_by_metric(CHAIN, weight)


def test_more_cores_than_scotch_has_room_for_are_refused() -> None:
    with pytest.raises(InputError, match=f"to {MOST_CORES} cores"):
        map_by_metric(CHAIN, np.zeros((MOST_CORES + 1,) * 2))
