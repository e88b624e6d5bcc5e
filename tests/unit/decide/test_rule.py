# SPDX-License-Identifier: Apache-2.0
"""When a placement is worth taking."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

import fairlead as fl
from fairlead.decide.expected_gain import TOLERATED_RATIO, Gain
from fairlead.decide.rule import LEAST_BETTER_RATIO, LEAST_ERROR, Rule, dropped_by, rehearsed_gain


def test_a_likely_saving_with_a_small_risk_is_taken_though_no_gain_is_proved() -> None:
    unproved = Gain(0.2, -0.05, 0.4, loss_risk=0.04)
    assert Rule().accepts(unproved)
    assert not Rule(risk=0.03).accepts(unproved)


def test_a_saving_too_small_to_matter_is_not_taken() -> None:
    assert not Rule().accepts(Gain(0.01, 0.005, 0.015, loss_risk=0.0))
    assert Rule(least_ratio=0.01).accepts(Gain(0.01, 0.005, 0.015, loss_risk=0.0))


def test_hopeless_is_what_even_at_best_saves_too_little() -> None:
    assert Rule().is_hopeless(Gain(0.0, -0.01, 0.015))
    assert not Rule().is_hopeless(Gain(0.0, -0.2, 0.2))


def test_rehearsed_gain_is_that_of_the_mean_ratio_with_students_interval() -> None:
    # Four ratios around 1/2: the standard error of the mean logarithm is s / 2, and Student's t
    # of three degrees of freedom has its 97.5 % quantile at 3.182 (any table).
    log_ratios = np.log(0.5) + np.array([-0.1, -0.1, 0.1, 0.1])
    gain = rehearsed_gain(log_ratios)
    error = np.std(log_ratios, ddof=1) / 2
    assert gain.ratio == pytest.approx(0.5)
    assert gain.low_ratio == pytest.approx(1 - 0.5 * np.exp(3.182 * error), abs=1e-3)
    assert gain.high_ratio == pytest.approx(1 - 0.5 * np.exp(-3.182 * error), abs=1e-3)
    assert gain.loss_risk < 0.01


def test_risk_of_a_loss_is_how_often_another_mean_would_be_slower() -> None:
    # The mean of normal values with a known spread, drawn anew often, against the estimate.
    random = np.random.default_rng(3)
    gain = rehearsed_gain(random.normal(0.0, 0.1, 2000))
    means = random.normal(np.log1p(-gain.ratio), 0.1 / np.sqrt(2000), 100_000)
    is_loss = means > np.log1p(TOLERATED_RATIO)
    assert gain.loss_risk == pytest.approx(np.mean(is_loss), abs=0.01)


def test_rounds_that_agree_by_chance_are_not_certain() -> None:
    gain = rehearsed_gain(np.full(3, np.log(0.9)))
    assert gain.high_ratio - gain.low_ratio > 2 * LEAST_ERROR


def test_means_of_separate_rehearsals_add_up_with_welchs_interval() -> None:
    """SciPy's test of a difference of means knows the same sum, where one of them is negative."""
    random = np.random.default_rng(4)
    first, second = random.normal(-0.5, 0.1, 5), random.normal(-0.2, 0.04, 12)
    welch = scipy.stats.ttest_ind(first, -second, equal_var=False).confidence_interval()

    gain = rehearsed_gain(first, second)

    assert gain.ratio == pytest.approx(1 - np.exp(first.mean() + second.mean()))
    assert gain.low_ratio == pytest.approx(1 - np.exp(welch.high))
    assert gain.high_ratio == pytest.approx(1 - np.exp(welch.low))


def test_the_largest_accepted_saving_is_taken_before_a_larger_one_at_risk() -> None:
    risky, small, good = Gain(0.5, -1, 1, 0.4), Gain(0.1, 0, 0.2), Gain(0.3, 0.1, 0.4)
    assert Rule().best([risky, small, good]) == (2, True)
    assert Rule().best([small, risky]) == (0, True)
    assert Rule(least_ratio=0.6).best([small, risky]) == (1, False)
    assert Rule().best([]) == (None, False)


def test_what_promises_no_more_than_a_placement_that_proved_slower_is_dropped() -> None:
    placements = [fl.Placement(["a", "b"], np.array([host, 0])) for host in (0, 1)]
    dropped, other = placements

    def cost_s(promised_s: float) -> Callable[[fl.Placement], float]:
        return lambda placement: 1.0 if placement is dropped else promised_s

    assert dropped_by([dropped], cost_s(1.0 - 0.9 * LEAST_BETTER_RATIO))(other)
    assert not dropped_by([dropped], cost_s(1.0 - 1.1 * LEAST_BETTER_RATIO))(other)
    assert not dropped_by([], cost_s(1.0))(other)
