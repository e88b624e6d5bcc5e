# SPDX-License-Identifier: Apache-2.0
"""The saving by paired times, and its interval without a distribution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fairlead.decide.paired_median import paired_gain


def test_gain_is_that_of_the_median_ratio() -> None:
    gain = paired_gain(np.array([1.0, 4.0, 3.0]), np.array([2.0, 4.0, 4.0]))

    assert gain.ratio == pytest.approx(0.25)


def test_load_that_slows_a_round_changes_nothing() -> None:
    load = np.array([1, 1, 5, 1, 9, 1, 1, 1.0])

    gain = paired_gain(0.5 * load, load)

    assert (gain.ratio, gain.low_ratio, gain.high_ratio) == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize(("count", "is_known"), [(5, False), (6, True)])
def test_95_percent_need_six_pairs(count: int, is_known: bool) -> None:
    # All of n values on one side of the median: 2 / 2^n, which is 0.0625 for 5 and 0.031 for 6.
    gain = paired_gain(np.linspace(0.5, 0.6, count), np.ones(count))

    assert np.isfinite(gain.low_ratio) == is_known


@pytest.mark.parametrize("count", [8, 11])
def test_interval_covers_the_median_as_often_as_it_says(count: int) -> None:
    # Every pattern of values below and above the true median is equally likely.
    covered = 0
    for signs in itertools.product((-0.1, 0.1), repeat=count):
        spread = np.array(signs) * (1 + np.arange(count) / count)
        gain = paired_gain(1 + spread, np.ones(count))
        covered += gain.low_ratio <= 0 <= gain.high_ratio

    assert 0.95 <= covered / 2**count < 1


def test_higher_confidence_is_a_wider_interval() -> None:
    times_s = np.linspace(0.5, 0.9, 20)

    narrow = paired_gain(times_s, np.ones(20))
    wide = paired_gain(times_s, np.ones(20), 0.99)

    assert wide.low_ratio < narrow.low_ratio < narrow.high_ratio < wide.high_ratio
