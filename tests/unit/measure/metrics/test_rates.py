# SPDX-License-Identifier: Apache-2.0
"""Counters become rates; what no counter does is counted and left out."""

from __future__ import annotations

import numpy as np
import pytest

from fairlead.measure.metrics.rates import Faults, Rates, means, rates

Samples = list[tuple[float, float]]


def rate(
    samples: Samples, window_s: float = 60.0, largest: float = 2.0**64, fastest: float = np.nan
) -> Rates:
    """The rate of one counter by its samples (time, value), up to now = 100 s."""
    times_s, values = (np.array([column], dtype=float) for column in zip(*samples, strict=True))
    return rates(
        times_s, values, 100.0, window_s, largest=np.array([largest]), fastest=np.array([fastest])
    )


def test_rate_is_growth_over_time() -> None:
    found = rate([(at, 7.0 * at) for at in (60, 70, 80, 100)])

    assert found.values.tolist() == [7.0]
    assert found.newest_s.tolist() == [100.0]
    assert found.faults == Faults()


def test_only_the_window_counts() -> None:
    before = [(at, 1000.0 * at) for at in (10, 20, 30)]
    after = [(at, 30_000 + 2.0 * at) for at in (80, 90, 100)]

    assert rate([*before, *after], window_s=30.0).values.tolist() == [2.0]


@pytest.mark.parametrize("bits", [32, 48, 64])
def test_counter_that_wraps_round_is_counted_on(bits: int) -> None:
    step = 2.0 ** (bits - 4)
    samples = [(50.0 + 10 * i, (2.0**bits - 2 * step + i * step) % 2.0**bits) for i in range(5)]

    found = rate(samples, largest=2.0**bits)

    assert found.values.tolist() == [step / 10]
    assert found.faults == Faults(wrapped=1)


@pytest.mark.parametrize(
    ("samples", "fastest", "faults"),
    [
        ([(70, 9000), (80, 9100), (90, 50), (100, 150)], np.nan, Faults(restarted=1)),
        # It was above half of its range, but no link is as fast as a wrap would mean.
        ([(70, 3e9), (80, 3e9 + 100), (90, 0), (100, 100)], 50.0, Faults(restarted=1)),
        ([(42, 100), (44, 120), (46, 140), (98, 9980), (100, 10000)], np.nan, Faults(gaps=1)),
        ([(80, 800), (90, 900), (90, 5000), (100, 1000)], np.nan, Faults(duplicates=1)),
        ([(80, 800), (90, 900), (70, 950), (100, 1000)], np.nan, Faults(clock_jumps=1)),
        ([(80, 800), (500, 850), (90, 900), (100, 1000)], np.nan, Faults(clock_jumps=1)),
        ([(80, 800), (90, -5), (100, 1000)], np.nan, Faults(negative=1)),
        ([(70, 700), (80, 800), (90, 1e8), (100, 1e8 + 100)], 50.0, Faults(impossible=1)),
    ],
)
def test_samples_that_cannot_be_are_left_out(
    samples: Samples, fastest: float, faults: Faults
) -> None:
    found = rate(samples, largest=2.0**32, fastest=fastest)

    assert found.values.tolist() == [10.0]
    assert found.faults == faults


def test_single_sample_has_no_rate() -> None:
    found = rate([(90, 900)])

    assert np.isnan(found.values).all() and np.isnan(found.newest_s).all()


@pytest.mark.parametrize(
    ("before_s", "rate_Bps"), [([15.0], 10.0), ([-45.0, 15.0], 10.0), ([-40.0], np.nan)]
)
def test_sample_before_a_window_counts_where_it_has_one(
    before_s: list[float], rate_Bps: float
) -> None:
    # Prometheus scrapes once a minute, and the window is as long.
    found = rate([(at, 10 * at + 1000) for at in (*before_s, 75.0)])

    assert found.values == pytest.approx([rate_Bps], nan_ok=True)


def test_no_sample_is_missing_and_not_0() -> None:
    found = means(np.full((1, 3), np.nan), np.full((1, 3), np.nan), 100.0, 60.0)

    assert np.isnan(found.values).all()


def test_mean_leaves_out_negative_shares() -> None:
    found = means(np.array([[80.0, 90.0, 100.0]]), np.array([[0.2, -0.5, 0.4]]), 100.0, 60.0)

    assert found.values == pytest.approx([0.3])
    assert found.faults == Faults(negative=1)


def test_each_counter_is_reckoned_by_itself() -> None:
    times_s = np.array([[np.nan, 90.0, 100.0], [80.0, 90.0, 100.0]])
    values = np.array([[np.nan, 0.0, 50.0], [0.0, 10.0, 20.0]])

    found = rates(
        times_s, values, 100.0, 60.0, largest=np.full(2, 2.0**64), fastest=np.full(2, np.nan)
    )

    assert found.values.tolist() == [5.0, 1.0]
