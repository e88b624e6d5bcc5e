# SPDX-License-Identifier: Apache-2.0
"""The noise of all pairs together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.noise import BANDWIDTH_RATIO, NORMAL_95, log_spread, with_pooled_noise


def network(spread: np.ndarray, samples: np.ndarray | None) -> fl.Network:
    """Five hosts at 1e8 B/s whose intervals have these spreads."""
    bandwidth_Bps = np.full((5, 5), 1e8)
    return fl.Network(
        list("abcde"),
        np.zeros((5, 5)),
        bandwidth_Bps,
        bandwidth_low_Bps=bandwidth_Bps * np.exp(-NORMAL_95 * spread),
        bandwidth_high_Bps=bandwidth_Bps * np.exp(NORMAL_95 * spread),
        samples=samples,
    )


def spread_of(found: fl.Network) -> np.ndarray:
    spread = log_spread(found.bandwidth_low_Bps, found.bandwidth_high_Bps)
    assert spread is not None
    return spread


def test_spread_is_that_of_the_lognormal_distribution() -> None:
    spread = log_spread(np.full((2, 2), np.exp(-0.196)), np.full((2, 2), np.exp(0.196)))
    assert spread == pytest.approx(np.full((2, 2), 0.1), rel=1e-4)


def test_one_late_message_does_not_make_its_pair_noisier_than_the_others() -> None:
    spread = np.full((5, 5), 0.2)
    spread[1, 3] = 2.0
    found = with_pooled_noise(network(spread, np.full((5, 5), 12)))
    assert spread_of(found) == pytest.approx(np.full((5, 5), 0.2 * BANDWIDTH_RATIO))


def test_messages_that_waited_and_arrive_at_once_say_nothing_of_the_network() -> None:
    calm = network(np.full((5, 5), 0.2), np.full((5, 5), 12))
    busy = dataclasses.replace(calm, bandwidth_high_Bps=np.full((5, 5), 3e10))
    found = with_pooled_noise(busy)
    assert spread_of(found) == pytest.approx(np.full((5, 5), 0.2 * BANDWIDTH_RATIO))


def test_estimated_pairs_keep_their_own_error_bars() -> None:
    spread, samples = np.full((5, 5), 0.2), np.full((5, 5), 12)
    spread[1, 3], samples[1, 3] = 2.0, 0
    found = spread_of(with_pooled_noise(network(spread, samples)))
    assert found[1, 3] == pytest.approx(2.0)
    assert found[3, 1] == pytest.approx(0.2 * BANDWIDTH_RATIO)


def test_a_network_that_was_not_sampled_is_as_exact_as_it_says() -> None:
    given = network(np.full((5, 5), 0.2), None)
    assert with_pooled_noise(given) is given
