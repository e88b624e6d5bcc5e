# SPDX-License-Identifier: Apache-2.0
"""Noise is not reported as fact, and does not empty the charts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from report_samples import two_racks

import fairlead as fl
from fairlead.report.network_charts import network_charts
from fairlead.report.noise import contrast
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import SECONDS
from fairlead.report.summary import sentences
from fairlead.report.value_axis import ValueAxis

HOSTS = [f"node{number}" for number in range(8)]
MICROSECONDS = SECONDS[1]


def flat(num_hosts, seed):
    """Equal pairs with lognormal noise, and exact 95 % intervals of it."""
    rng = np.random.default_rng(seed)
    shape = (num_hosts, num_hosts)
    latency_s, bandwidth_bps = (
        middle * np.exp(rng.normal(0, 0.5, shape)) for middle in (50e-6, 1e8)
    )
    wide = np.exp(0.5 * 1.96)
    return fl.Network(
        [f"h{host}" for host in range(num_hosts)],
        *(latency_s, bandwidth_bps, latency_s / wide, latency_s * wide),
        *(bandwidth_bps / wide, bandwidth_bps * wide),
    )


def with_interval(network, src, dst, low, high):
    """The network with another interval of one latency."""
    low_s, high_s = network.latency_low_s.copy(), network.latency_high_s.copy()
    low_s[src, dst], high_s[src, dst] = low, high
    return dataclasses.replace(network, latency_low_s=low_s, latency_high_s=high_s)


@pytest.mark.parametrize("seed", range(10))
def test_equal_pairs_differ_by_no_more_than_the_noise(seed):
    network = flat(16, seed)

    text = " ".join(sentences(RunFiles(network=network)))

    # Values alone lie more than a factor of 5 apart.
    assert network.bandwidth_Bps.max() / network.bandwidth_Bps.min() > 5
    assert text.count("pairs differ by no more than the noise") == 2
    assert "factor" not in text


def test_one_wild_value_is_no_factor():
    network = two_racks(HOSTS)
    rate_bps, low_bps = network.bandwidth_Bps.copy(), network.bandwidth_low_Bps.copy()
    rate_bps[0, 1], low_bps[0, 1] = 1e5, 5e4
    wild = dataclasses.replace(network, bandwidth_Bps=rate_bps, bandwidth_low_Bps=low_bps)

    text = " ".join(sentences(RunFiles(network=wild)))

    assert "Bandwidth is 100 MB/s inside a group of hosts, 20.0 MB/s between groups." in text
    assert "factor" not in text


def test_without_intervals_the_tails_are_compared():
    values = np.append(np.full(50, 1.0), np.full(50, 3.0))

    found = contrast(values, None, None)

    assert (found.low, found.high, found.is_certain) == (1.0, 3.0, False)
    assert contrast(np.array([np.nan]), None, None) is None


def test_uncertain_cells_are_marked_and_counted():
    network = with_interval(two_racks(HOSTS), 0, 1, 20e-6, 900e-6)

    chart = network_charts(network)[0]

    # Even hosts come first: host 1 is in the fifth column.
    assert chart.figure["data"][0]["text"][0][1:5] == ["50.0", "50.0", "50.0", "~200"]
    assert "~ marks what is uncertain (1 of 56 pairs)" in chart.note


def test_uncertain_cells_of_many_hosts_have_dots():
    network = with_interval(two_racks([f"n{host}" for host in range(20)]), 2, 7, 20e-6, 900e-6)

    dots = network_charts(network)[0].figure["data"][1]

    assert (dots["x"], dots["y"]) == (["n7"], ["n2"])


def test_one_interval_does_not_flatten_the_others():
    network = with_interval(two_racks(HOSTS), 0, 1, 180e-6, 0.3)

    chart = next(c for c in network_charts(network) if c.title == "Latency of every pair")

    top = chart.figure["layout"]["yaxis"]["range"][1]
    assert 200 < top < 300
    assert "1 interval goes on, up to 300 ms" in chart.note
    assert len(chart.figure["data"][1]["x"]) == 1
    assert max(chart.figure["data"][0]["error_y"]["array"]) <= top - 200 + 1e-9


def test_axis_shows_all_of_intervals_that_are_not_far_out():
    axis = ValueAxis.of(np.array([10.0, 20.0]), np.array([15.0, 50.0]), MICROSECONDS)

    assert not axis.is_log
    assert axis.low == 0
    assert axis.high >= 50


def test_axis_is_logarithmic_where_values_differ_widely():
    axis = ValueAxis.of(np.array([2.0, 30.0, np.nan]), np.array([3.0, 35.0, np.inf]), MICROSECONDS)

    layout = axis.layout("Latency")
    assert layout["type"] == "log"
    assert layout["ticktext"] == ["2", "5", "10", "20"]
    assert 10 ** layout["range"][0] < 2
    assert 10 ** layout["range"][1] > 35
    assert axis.cut(np.array([0.0]))[0] == axis.low


def test_axis_of_nothing_is_drawn():
    assert ValueAxis.of(np.array([np.nan]), np.empty(0), MICROSECONDS).high == 1
