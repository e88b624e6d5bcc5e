# SPDX-License-Identifier: Apache-2.0
"""Hosts of different speeds: against brute force, and nothing changes where they are alike."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from instances import all_placements, random_network, random_traffic

import fairlead as fl
from fairlead.decide.placement import METHODS
from fairlead.model.host_rates import HostRates

HOSTS_OF_TRACE = ("h0", "h0", "h1", "h1", "h2", "h2")


def with_speeds(net: fl.Network, ratios: list[float], cores: int = 2) -> fl.Network:
    """Hosts whose rates are these parts of one another's, each known to 1 %."""
    values = np.ones((net.num_hosts, 4, 3)) * [1.0, 0.99, 1.01]
    values *= np.array(ratios)[:, None, None]
    values[:, 1::2] *= cores
    return dataclasses.replace(net, host_rates=HostRates(values, np.full(net.num_hosts, cores)))


def with_computing(traffic: fl.Traffic, seconds: list[float]) -> fl.Traffic:
    hosts = HOSTS_OF_TRACE[: traffic.num_ranks]
    return dataclasses.replace(traffic, compute_s=np.array(seconds), compute_hosts=hosts)


def slowest_s(
    hosts: np.ndarray, traffic: fl.Traffic, net: fl.Network, ratios: list[float], cores: int = 2
) -> float:
    """The cost from its definition: a rank's computing, latencies, and its host's busiest part."""
    sent, number = traffic.carried.bytes.toarray(), traffic.carried.messages.toarray()
    load = np.zeros((net.num_hosts, net.num_hosts))
    np.add.at(load, (hosts[:, None], hosts[None, :]), sent)
    latency_s = number * net.latency_s[hosts[:, None], hosts[None, :]]
    rates = np.where(np.eye(net.num_hosts, dtype=bool), 0.0, net.bandwidth_Bps)
    apart = np.where(np.eye(net.num_hosts, dtype=bool), 0.0, load)
    with np.errstate(invalid="ignore"):
        pair_s = np.nan_to_num(apart / rates)
    busiest_s = np.maximum(pair_s.max(axis=0), pair_s.max(axis=1))
    busiest_s = np.maximum(busiest_s, apart.sum(axis=1) / rates.max(axis=1))
    busiest_s = np.maximum(busiest_s, apart.sum(axis=0) / rates.max(axis=0))
    traced = dict(zip(net.hosts, range(net.num_hosts), strict=True))
    per_work = [
        lambda count, ratio=ratio: max(1 / ratio, count / (ratio * cores)) for ratio in ratios
    ]
    ranks_s = []
    for rank, host in enumerate(hosts):
        at = traced[traffic.compute_hosts[rank]]
        work_s = traffic.compute_s[rank] / per_work[at](2)
        own_s = max(latency_s[rank].sum(), latency_s[:, rank].sum())
        computing_s = work_s * per_work[host](int((hosts == host).sum()))
        ranks_s.append(computing_s + own_s + busiest_s[host])
    mean_s = (pair_s.sum() + latency_s.sum()) / min(net.num_hosts, len(hosts))
    return float(max(ranks_s) + mean_s)


