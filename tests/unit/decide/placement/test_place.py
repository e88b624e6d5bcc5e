# SPDX-License-Identifier: Apache-2.0
"""Placements by every method: slots, determinism, bad input; and what each method means."""

from __future__ import annotations

import concurrent.futures

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import groups_traffic, network, racks, random_network, random_traffic

import fairlead as fl
from fairlead import _core
from fairlead.decide.placement import METHODS, METRICS, OBJECTIVES

TWO_RANKS = fl.Traffic([[0, 1], [1, 0]], [[0, 1], [1, 0]])


@given(
    seed=st.integers(0, 2**32 - 1),
    slots=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    share=st.floats(0, 1),
    method=st.sampled_from(list(METHODS)),
    metric=st.sampled_from(METRICS),
    objective=st.sampled_from(OBJECTIVES),
)
@settings(max_examples=150, deadline=None)
def test_no_host_gets_more_ranks_than_slots(
    *, seed: int, slots: list[int], share: float, method: str, metric: str, objective: str
) -> None:
    rng = np.random.default_rng(seed)
    net = random_network(len(slots), rng)
    cluster = fl.Cluster(net.hosts, slots)
    traffic = random_traffic(max(1, round(share * sum(slots))), rng)

    placement = fl.place(traffic, net, cluster, method, metric=metric, objective=objective)

    assert placement.num_ranks == traffic.num_ranks
    placement.require_fits(cluster)


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_gives_the_same_placement(method: str) -> None:
    rng = np.random.default_rng(4)
    net, traffic = random_network(8, rng), random_traffic(40, rng)
    cluster = fl.Cluster.uniform(net.hosts, 6)

    placements = [
        fl.place(traffic, net, cluster, method, seed=seed).host_of_rank.tolist()
        for seed in (5, 6, 5)
    ]

    assert placements[0] == placements[2]


def test_another_seed_gives_another_random_placement() -> None:
    net = racks([0, 0, 1, 1])
    cluster = fl.Cluster.uniform(net.hosts, 4)
    traffic = random_traffic(16, np.random.default_rng(0))

    first, second = (
        fl.place(traffic, net, cluster, "random", seed=seed).host_of_rank for seed in (1, 2)
    )

    assert first.tolist() != second.tolist()
    assert sorted(first) == sorted(second)


@pytest.mark.parametrize("method", METHODS)
def test_one_rank_one_host_and_silence_are_no_trouble(method: str) -> None:
    alone = fl.Traffic([[5.0]], [[1.0]])
    silent = fl.Traffic(np.zeros((3, 3)), np.zeros((3, 3)))
    one, three = racks([0]), racks([0, 1, 1])

    single = fl.place(alone, three, fl.Cluster.uniform(three.hosts, 1), method)
    packed = fl.place(TWO_RANKS, one, fl.Cluster.uniform(one.hosts, 2), method)
    quiet = fl.place(silent, three, fl.Cluster.uniform(three.hosts, 2), method)

    assert single.num_ranks == 1
    assert packed.host_of_rank.tolist() == [0, 0]
    assert quiet.num_ranks == 3


def test_slot_orders_pass_over_full_hosts() -> None:
    net = racks([0, 0, 1])
    cluster = fl.Cluster(net.hosts, (1, 3, 2))
    traffic = random_traffic(5, np.random.default_rng(0))

    def hosts(method: str) -> list[int]:
        return fl.place(traffic, net, cluster, method).host_of_rank.tolist()

    assert hosts("launcher") == hosts("blocked") == [0, 1, 1, 1, 2]
    assert hosts("cyclic") == [0, 1, 2, 1, 2]


def test_only_the_hosts_of_the_cluster_are_used() -> None:
    net = racks([0, 1, 0, 1])
    cluster = fl.Cluster(("h3", "h1"), (1, 1))

    placement = fl.place(TWO_RANKS, net, cluster)

    assert sorted(placement.host_names()) == ["h1", "h3"]


