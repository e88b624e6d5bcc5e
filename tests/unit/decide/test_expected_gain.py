# SPDX-License-Identifier: Apache-2.0
"""The expected gain, and whether the measurement can distinguish it from noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.expected_gain import expected_gain
from fairlead.model.bottleneck_group import BottleneckGroup


def network(slow_Bps: float, spread_ratio: float) -> fl.Network:
    """Four hosts; a-b and c-d at 100 B/s, everything else at `slow_Bps`."""
    bandwidth_Bps = np.full((4, 4), slow_Bps)
    for src, dst in ((0, 1), (1, 0), (2, 3), (3, 2)):
        bandwidth_Bps[src, dst] = 100.0
    np.fill_diagonal(bandwidth_Bps, np.inf)
    return fl.Network(
        ["a", "b", "c", "d"],
        np.zeros((4, 4)),
        bandwidth_Bps,
        bandwidth_low_Bps=bandwidth_Bps / (1 + spread_ratio),
        bandwidth_high_Bps=bandwidth_Bps * (1 + spread_ratio),
    )


def two_talking_pairs() -> fl.Traffic:
    sent = np.zeros((4, 4))
    sent[0, 1] = sent[2, 3] = 1000.0
    return fl.Traffic(bytes=sent, messages=sent > 0)


APART = fl.Placement(["a", "b", "c", "d"], np.array([0, 2, 1, 3]))
TOGETHER = fl.Placement(["a", "b", "c", "d"], np.array([0, 1, 2, 3]))


def test_gain_is_the_saved_share_of_communication_time() -> None:
    # 1000 B over 25 B/s twice is 80 s; over 100 B/s it is 20 s.
    gain = expected_gain(TOGETHER, APART, two_talking_pairs(), network(25.0, 0.0))
    assert gain.ratio == pytest.approx(1 - 20 / 80)
    assert gain.low_ratio == gain.high_ratio == pytest.approx(gain.ratio)
    assert gain.is_beyond_noise


def test_gain_inside_the_noise_is_called_so() -> None:
    gain = expected_gain(TOGETHER, APART, two_talking_pairs(), network(98.0, 0.2))
    assert gain.low_ratio < gain.ratio < gain.high_ratio
    assert not gain.is_beyond_noise


def test_large_gain_stands_out_of_the_same_noise() -> None:
    gain = expected_gain(TOGETHER, APART, two_talking_pairs(), network(25.0, 0.2))
    assert gain.is_beyond_noise
    assert 0.6 < gain.low_ratio < 0.75 < gain.high_ratio < 0.9


def test_interval_matches_the_lognormal_ratio() -> None:
    # One message on one pair: the gain is 1 - X / Y with X and Y lognormal of sigma s each,
    # so that log(1 - gain) is normal around log(1/4) with standard deviation s * sqrt(2).
    sent = np.zeros((4, 4))
    sent[0, 1] = 1000.0
    gain = expected_gain(TOGETHER, APART, fl.Traffic(bytes=sent, messages=sent), network(25.0, 0.2))
    half_width = np.log(1.2) * np.sqrt(2)
    assert np.log(1 - gain.low_ratio) == pytest.approx(np.log(0.25) + half_width, abs=0.08)
    assert np.log(1 - gain.high_ratio) == pytest.approx(np.log(0.25) - half_width, abs=0.08)


def test_latency_measured_once_for_both_directions_errs_once() -> None:
    # As above, with a message each way on one pair: the sum errs as much as each of the two.
    latency_s = np.where(network(25.0, 0.0).bandwidth_Bps == 100.0, 1e-5, 4e-5)
    np.fill_diagonal(latency_s, 0)
    probed = fl.Network(
        ["a", "b", "c", "d"],
        latency_s,
        np.full((4, 4), np.inf),
        latency_low_s=latency_s / 1.2,
        latency_high_s=latency_s * 1.2,
    )
    messages = np.zeros((4, 4))
    messages[0, 1] = messages[1, 0] = 1.0
    traffic = fl.Traffic(bytes=np.zeros((4, 4)), messages=messages)
    gain = expected_gain(TOGETHER, APART, traffic, probed)
    half_width = np.log(1.2) * np.sqrt(2)
    assert np.log(1 - gain.low_ratio) == pytest.approx(np.log(0.25) + half_width, abs=0.08)
    assert np.log(1 - gain.high_ratio) == pytest.approx(np.log(0.25) - half_width, abs=0.08)


def test_no_traffic_gains_nothing() -> None:
    silent = fl.Traffic(bytes=np.zeros((4, 4)), messages=np.zeros((4, 4)))
    gain = expected_gain(TOGETHER, APART, silent, network(25.0, 0.2))
    assert gain.ratio == 0
    assert not gain.is_beyond_noise


def test_pair_without_interval_is_as_uncertain_as_the_others() -> None:
    known = network(25.0, 0.2)
    assert known.bandwidth_low_Bps is not None
    low_Bps = known.bandwidth_low_Bps.copy()
    low_Bps[0, 1] = low_Bps[0, 2] = np.nan
    unsure = dataclasses.replace(known, bandwidth_low_Bps=low_Bps)
    sent = np.zeros((4, 4))
    sent[0, 1] = 1000.0
    traffic = fl.Traffic(bytes=sent, messages=sent)
    assert expected_gain(TOGETHER, APART, traffic, unsure) == expected_gain(
        TOGETHER, APART, traffic, known
    )


def test_gain_of_the_bottleneck_counts_the_worst_transfer_only() -> None:
    # Apart, both pairs of ranks are on slow pairs of hosts; half way, one of them still is: half
    # the time for all messages one after the other, but as long where they go at the same time.
    half_way = fl.Placement(["a", "b", "c", "d"], np.array([0, 1, 2, 2]))
    slow = network(25.0, 0.0)
    slow.bandwidth_Bps[0, 1] = 25.0
    arguments = (half_way, APART, two_talking_pairs(), slow)
    assert expected_gain(*arguments).ratio == pytest.approx(1 / 2)
    assert expected_gain(*arguments, cost="bottleneck_s").ratio == pytest.approx(0)


def test_uncertain_capacity_of_a_group_makes_the_gain_uncertain() -> None:
    # All pairs are exact. The slow ones share a bottleneck whose capacity may be 3 or 300 B/s: at
    # 30 the shared 2000 B take 67 s, and 10 s each inside.
    capacity_Bps = 30.0
    between = [(src, dst) for src in (0, 1) for dst in (2, 3)]
    group = BottleneckGroup(
        np.array(between), capacity_Bps, capacity_low_Bps=3.0, capacity_high_Bps=300.0
    )
    shared = dataclasses.replace(network(100.0, 0.0), groups=[group])
    gain = expected_gain(TOGETHER, APART, two_talking_pairs(), shared, cost="bottleneck_s")
    assert gain.ratio == pytest.approx(1 - 10 / (2000 / 30))
    assert gain.low_ratio < 0.3
    assert gain.high_ratio > 0.97


def test_uncertain_flows_make_interfaces_uncertain() -> None:
    # Interfaces carry 50 B/s, less than any pair: what they carry errs as the flows through them.
    narrow = dataclasses.replace(
        network(100.0, 0.2), nic_out_Bps=np.array([50.0, 25.0, 50.0, 50.0])
    )
    other = fl.Placement(["a", "b", "c", "d"], np.array([1, 0, 2, 3]))
    gain = expected_gain(TOGETHER, other, two_talking_pairs(), narrow, cost="bottleneck_s")
    assert gain.ratio == pytest.approx(0.5)
    assert gain.high_ratio - gain.low_ratio > 0.1


def test_risk_of_a_loss_is_the_share_of_draws_that_lose() -> None:
    even = network(100.0, 0.2)
    gain = expected_gain(TOGETHER, APART, two_talking_pairs(), even)
    assert 0.2 < gain.loss_risk < 0.8
    assert expected_gain(TOGETHER, APART, two_talking_pairs(), network(25.0, 0.2)).loss_risk == 0