@pytest.mark.parametrize("slots", [(2, 2, 2), (3, 2, 3), (4, 4, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_the_slowest_rank_of_small_cases_is_as_fast_as_possible(
    slots: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ratios = [1.0, 1.0, 0.5]
    net = with_speeds(random_network(3, rng), ratios)
    traffic = with_computing(random_traffic(6, rng), rng.uniform(0.1, 2, 6).tolist())
    cluster = fl.Cluster(net.hosts, slots)

    placement = fl.place(traffic, net, cluster, uneven=True)

    values_s = [slowest_s(hosts, traffic, net, ratios) for hosts in all_placements(6, slots)]
    assert placement.origin["objective"] == "slowest-rank"
    assert slowest_s(placement.host_of_rank, traffic, net, ratios) == pytest.approx(min(values_s))
    cost = fl.evaluate(placement, traffic, net)
    assert cost.slowest_rank_s == pytest.approx(min(values_s))


def silent_ranks(num_ranks: int) -> fl.Traffic:
    nothing = np.zeros((num_ranks, num_ranks))
    return fl.Traffic(bytes=nothing, messages=nothing)


def test_the_slow_host_gets_the_ranks_that_compute_less() -> None:
    net = with_speeds(random_network(3, np.random.default_rng(0)), [1.0, 0.5, 1.0])
    # In the trace, ranks 2 and 3 were on the slow host: their work is that of half the time.
    traffic = with_computing(silent_ranks(6), [4.0, 1.0, 8.0, 8.0, 1.0, 4.0])

    placement = fl.place(traffic, net, fl.Cluster(net.hosts, (2, 2, 2)))

    assert placement.ranks_on("h1") == [1, 4]


@pytest.mark.parametrize("method", ["launcher", "blocked", "scotch"])
def test_what_does_not_weigh_hosts_places_as_if_they_were_alike(method: str) -> None:
    alike = random_network(3, np.random.default_rng(0))
    traffic = with_computing(random_traffic(6, np.random.default_rng(1)), [1.0] * 6)
    cluster = fl.Cluster(alike.hosts, (6, 6, 6))

    placements = [
        fl.place(traffic, net, cluster, method=method).host_names()
        for net in (alike, with_speeds(alike, [1.0, 1.0, 0.5]))
    ]

    assert placements[0] == placements[1]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_places_where_hosts_differ(method: str) -> None:
    rng = np.random.default_rng(0)
    net = with_speeds(random_network(3, rng), [1.0, 1.0, 0.5])
    traffic = with_computing(random_traffic(6, rng), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0])

    placement = fl.place(traffic, net, fl.Cluster(net.hosts, (2, 2, 2)), method=method)

    assert np.bincount(placement.host_of_rank).tolist() == [2, 2, 2]


def test_the_slow_host_gets_the_ranks_that_communicate_less() -> None:
    sent = np.zeros((6, 6))
    for rank in range(4):  # in a ring; 4 and 5 are silent
        sent[rank, (rank + 1) % 4] = 1e6
    hosts = ("h0", "h1", "h2")
    even = fl.Network(hosts, np.full((3, 3), 1e-6), np.full((3, 3), 1e7))
    net = with_speeds(even, [0.5, 1.0, 1.0])
    traffic = with_computing(fl.Traffic(bytes=sent, messages=sent / 1e6), [2.0] * 2 + [1.0] * 4)

    one_each = fl.place(traffic, net, fl.Cluster(hosts, (2, 2, 2)))

    assert one_each.ranks_on("h0") == [4, 5]


def test_a_slow_host_gets_fewer_ranks_only_if_that_is_allowed() -> None:
    net = with_speeds(random_network(3, np.random.default_rng(0)), [1.0, 0.25, 1.0])
    traffic = with_computing(silent_ranks(6), [1.0, 1.0, 4.0, 4.0, 1.0, 1.0])
    cluster = fl.Cluster(net.hosts, (4, 4, 4))

    even, uneven = (fl.place(traffic, net, cluster, uneven=allowed) for allowed in (False, True))

    assert np.bincount(even.host_of_rank).tolist() == [2, 2, 2]
    # One rank there takes 4 s, as long as on its own; three on a host of two cores take 1.5 s.
    assert np.bincount(uneven.host_of_rank, minlength=3).tolist() == [3, 0, 3]


@pytest.mark.parametrize("what", ["alike", "no rates", "no times", "unknown time", "not asked"])
def test_where_nothing_is_known_to_differ_the_placement_is_as_without(what: str) -> None:
    rng = np.random.default_rng(4)
    net, traffic = random_network(3, rng), random_traffic(6, rng)
    cluster = fl.Cluster(net.hosts, (3, 3, 3))
    plain = fl.place(traffic, net, cluster)
    seconds = [3.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    known = {
        "alike": (with_speeds(net, [1.0, 0.97, 1.03]), with_computing(traffic, seconds)),
        "no rates": (net, with_computing(traffic, seconds)),
        "no times": (with_speeds(net, [1.0, 0.5, 1.0]), traffic),
        "unknown time": (
            with_speeds(net, [1.0, 0.5, 1.0]),
            with_computing(traffic, [np.nan, *seconds[1:]]),
        ),
        "not asked": (with_speeds(net, [1.0, 0.5, 1.0]), with_computing(traffic, seconds)),
    }

    placement = fl.place(known[what][1], known[what][0], cluster, weigh_hosts=what != "not asked")

    assert placement.host_of_rank.tolist() == plain.host_of_rank.tolist()
    assert placement.origin == plain.origin
    if what != "not asked":
        cost = fl.evaluate(placement, known[what][1], known[what][0])
        assert cost == fl.evaluate(plain, traffic, net)


def test_every_method_and_objective_ignores_the_hosts_but_the_default_one() -> None:
    rng = np.random.default_rng(2)
    net, traffic = random_network(3, rng), random_traffic(6, rng)
    cluster = fl.Cluster(net.hosts, (2, 2, 2))
    slow = with_speeds(net, [1.0, 0.2, 1.0])
    computing = with_computing(traffic, [9.0, 1.0, 1.0, 1.0, 1.0, 1.0])

    for method, objective in itertools.product(("scotch", "optimize"), ("sum", "bottleneck")):
        options = {"method": method, "objective": objective}
        assert (
            fl.place(computing, slow, cluster, **options).host_of_rank.tolist()
            == fl.place(traffic, net, cluster, **options).host_of_rank.tolist()
        )
