# SPDX-License-Identifier: Apache-2.0
"""What rates alone promise of relays, of a program of which nothing is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from instances import network, racks

import fairlead as fl
from fairlead.decide.first_run import LEAST_SAVING, expect_first_saving, sure_pairs
from fairlead.decide.host_paths import path_table


def saving(known: fl.Network) -> tuple[float, int]:
    every = np.ones(known.bandwidth_Bps.shape, dtype=bool)
    found = expect_first_saving(known, path_table(known), every)
    return found.ratio, found.num_pairs


def with_interfaces(known: fl.Network, rate_Bps: float) -> fl.Network:
    nics = np.full(known.num_hosts, rate_Bps)
    return dataclasses.replace(known, nic_out_Bps=nics, nic_in_Bps=nics)


def test_pairs_with_rates_of_their_own_are_promising() -> None:
    rates_Bps = 1e8 * np.random.default_rng(1).lognormal(0, 0.7, (8, 8))
    assert saving(network(rates_Bps))[0] > 2 * LEAST_SAVING


def test_an_even_network_is_not() -> None:
    even = network(np.full((8, 8), 1e8))
    assert saving(even) == (0.0, 0)
    assert saving(with_interfaces(even, 1.1e8)) == (0.0, 0)


def test_connections_that_are_limited_one_by_one_are() -> None:
    even = network(np.full((8, 8), 1e8))
    assert saving(with_interfaces(even, 5e8)) == (pytest.approx(0.8, abs=0.01), 56)


def test_racks_are_not_since_their_pairs_share_an_uplink() -> None:
    """Several paths, and several connections, would seem to be faster between racks."""
    known = racks([0, 0, 0, 0, 1, 1, 1, 1])
    assert saving(known) == (0.0, 0)
    assert saving(with_interfaces(known, 125e6)) == (0.0, 0)


def test_one_slow_pair_counts_as_one_of_all() -> None:
    rates_Bps = np.full((8, 8), 1e8)
    rates_Bps[2, 5] = 5e7
    ratio, num_pairs = saving(network(rates_Bps))
    assert num_pairs == 1
    assert 0 < ratio < LEAST_SAVING


def test_pairs_that_a_quick_probe_alone_has_seen_do_not_count() -> None:
    known = network(1e8 * np.random.default_rng(1).lognormal(0, 0.7, (8, 8)))
    none = np.zeros((8, 8), dtype=bool)
    assert expect_first_saving(known, path_table(known), none).ratio == 0.0
    limited = with_interfaces(network(np.full((8, 8), 1e8)), 5e8)
    assert expect_first_saving(limited, path_table(limited), none).ratio == 0.0


def test_a_pair_is_sure_where_one_that_does_not_differ_was_measured() -> None:
    rates_Bps = np.array([[np.inf, 5e7, 5.2e7], [1e7, np.inf, 1e8], [4e7, 1e7, np.inf]])
    is_measured = np.eye(3, dtype=bool)
    assert not sure_pairs(rates_Bps, is_measured).any()
    is_measured[0, 1] = True
    assert np.argwhere(sure_pairs(rates_Bps, is_measured)).tolist() == [[0, 1], [0, 2]]
