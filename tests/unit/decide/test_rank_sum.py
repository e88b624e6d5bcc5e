# SPDX-License-Identifier: Apache-2.0
"""The exact rank-sum test, against a count of all orders."""

from __future__ import annotations

import itertools

import pytest

from fairlead.decide.rank_sum import rank_sum_risk


def by_counting(larger: list[float], smaller: list[float]) -> float:
    """All ways to deal the values out to samples of these sizes."""
    values = [*larger, *smaller]
    places = range(len(values))

    def num_pairs(first: tuple[int, ...]) -> int:
        rest = [place for place in places if place not in first]
        return sum(values[one] > values[other] for one in first for other in rest)

    seen = num_pairs(tuple(range(len(larger))))
    deals = list(itertools.combinations(places, len(larger)))
    return sum(num_pairs(deal) >= seen for deal in deals) / len(deals)


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]),
        ([4.0, 2.5, 6.0], [1.0, 2.0, 3.0]),
        ([1.0], [2.0, 3.0]),
        ([3.0, 9.0], [1.0, 2.0, 5.0, 4.0, 8.0]),
        ([1.5, 7.0, 6.5, 3.5], [1.0, 2.0, 5.0, 4.0]),
    ],
)
def test_risk_is_the_part_of_all_orders(larger: list[float], smaller: list[float]) -> None:
    assert rank_sum_risk(larger, smaller) == pytest.approx(by_counting(larger, smaller))


def test_without_runs_of_both_nothing_is_shown() -> None:
    assert rank_sum_risk([], [1.0, 2.0]) == 1
    assert rank_sum_risk([1.0], []) == 1
