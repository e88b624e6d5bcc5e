# SPDX-License-Identifier: Apache-2.0
"""`scotch` is CloudMap's mapping: point-to-point messages alone, Scotch once."""

from __future__ import annotations

import numpy as np
import pytest
from instances import all_placements, groups_traffic, racks, random_network, random_traffic

import fairlead as fl
from fairlead import _core
from fairlead.decide.placement import OBJECTIVES

PUBLISHED = ("scotch", "scotch-intra", "scotch-inter")


def swapped_partners() -> fl.Traffic:
    """Ranks send a little to their neighbour; an alltoallv brings much from the rank two on."""
    neighbours = np.kron(np.eye(4), np.array([[0, 1], [1, 0]]))
    further = np.roll(np.eye(8), 2, axis=1) + np.roll(np.eye(8), -2, axis=1)
    return fl.Traffic(
        neighbours * 1e3, neighbours, exchange_bytes=further * 1e9, exchange_messages=further
    )


def test_collectives_do_not_count_for_scotch_and_do_for_scotch_best() -> None:
    net = racks([0, 1, 0, 1])
    cluster = fl.Cluster.uniform(net.hosts, 2)

    hosts, best = (
        fl.place(swapped_partners(), net, cluster, method).host_of_rank
        for method in ("scotch", "scotch-best")
    )

    assert np.array_equal(hosts[0::2], hosts[1::2])
    assert not np.array_equal(best[0::2], best[1::2])


@pytest.mark.parametrize("method", PUBLISHED)
def test_a_program_with_nothing_but_collectives_is_placed_as_without_messages(method: str) -> None:
    every = np.ones((8, 8)) - np.eye(8)
    nothing = np.zeros((8, 8))
    net = racks([0, 1, 0, 1])
    cluster = fl.Cluster.uniform(net.hosts, 2)

    collective, silent = (
        fl.place(traffic, net, cluster, method, seed=3).host_of_rank.tolist()
        for traffic in (
            fl.Traffic(nothing, nothing, exchange_bytes=every, exchange_messages=every),
            fl.Traffic(nothing, nothing),
        )
    )

    assert collective == silent


@pytest.mark.parametrize("method", PUBLISHED)
def test_no_objective_selects_among_starts(method: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(5):
        net, traffic = random_network(6, rng), random_traffic(24, rng)
        cluster = fl.Cluster.uniform(net.hosts, 4)
        placements = {
            tuple(fl.place(traffic, net, cluster, method, objective=name).host_of_rank.tolist())
            for name in OBJECTIVES
        }
        assert len(placements) == 1


@pytest.mark.parametrize("seed", range(3))
def test_groups_find_their_hosts_and_racks_in_any_hidden_order(seed: int) -> None:
    # Four ranks for each of eight hosts; groups 0 to 3 and 4 to 7 form a chain each. Two racks,
    # so one link of the chain crosses and nothing else does.
    rng = np.random.default_rng(seed)
    rack_of_host = rng.permutation(np.repeat([0, 1], 4))
    group_of_rank = rng.permutation(np.repeat(np.arange(8), 4))
    net = racks(rack_of_host.tolist())

    placement = fl.place(
        groups_traffic(group_of_rank.tolist()), net, fl.Cluster.uniform(net.hosts, 4), "scotch"
    )

    hosts = placement.host_of_rank
    assert all(len(set(hosts[group_of_rank == group])) == 1 for group in range(8))
    host_of_group = np.array([hosts[group_of_rank == group][0] for group in range(8)])
    assert np.count_nonzero(np.diff(rack_of_host[host_of_group])) == 1


@pytest.mark.parametrize("metric", ["bytes", "messages"])
@pytest.mark.parametrize("seed", range(4))
def test_one_start_is_near_the_optimum_of_a_small_case(seed: int, metric: str) -> None:
    rng = np.random.default_rng(seed)
    net, traffic = random_network(3, rng), random_traffic(6, rng)

    placement = fl.place(
        traffic, net, fl.Cluster.uniform(net.hosts, 2), "scotch", metric=metric, objective="sum"
    )

    def cost_s(host_of_rank: np.ndarray) -> float:
        found = fl.evaluate(fl.Placement(net.hosts, host_of_rank), traffic, net)
        return found.weighted_sum[metric]

    best_s = min(map(cost_s, all_placements(6, (2, 2, 2))))
    assert best_s * (1 - 1e-12) <= cost_s(placement.host_of_rank) <= 2 * best_s


def test_with_free_slots_ranks_spread_and_are_not_packed() -> None:
    net = racks([0, 1, 2, 1, 1, 3])
    ring = np.roll(np.eye(6), 1, axis=1) * 1e6
    traffic, cluster = fl.Traffic(ring, ring), fl.Cluster.uniform(net.hosts, 2)

    spread, packed = (
        set(fl.place(traffic, net, cluster, method, objective="sum").host_names())
        for method in ("scotch", "scotch-best")
    )

    assert len(packed) == 3 < len(spread)


def test_the_published_settings_differ_from_ours() -> None:
    # 256 ranks: Scotch's own settings do not coarsen below 120 vertices, ours to 20.
    rng = np.random.default_rng(0)
    net, traffic = random_network(32, rng), random_traffic(256, rng)
    arguments = (
        _core.RankMatrix(
            traffic.bytes.indptr.astype(np.int64),
            traffic.bytes.indices.astype(np.int64),
            traffic.bytes.data,
        ),
        net.pair_costs("bytes"),
        np.full(32, 8),
    )

    ours, published = (
        _core.scotch_placements(*arguments, seed=0, num_tries=1, is_as_published=value)
        for value in (False, True)
    )

    assert ours.shape == published.shape == (1, 256)
    assert not np.array_equal(ours, published)
