# SPDX-License-Identifier: Apache-2.0
"""With relays slow pairs cost less, so another placement may be the best one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from instances import all_placements, network, racks

import fairlead as fl
from fairlead.decide.host_paths import network_with_relays, path_table
from fairlead.decide.relayed_placement import FOR_RELAYS, find_relayed_placement

COST = "bottleneck_and_mean_s"


def detours() -> fl.Network:
    """Two groups of three hosts. Directly the second is better: h0 - h1 is a slow pair.

    By way of h2 that pair is as fast as the two others of its group.
    """
    rates_Bps = np.full((6, 6), 5e6)
    rates_Bps[:3, :3], rates_Bps[3:, 3:] = 1e8, 6e7
    rates_Bps[0, 1] = rates_Bps[1, 0] = 2e7
    return network(rates_Bps)


def triangle_traffic() -> fl.Traffic:
    """Three ranks that all send one another messages of 1 MiB."""
    sent = 30 * float(1 << 20) * (1 - np.eye(3))
    return fl.Traffic(sent, sent / (1 << 20), np.where(sent > 0, 1 << 20, 0))


def best_by_brute_force(known: fl.Network, traffic: fl.Traffic) -> tuple[np.ndarray, float]:
    def cost_s(host_of_rank: np.ndarray) -> float:
        placement = fl.Placement(known.hosts, host_of_rank)
        return float(getattr(fl.evaluate(placement, traffic, known), COST))

    every = all_placements(traffic.num_ranks, [1] * known.num_hosts)
    return min(((one, cost_s(one)) for one in every), key=lambda each: each[1])


def placing_on(traffic: fl.Traffic, known: fl.Network) -> Callable[[fl.Network], fl.Placement]:
    cluster = fl.Cluster.uniform(known.hosts, 1)
    return lambda seen: fl.place(traffic, seen, cluster, "optimize", time_limit_s=0.5)


def test_the_best_placement_with_relays_is_found_where_it_differs() -> None:
    known, traffic = detours(), triangle_traffic()
    relayed = network_with_relays(known, path_table(known))
    on_direct, _ = best_by_brute_force(known, traffic)
    _, least_s = best_by_brute_force(relayed, traffic)
    place = placing_on(traffic, known)
    direct = place(known)

    found = find_relayed_placement(
        direct, [], traffic, known, path_table(known), place=place, cost=COST
    )

    assert found is not None
    assert getattr(fl.evaluate(found, traffic, relayed), COST) == pytest.approx(least_s)
    without = fl.Placement(known.hosts, on_direct)
    assert getattr(fl.evaluate(without, traffic, relayed), COST) > 1.03 * least_s
    assert found.method == f"optimize {FOR_RELAYS}"


def test_none_is_added_where_the_best_without_relays_is_as_good() -> None:
    traffic = triangle_traffic()
    for known in (network(np.full((4, 4), 1e8)), racks([0, 0, 1, 1])):
        place = placing_on(traffic, known)
        found = find_relayed_placement(
            place(known), [], traffic, known, path_table(known), place=place, cost=COST
        )
        assert found is None


def test_a_known_placement_is_taken_where_no_new_one_is_better() -> None:
    """By the way of h2 the first group is better than the second, which is better directly."""
    known, traffic = detours(), triangle_traffic()
    first, second = (fl.Placement(known.hosts, np.array(ranks)) for ranks in ([0, 1, 2], [3, 4, 5]))

    def found(base: fl.Placement, others: list[fl.Placement], *, has_time: bool) -> object:
        return find_relayed_placement(
            base, others, traffic, known, path_table(known),
            place=placing_on(traffic, known) if has_time else None, cost=COST,
        )  # fmt: skip

    assert found(second, [first], has_time=True) is first
    assert found(second, [first], has_time=False) is first
    assert found(first, [second], has_time=True) is None
    assert found(second, [], has_time=False) is None


def test_a_pair_has_the_rate_of_its_fastest_path() -> None:
    known = detours()

    relayed = network_with_relays(known, path_table(known))

    assert relayed.bandwidth_Bps[0, 1] == 1e8
    assert relayed.bandwidth_Bps[2, 3] == known.bandwidth_Bps[2, 3]
    assert relayed.bandwidth_Bps[3, 4] == known.bandwidth_Bps[3, 4]
    assert np.array_equal(relayed.latency_s, known.latency_s)
    assert np.all(np.isinf(relayed.bandwidth_Bps.diagonal()))


def test_several_connections_count_where_interfaces_were_measured() -> None:
    known = network(np.full((3, 3), 2e7))
    nics = {"nic_out_Bps": np.full(3, 1e8), "nic_in_Bps": np.full(3, 9e7)}
    measured = fl.Network(known.hosts, known.latency_s, known.bandwidth_Bps, **nics)

    assert network_with_relays(known, path_table(known)).bandwidth_Bps[0, 1] == 2e7
    assert network_with_relays(measured, path_table(measured)).bandwidth_Bps[0, 1] == 9e7


def test_error_bars_go_with_the_rates() -> None:
    known = detours()
    low, high = known.bandwidth_Bps * 0.9, known.bandwidth_Bps * 1.2
    measured = fl.Network(
        known.hosts, known.latency_s, known.bandwidth_Bps,
        bandwidth_low_Bps=low, bandwidth_high_Bps=high,
    )  # fmt: skip

    relayed = network_with_relays(measured, path_table(measured))

    assert relayed.bandwidth_low_Bps is not None and relayed.bandwidth_high_Bps is not None
    assert relayed.bandwidth_low_Bps[0, 1] == pytest.approx(0.9e8)
    assert relayed.bandwidth_high_Bps[0, 1] == pytest.approx(1.2e8)