@pytest.mark.parametrize("method", METHODS)
def test_a_host_that_the_network_lacks_is_named(method: str) -> None:
    with pytest.raises(fl.TopologyError, match="'h7' is not in this network"):
        fl.place(TWO_RANKS, racks([0, 1]), fl.Cluster.uniform(["h0", "h7"], 1), method)


@pytest.mark.parametrize("method", METHODS)
def test_more_ranks_than_slots_are_refused(method: str) -> None:
    net = racks([0, 1])
    traffic = random_traffic(3, np.random.default_rng(0))

    with pytest.raises(fl.TopologyError, match="3 ranks do not fit: 2 hosts have 2 slots"):
        fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 1), method)


@pytest.mark.parametrize("method", ["scotch", "scotch-inter", "scotch-hosts", "optimize"])
@pytest.mark.parametrize("metric", METRICS)
def test_an_unmeasured_pair_is_named(method: str, metric: str) -> None:
    net = racks([0, 1, 1])
    for matrix in (net.latency_s, net.bandwidth_Bps):
        matrix[2, 1] = np.nan
    traffic = random_traffic(3, np.random.default_rng(0))

    with pytest.raises(fl.TopologyError, match="from 'h2' to 'h1' was not measured"):
        fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 1), method, metric=metric)


@pytest.mark.parametrize(
    ("argument", "listed"),
    [
        ({"method": "x"}, METHODS),
        ({"metric": "x"}, METRICS),
        ({"objective": "x"}, OBJECTIVES),
    ],
)
def test_an_unknown_name_is_answered_by_those_there_are(
    argument: dict[str, str], listed: list[str]
) -> None:
    net = racks([0, 1])
    with pytest.raises(fl.InputError, match=f"there are {', '.join(listed)}$"):
        fl.place(TWO_RANKS, net, fl.Cluster.uniform(net.hosts, 1), **argument)


@pytest.mark.parametrize("seed", [-1, 2**32, 10**26])
@pytest.mark.parametrize("method", ["optimize", "scotch"])
def test_a_seed_out_of_range_is_refused(method: str, seed: int) -> None:
    net = racks([0, 1])
    with pytest.raises(fl.InputError, match=f"seed: must be from 0 to 4294967295, got {seed}"):
        fl.place(TWO_RANKS, net, fl.Cluster.uniform(net.hosts, 1), method, seed=seed)


def test_scotch_groups_groups_ranks_by_traffic_and_leaves_hosts_in_order() -> None:
    net = racks([0, 1, 0, 1])
    group_of_rank = [0, 1, 2, 3] * 3
    cluster = fl.Cluster.uniform(net.hosts, 3)

    placement = fl.place(groups_traffic(group_of_rank), net, cluster, "scotch-groups")

    assert placement.host_of_rank.tolist() == group_of_rank


def test_scotch_hosts_keeps_the_launchers_groups_and_brings_them_near() -> None:
    # Blocks of ranks 0 and 1, and 2 and 3, talk to one another; the launcher would put each of
    # them on hosts of different racks.
    blocks = np.repeat(np.arange(4), 3)
    partner = (blocks[:, None] // 2 == blocks // 2) & (blocks[:, None] != blocks)
    traffic = fl.Traffic(partner * 1e6, partner * 1.0)
    net = racks([0, 1, 0, 1])

    placement = fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 3), "scotch-hosts")

    host_of_block = placement.host_of_rank[::3]
    assert np.array_equal(np.repeat(host_of_block, 3), placement.host_of_rank)
    rack_of_block = host_of_block % 2
    assert rack_of_block[0] == rack_of_block[1] != rack_of_block[2] == rack_of_block[3]


def test_scotch_hosts_puts_each_group_where_it_fits() -> None:
    net = racks([0, 1, 0, 1, 1])
    cluster = fl.Cluster(net.hosts, (4, 1, 3, 4, 2))
    traffic = random_traffic(13, np.random.default_rng(1))

    placement = fl.place(traffic, net, cluster, "scotch-hosts")

    launchers = fl.place(traffic, net, cluster, "launcher").host_of_rank
    pairs = set(zip(launchers.tolist(), placement.host_of_rank.tolist(), strict=True))
    assert len(pairs) == 5  # one host for each group
    placement.require_fits(cluster)


