# SPDX-License-Identifier: Apache-2.0
"""Paths around slow pairs of hosts."""

from __future__ import annotations

import numpy as np
import pytest

from fairlead.decide.host_paths import faster_pairs, path_table
from fairlead.errors import InputError, TopologyError
from fairlead.model.network import Network
from fairlead.model.path_table import HostPath, PathTable


def network(rates: list[list[float]], **more: np.ndarray) -> Network:
    bandwidth_Bps = np.array(rates)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = np.where(np.eye(len(rates)), 0.0, 1e-4)
    hosts = tuple("abcd"[: len(rates)])
    return Network(hosts, latency_s, bandwidth_Bps, **more)


def test_a_slow_pair_gets_the_relay_whose_slower_hop_is_fastest() -> None:
    # From a to b: 10 MB/s directly, 50 by way of c, 80 by way of d.
    table = path_table(
        network([[0, 1e7, 9e7, 8e7], [1e8, 0, 1e8, 1e8], [1e8, 5e7, 0, 1e8], [1e8, 9e7, 1e8, 0]])
    )

    paths = table.between(0, 1)

    assert [path.hops for path in paths] == [(1,), (3, 1), (2, 1)]
    assert [path.bandwidth_Bps for path in paths] == [1e7, 8e7, 5e7]
    assert paths[1].latency_s > 2e-4


def test_a_path_that_is_far_slower_than_the_direct_one_is_left_out() -> None:
    table = path_table(network([[0, 1e8, 1e7], [1e8, 0, 1e7], [1e7, 1e7, 0]]))

    assert [path.hops for path in table.between(0, 1)] == [(1,)]


def test_at_most_the_best_relays_are_kept() -> None:
    table = path_table(network([[0 if a == b else 1e8 for b in range(4)] for a in range(4)]), 1)

    assert all(len(table.between(a, b)) == 2 for a in range(4) for b in range(4) if a != b)


def test_two_relays_carry_what_single_ones_leave() -> None:
    # From a to b: 10 MB/s directly, 20 by way of c, since c -> b is slow, 15 by way of d, since
    # a -> d is. What is left of a -> c, c -> d and d -> b is 60, 70 and 75.
    mb_per_s = [[0, 10, 80, 15], [100, 0, 100, 100], [100, 20, 0, 70], [100, 90, 100, 0]]

    table = path_table(network([[1e6 * rate for rate in row] for row in mb_per_s]))

    *by_one, by_two = table.between(0, 1)
    assert [path.hops for path in by_one] == [(1,), (2, 1), (3, 1)]
    # The interface of a, as fast as the fastest pair, has 55 left.
    assert by_two.hops == (2, 3, 1)
    assert by_two.bandwidth_Bps == pytest.approx(55e6)
    assert by_two.latency_s > 3e-4


@pytest.mark.parametrize(
    ("nic_Bps", "max_relays"),
    [(45e6, 3), (1e8, 1)],
    ids=["interfaces are full", "more single ones"],
)
def test_two_relays_are_left_out_where_they_add_little(nic_Bps: float, max_relays: int) -> None:
    mb_per_s = [[0, 10, 80, 15], [100, 0, 100, 100], [100, 20, 0, 70], [100, 90, 100, 0]]
    rates = [[1e6 * rate for rate in row] for row in mb_per_s]
    nics = {"nic_out_Bps": np.full(4, nic_Bps), "nic_in_Bps": np.full(4, nic_Bps)}

    table = path_table(network(rates, **nics), max_relays)

    assert all(len(path.hops) <= 2 for path in table.between(0, 1))


def test_the_capacity_of_a_pair_is_that_of_the_interfaces() -> None:
    rates = [[0, 1e7, 9e7], [1e8, 0, 1e8], [1e8, 5e7, 0]]

    guessed = path_table(network(rates)).capacity_Bps
    measured = path_table(
        network(rates, nic_out_Bps=np.array([4e7, np.nan, 1e8]), nic_in_Bps=np.array([1e8] * 3))
    ).capacity_Bps

    # What a sends to c, and c to b, is the most that has been seen of them.
    assert guessed[0][1] == 5e7
    assert measured[0][1] == 4e7
    assert measured[1][2] == 1e8


def test_only_slow_pairs_are_expected_to_gain() -> None:
    even = path_table(network([[0, 1e8, 1e8], [1e8, 0, 1e8], [1e8, 1e8, 0]]))
    # From a to b at a tenth; by way of c at the full rate.
    uneven = path_table(network([[0, 1e7, 1e8], [1e8, 0, 1e8], [1e8, 1e8, 0]]))

    assert even.has_relays
    assert faster_pairs(even) == []
    assert faster_pairs(uneven) == [(0, 1)]


def test_two_hosts_have_no_other_path() -> None:
    assert not path_table(network([[0, 1e7], [1e8, 0]])).has_relays


def test_a_pair_that_was_not_measured_is_an_error() -> None:
    with pytest.raises(TopologyError):
        path_table(network([[0, np.nan], [1e8, 0]]))


def test_a_table_begins_each_pair_with_its_direct_path() -> None:
    relayed = HostPath(0, (2, 1), 1e-4, 1e8)
    with pytest.raises(InputError, match="a -> b"):
        PathTable(("a", "b", "c"), (relayed,), ((1.0,) * 3,) * 3)
