# SPDX-License-Identifier: Apache-2.0
"""Statistics against closed forms, brute force and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from fairlead.errors import InputError, ShapeError
from fairlead.flows.compare import statistics


def test_t_interval_matches_the_tabulated_quantile():
    # t(0.975, 4) = 2.776445 (any t table); sd of 1..5 is sqrt(2.5).
    half = 2.776445 * math.sqrt(2.5) / math.sqrt(5)

    interval = statistics.mean_interval([1, 2, 3, 4, 5])

    assert interval == pytest.approx((3, 3 - half, 3 + half), rel=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_t_interval_is_scipys(confidence):
    values = [6.1, 5.8, 6.4, 6.0, 9.9]
    expected = scipy.stats.t.interval(
        confidence, 4, loc=np.mean(values), scale=scipy.stats.sem(values)
    )

    assert statistics.mean_interval(values, confidence)[1:] == pytest.approx(expected)


def test_standard_deviation_divides_by_one_less():
    assert statistics.standard_deviation([2, 4]) == pytest.approx(math.sqrt(2))


def test_one_value_says_nothing_of_the_spread():
    assert math.isnan(statistics.standard_deviation([2.0]))
    assert math.isnan(statistics.mean_interval([2.0]).low)


def test_paired_ratio_is_blind_to_what_both_runs_share():
    mood = np.array([1.0, 1.7, 0.6, 2.2])

    ratio = statistics.ratio_to_baseline(3 * mood, 6 * mood)

    assert ratio == pytest.approx((0.5, 0.5, 0.5))


def test_paired_ratio_is_the_geometric_mean_and_inverts():
    forward = statistics.ratio_to_baseline([1, 8, 3], [1, 2, 3])
    backward = statistics.ratio_to_baseline([1, 2, 3], [1, 8, 3])

    assert forward.value == pytest.approx(4 ** (1 / 3))
    assert backward == pytest.approx((1 / forward.value, 1 / forward.high, 1 / forward.low))


def test_unpaired_ratio_covers_the_truth_as_often_as_it_claims():
    random = np.random.default_rng(1)

    def covers():
        values, baseline = random.normal(3, 0.2, 7), random.normal(6, 0.6, 10)
        return statistics.ratio_to_baseline(values, baseline).contains(0.5)

    share = np.mean([covers() for _ in range(1500)])

    assert share == pytest.approx(0.95, abs=0.02)


def test_unpaired_ratio_without_noise_is_exact():
    assert statistics.ratio_to_baseline([3, 3], [6, 6, 6]) == pytest.approx((0.5, 0.5, 0.5))


def test_kendall_tau_and_p_are_those_of_all_permutations():
    left, right = [1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 30.0, 20.0, 40.0, 50.0]

    def tau(order):
        pairs = list(itertools.combinations(range(5), 2))
        return sum(1 if order[a] < order[b] else -1 for a, b in pairs) / len(pairs)

    every = [abs(tau(order)) for order in itertools.permutations(right)]
    found = statistics.kendall_tau(left, right)

    assert found.tau == pytest.approx(tau(right)) == pytest.approx(0.8)
    assert found.p_value == pytest.approx(np.mean(np.array(every) >= 0.8 - 1e-12))


@pytest.mark.parametrize(("left", "right"), [([], []), ([1], [2]), ([1, 1], [1, 2])])
def test_kendall_tau_is_undefined_without_a_ranking(left, right):
    assert math.isnan(statistics.kendall_tau(left, right).tau)


def test_unknown_interval_excludes_nothing():
    assert statistics.Interval(2.0, math.nan, math.nan).contains(1.0)
    assert not statistics.Interval(2.0, 1.5, 2.5).contains(1.0)


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, 1]])
def test_values_that_are_no_measurement_are_refused(values):
    with pytest.raises(InputError):
        statistics.mean(values)


def test_ratio_refuses_what_has_no_logarithm():
    with pytest.raises(InputError, match="> 0, got 0"):
        statistics.ratio_to_baseline([1, 0], [1, 1])


def test_rankings_of_different_things_are_refused():
    with pytest.raises(ShapeError, match="2 values against 3"):
        statistics.kendall_tau([1, 2], [1, 2, 3])


def test_confidence_outside_its_range_is_refused():
    with pytest.raises(InputError, match="between 0 and 1, got 95"):
        statistics.mean_interval([1, 2], confidence=95)


def test_tau_of_a_clear_order_is_certain_and_of_its_reverse_too():
    times_s = [[1.0, 1.1], [2.0, 2.1], [3.0, 3.1], [4.0, 4.1]]

    assert statistics.kendall_tau_interval([1, 2, 3, 4], times_s, seed=0) == (1, 1, 1)
    assert statistics.kendall_tau_interval([4, 3, 2, 1], times_s, seed=0) == (-1, -1, -1)


def test_tau_is_less_certain_where_the_runs_differ():
    steady = [[index, index + 0.1] for index in range(8)]
    noisy = [[index, index + 9.0 * (index % 3)] for index in range(8)]

    clear, blurred = (
        statistics.kendall_tau_interval(range(8), times_s, seed=0) for times_s in (steady, noisy)
    )
    assert blurred.high - blurred.low > clear.high - clear.low == 0
    assert blurred.low <= blurred.value <= blurred.high


def test_predictions_that_are_all_alike_rank_nothing():
    tau = statistics.kendall_tau_interval([1, 1, 1], [[1.0], [2.0], [3.0]], seed=0)

    assert all(math.isnan(bound) for bound in tau)


def test_runs_agree_with_runs_as_far_as_their_halves_do():
    # The first halves rank 0, 1, 2, the second 0, 2, 1: one of three pairs is turned round.
    times_s = [[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]]

    assert statistics.kendall_tau_of_repeats(times_s) == pytest.approx(1 / 3)
    assert math.isnan(statistics.kendall_tau_of_repeats([[1.0], [2.0]]))