def test_intra_puts_the_groups_on_hosts_at_random() -> None:
    # Groups of three fit h0, h2 and h4 only, groups of two h1 and h3.
    net = racks([0, 1, 0, 1, 0])
    cluster = fl.Cluster(net.hosts, (3, 2, 3, 2, 3))
    group_of_rank = [0, 1, 2, 3, 4] * 2 + [0, 1, 2]
    traffic = groups_traffic(group_of_rank)

    hosts_of_group: list[set[tuple[int, ...]]] = [set() for _ in range(5)]
    for seed in range(40):
        placement = fl.place(traffic, net, cluster, "scotch-intra", seed=seed)
        placement.require_fits(cluster)
        for group in range(5):
            hosts = placement.host_of_rank[np.equal(group_of_rank, group)]
            hosts_of_group[group].add(tuple(set(hosts.tolist())))

    assert hosts_of_group == [{(0,), (2,), (4,)}] * 3 + [{(1,), (3,)}] * 2


@pytest.mark.parametrize("seed", range(5))
def test_inter_groups_ranks_at_random_and_brings_the_groups_near(seed: int) -> None:
    # What shares a host by chance is a group; group 0 talks to 1, and 2 to 3.
    net = racks([0, 1, 0, 1])
    cluster = fl.Cluster.uniform(net.hosts, 3)
    silent = fl.Traffic(np.zeros((12, 12)), np.zeros((12, 12)))
    group = fl.place(silent, net, cluster, "random", seed=seed).host_of_rank
    partner = (group[:, None] // 2 == group // 2) & (group[:, None] != group)

    placement = fl.place(
        fl.Traffic(partner * 1e6, partner * 1.0), net, cluster, "scotch-inter", seed=seed
    )

    host_of_group = np.array([placement.host_of_rank[group == one][0] for one in range(4)])
    assert np.array_equal(host_of_group[group], placement.host_of_rank)
    rack = host_of_group % 2
    assert rack[0] == rack[1] != rack[2] == rack[3]


def test_the_metric_decides_which_pairs_of_hosts_are_near() -> None:
    # Bandwidth binds h0 to h1, latency binds h0 to h2; two pairs of ranks talk.
    wide = np.array([[1, 9, 1, 1], [9, 1, 1, 1], [1, 1, 1, 9], [1, 1, 9, 1]]) * 1e6
    quick = np.array([[1, 9, 1, 9], [9, 1, 9, 1], [1, 9, 1, 9], [9, 1, 9, 1]]) * 1e-5
    net = network(wide, quick)
    cluster = fl.Cluster.uniform(net.hosts, 1)
    pairs = np.kron(np.eye(2), np.array([[0, 1], [1, 0]])) * 1e6
    traffic = fl.Traffic(pairs, pairs)

    by_bytes = fl.place(traffic, net, cluster, metric="bytes", objective="sum").host_of_rank
    by_messages = fl.place(traffic, net, cluster, metric="messages", objective="sum").host_of_rank

    assert sorted(by_bytes[:2]) in ([0, 1], [2, 3])
    assert sorted(by_messages[:2]) in ([0, 2], [1, 3])


def test_threads_get_what_each_would_get_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # So few proposals that the time is not reached which ends any search on a busy machine.
    limits = _core.SearchLimits
    monkeypatch.setattr(
        _core, "SearchLimits", lambda **given: limits(**given | {"num_proposals": 20_000})
    )
    rng = np.random.default_rng(9)
    net, traffic = random_network(8, rng), random_traffic(48, rng)
    cluster = fl.Cluster.uniform(net.hosts, 6)

    def placed(seed: int) -> list[int]:
        return fl.place(traffic, net, cluster, seed=seed).host_of_rank.tolist()

    alone = [placed(seed) for seed in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(placed, range(8)))

    assert together == alone
