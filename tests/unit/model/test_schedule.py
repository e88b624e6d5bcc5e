# SPDX-License-Identifier: Apache-2.0
"""Schedules are checked when they are made, and read back from JSON as they were."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.model.schedule import Schedule

TWO_TREES = Schedule(
    operation="bcast",
    form="forest",
    method="forest",
    num_hosts=4,
    root=0,
    message_bytes=1000,
    predicted_s=0.1,
    lower_bound_s=1 / 3,
    trees=((-1, 0, 1, 1), (-1, 2, 0, 2)),
    tree_of_segment=(0, 1),
    share_of_segment=(0.3, 0.7),
    window=1,
)
GROUPED = Schedule(
    operation="reduce",
    form="levels",
    method="cmpi",
    num_hosts=4,
    root=1,
    levels=(((1, 2),), ((1, 0), (2, 3))),
)


@pytest.mark.parametrize("schedule", [TWO_TREES, GROUPED])
def test_json_reads_back_as_it_was(schedule: Schedule) -> None:
    assert Schedule.from_json(schedule.to_json()) == schedule


def test_parent_is_one_row_for_each_tree() -> None:
    assert TWO_TREES.parent is not None
    assert TWO_TREES.parent.tolist() == [[-1, 0, 1, 1], [-1, 2, 0, 2]]


def test_parent_of_a_single_tree_is_one_row() -> None:
    schedule = dataclasses.replace(
        TWO_TREES, trees=((-1, 0, 1, 1),), tree_of_segment=(0,), share_of_segment=(1.0,)
    )

    assert schedule.parent is not None
    assert np.array_equal(schedule.parent, [-1, 0, 1, 1])


def test_form_without_trees_has_no_parent() -> None:
    assert GROUPED.parent is None


def test_schedule_without_a_possible_execution_is_refused() -> None:
    with pytest.raises(InputError, match="shares do not add up to 1"):
        dataclasses.replace(TWO_TREES, share_of_segment=(0.3, 0.6))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"kind": "schedule"', '"kind": "placement"', "kind"),
        ('"version": 1', '"version": 2', "version"),
        ('"root": 0', '"root": "x"', "root"),
        ('"operation": "bcast", ', "", "operation"),
    ],
)
def test_json_of_another_kind_or_shape_is_refused(old: str, new: str, problem: str) -> None:
    text = TWO_TREES.to_json()
    assert old in text

    with pytest.raises(InputError, match=problem):
        Schedule.from_json(text.replace(old, new))
