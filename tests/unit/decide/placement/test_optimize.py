# SPDX-License-Identifier: Apache-2.0
"""`optimize` against brute force, against the methods it starts from, and in what it must keep."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import all_placements, network, racks, random_network, random_traffic

import fairlead as fl
from fairlead import _core
from fairlead.decide.placement import METHODS, METRICS, OBJECTIVES
from fairlead.decide.placement.problem import Problem
from fairlead.decide.placement.scotch_best import scotch_best


def value_s(
    placement: fl.Placement, traffic: fl.Traffic, net: fl.Network, metric: str, objective: str
) -> float:
    return value_in_cost(fl.evaluate(placement, traffic, net), metric, objective)


def value_in_cost(cost: fl.Cost, metric: str, objective: str) -> float:
    if objective == "sum":
        return cost.weighted_sum[metric]
    return cost.bottleneck_s if objective == "bottleneck" else cost.bottleneck_and_mean_s


def with_shared_capacities(net: fl.Network, rng: np.random.Generator) -> fl.Network:
    """The network with NICs, one of them unknown, and an uplink out of the first two hosts."""
    pairs = [(src, dst) for src in (0, 1) for dst in range(2, net.num_hosts)]
    nic_Bps = 1e8 * rng.lognormal(0, 0.5, net.num_hosts)
    nic_Bps[-1] = np.nan
    return dataclasses.replace(
        net,
        nic_out_Bps=nic_Bps,
        nic_in_Bps=1e8 * rng.lognormal(0, 0.5, net.num_hosts),
        groups=[fl.BottleneckGroup(pairs=np.array(pairs), capacity_Bps=2e7)],
    )


def small_case(slots: tuple[int, ...], seed: int) -> tuple[fl.Traffic, fl.Network]:
    rng = np.random.default_rng(seed)
    net = with_shared_capacities(random_network(len(slots), rng), rng)
    return random_traffic(6, rng), net


@functools.cache
def all_costs(slots: tuple[int, ...], seed: int) -> list[fl.Cost]:
    """The costs of all placements of a small case, once for every metric and objective."""
    traffic, net = small_case(slots, seed)
    return [
        fl.evaluate(fl.Placement(net.hosts, hosts), traffic, net)
        for hosts in all_placements(6, slots)
    ]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("slots", [(2, 2, 2), (3, 1, 3), (1, 2, 4), (1,) * 6])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_small_cases_is_found(
    metric: str, objective: str, slots: tuple[int, ...], seed: int
) -> None:
    traffic, net = small_case(slots, seed)
    cluster = fl.Cluster(net.hosts, slots)

    placement = fl.place(traffic, net, cluster, metric=metric, objective=objective)

    best_s = min(value_in_cost(cost, metric, objective) for cost in all_costs(slots, seed))
    assert value_s(placement, traffic, net, metric, objective) == pytest.approx(best_s, rel=1e-6)


def case_with_empty_hosts(seed: int) -> tuple[fl.Traffic, fl.Network]:
    rng = np.random.default_rng(seed)
    net, traffic = random_network(6, rng), random_traffic(4, rng)
    for matrix, unit in ((net.bandwidth_Bps, 1e7), (net.latency_s, 1e-5)):
        np.fill_diagonal(matrix, unit * rng.lognormal(0, 1, 6))
    return traffic, net


@functools.cache
def all_costs_with_empty_hosts(seed: int) -> list[fl.Cost]:
    traffic, net = case_with_empty_hosts(seed)
    return [
        fl.evaluate(fl.Placement(net.hosts, hosts), traffic, net)
        for hosts in all_placements(4, (1,) * 6)
    ]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_found_where_hosts_stay_empty_and_their_inside_costs(
    objective: str, seed: int
) -> None:
    """One slot on each host, fewer ranks than hosts, and messages to oneself that take time."""
    traffic, net = case_with_empty_hosts(seed)

    placement = fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 1), objective=objective)

    costs = all_costs_with_empty_hosts(seed)
    best_s = min(value_in_cost(cost, "bytes", objective) for cost in costs)
    assert value_s(placement, traffic, net, "bytes", objective) == pytest.approx(best_s, rel=1e-6)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    slots=st.lists(st.integers(1, 6), min_size=2, max_size=6),
    share=st.floats(0.1, 1),
    metric=st.sampled_from(METRICS),
    objective=st.sampled_from(OBJECTIVES),
)
def test_never_worse_than_what_it_starts_from(
    *, seed: int, slots: list[int], share: float, metric: str, objective: str
) -> None:
    rng = np.random.default_rng(seed)
    net = random_network(len(slots), rng)
    cluster = fl.Cluster(net.hosts, tuple(slots))
    traffic = random_traffic(max(1, int(share * cluster.num_slots)), rng)

    def value(method: str, **more: Any) -> float:
        placement = fl.place(
            traffic, net, cluster, method, metric=metric, objective=objective, **more
        )
        counts = np.bincount(placement.host_of_rank, minlength=len(slots))
        assert np.all(counts <= slots)
        return value_s(placement, traffic, net, metric, objective)

    best = min(value("scotch-best"), value("blocked"))
    assert value("optimize", time_limit_s=0.01) <= best * (1 + 1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threads_do_not_change_the_answer_but_the_seed_may(objective: str) -> None:
    rng = np.random.default_rng(4)
    net = random_network(6, rng)
    traffic = random_traffic(24, rng)
    cluster = fl.Cluster.uniform(net.hosts, 4)

    def hosts(**more: int) -> list[int]:
        placement = fl.place(traffic, net, cluster, objective=objective, **more)
        return placement.host_of_rank.tolist()

    assert hosts(num_threads=1) == hosts(num_threads=2) == hosts(num_threads=3)


def test_a_shared_uplink_is_spared_where_pairs_look_alike() -> None:
    """All pairs are equal; only the group shows that crossing between the halves is dear."""
    hosts = ["h0", "h1", "h2", "h3"]
    across = [(src, dst) for src in (0, 2) for dst in (1, 3)]
    net = fl.Network(
        hosts,
        np.zeros((4, 4)),
        np.where(np.eye(4), np.inf, 1e8),
        groups=[
            fl.BottleneckGroup(pairs=np.array(across), capacity_Bps=2e7),
            fl.BottleneckGroup(pairs=np.array(across)[:, ::-1], capacity_Bps=2e7),
        ],
    )
    partner = np.kron(np.eye(2), 1 - np.eye(4)) * 1e6
    traffic = fl.Traffic(bytes=partner, messages=partner > 0)

    placement = fl.place(traffic, net, fl.Cluster.uniform(hosts, 2))

    rack = placement.host_of_rank % 2
    assert len(set(rack[:4])) == len(set(rack[4:])) == 1
    # Four ranks on two hosts of one rack: each host sends 4 MB to the other at 1e8 B/s.
    assert fl.evaluate(placement, traffic, net).bottleneck_s == pytest.approx(0.04)


def test_bottleneck_counts_nics_pairs_and_groups() -> None:
    """Rank i on host i: the time of the part that is busiest, part by part."""
    hosts = ["a", "b", "c"]
    sent = np.array([[0, 6e6, 4e6], [0, 0, 1e6], [0, 0, 0]])
    traffic = fl.Traffic(bytes=sent, messages=(sent > 0) * 10.0)
    placement = fl.Placement(hosts, np.arange(3))
    net = fl.Network(hosts, np.zeros((3, 3)), np.where(np.eye(3), np.inf, 1e8))
    group = fl.BottleneckGroup(pairs=np.array([[0, 2], [1, 2]]), capacity_Bps=1e7)

    def bottleneck_s(**more: Any) -> float:
        changed = dataclasses.replace(net, **more)
        return fl.evaluate(placement, traffic, changed).bottleneck_s

    assert bottleneck_s() == pytest.approx(10e6 / 1e8)  # a's interface, as fast as its pairs
    assert bottleneck_s(nic_out_Bps=[1e9, 1e9, 1e9]) == pytest.approx(6e6 / 1e8)
    assert bottleneck_s(nic_in_Bps=[1e9, 1e9, 1e7]) == pytest.approx(5e6 / 1e7)
    assert bottleneck_s(groups=[group]) == pytest.approx(5e6 / 1e7)
    assert bottleneck_s(latency_s=np.full((3, 3), 1e-3)) == pytest.approx(0.1 + 20 * 1e-3)


def test_fixed_ranks_stay_and_the_others_gather_around_them() -> None:
    net = racks([0, 1, 0, 1])
    cluster = fl.Cluster.uniform(net.hosts, 2)
    pairs = np.kron(np.eye(4), 1 - np.eye(2)) * 1e6
    traffic = fl.Traffic(bytes=pairs, messages=pairs > 0)

    placement = fl.place(traffic, net, cluster, objective="sum", fixed={0: "h3", 3: "h0"})

    assert placement.host_of_rank[[0, 1, 2, 3]].tolist() == [3, 3, 0, 0]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("max_moves", [0, 2, 4, 24])
def test_no_more_ranks_move_than_allowed(objective: str, max_moves: int) -> None:
    rng = np.random.default_rng(1)
    net = random_network(6, rng)
    traffic = random_traffic(24, rng)
    cluster = fl.Cluster.uniform(net.hosts, 4)
    start = fl.place(traffic, net, cluster, "random", seed=3)

    placement = fl.place(
        traffic, net, cluster, objective=objective, start=start, max_moves=max_moves
    )

    moved = int(np.sum(placement.host_of_rank != start.host_of_rank))
    before = value_s(start, traffic, net, "bytes", objective)
    after = value_s(placement, traffic, net, "bytes", objective)
    assert moved <= max_moves
    assert after < before if max_moves else after == before


def test_the_search_ends_when_progress_says_so() -> None:
    rng = np.random.default_rng(2)
    net = random_network(8, rng)
    traffic = random_traffic(64, rng)
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> bool:
        seen.append((done, total))
        return len(seen) < 3

    placement = fl.place(
        traffic, net, fl.Cluster.uniform(net.hosts, 8), objective="sum", on_progress=stop
    )

    assert len(seen) == 3 and all(0 < done < total for done, total in seen)
    assert placement.num_ranks == 64


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_is_placed_as_its_matrix_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = fl.HostTree(["h0", "h1", "h2", "h3"], [[0, 1, 0, 1]], [0, 1, 5])
    traffic = random_traffic(6, rng)
    slots = (1, 2, 2, 2)

    placement = fl.place(traffic, tree, fl.Cluster(tree.hosts, slots), objective="sum")

    def total(hosts: np.ndarray) -> float:
        pairs = traffic.bytes.tocoo()
        return float(np.sum(pairs.data * tree.cost(hosts[pairs.row], hosts[pairs.col])))

    best = min(total(hosts) for hosts in all_placements(6, slots))
    assert total(placement.host_of_rank) == pytest.approx(best)


def test_a_tree_gives_the_cost_of_the_lowest_common_group() -> None:
    tree = fl.HostTree(["a", "b", "c", "d"], [[0, 0, 1, 2], [0, 0, 0, 1]], [1, 10, 20, 40])
    expected = [[1, 10, 20, 40], [10, 1, 20, 40], [20, 20, 1, 40], [40, 40, 40, 1]]
    assert tree.cost(*np.indices((4, 4))).tolist() == expected
    assert tree.select(["d", "a"]).cost(*np.indices((2, 2))).tolist() == [[1, 40], [40, 1]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hosts": ["a", "a"]}, "each named once"),
        ({"costs": [0, 1]}, "expected 3 for 1 levels"),
        ({"costs": [0, 2, 1]}, "at least the one before"),
        ({"costs": [-1, 0, 1]}, "none may be negative"),
        ({"costs": [0, float("nan"), 1]}, "finite"),
        ({"groups": [[0, 0], [0, 1]], "costs": [0, 1, 2, 3]}, "lies in two of level 1"),
    ],
)
def test_an_impossible_tree_is_refused(wrong: dict[str, Any], message: str) -> None:
    given = {"hosts": ["a", "b"], "groups": [[0, 0]], "costs": [0, 1, 2], **wrong}
    with pytest.raises(fl.Error, match=message):
        fl.HostTree(**given)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"time_limit_s": 0}, "time_limit_s: must be finite and > 0, got 0"),
        ({"time_limit_s": float("nan")}, "time_limit_s"),
        ({"num_threads": -1}, "num_threads: must be >= 0"),
        ({"max_moves": 1}, "max_moves: counts from a placement"),
        ({"fixed": {9: "h0"}}, "there is no rank 9"),
        ({"fixed": {0: "moon"}}, "'moon' is not in the cluster"),
        ({"fixed": {0: "h0", 1: "h0"}}, "more ranks on 'h0' than its slots"),
        ({"start": fl.Placement(["h0"], [0, 0, 0])}, "expected 2 ranks, got 3"),
        ({"start": fl.Placement(["h0"], [0, 0])}, "more ranks on 'h0' than its slots"),
        ({"start": fl.Placement(["h9"], [0, 0])}, "'h9' is not in the cluster"),
        (
            {"start": fl.Placement(["h0", "h1"], [0, 1]), "max_moves": 1, "fixed": {0: "h1"}},
            "1 of these ranks are elsewhere",
        ),
        ({"method": "scotch", "time_limit_s": 1.0}, "time_limit_s: only the method 'optimize'"),
    ],
)
def test_what_cannot_be_kept_is_refused(more: dict[str, Any], message: str) -> None:
    net = racks([0, 1])
    traffic = fl.Traffic(bytes=np.eye(2)[::-1], messages=np.eye(2)[::-1])
    with pytest.raises(fl.Error, match=message):
        fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 1), **more)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_small_and_silent_jobs_have_a_place(objective: str) -> None:
    one, three = racks([0]), racks([0, 0, 1])
    alone = fl.Traffic(bytes=np.zeros((1, 1)), messages=np.zeros((1, 1)))
    to_itself = fl.Traffic(bytes=np.full((1, 1), 5.0), messages=np.ones((1, 1)))
    silent = fl.Traffic(bytes=np.zeros((5, 5)), messages=np.zeros((5, 5)))
    for traffic, net, slots in ((alone, one, 1), (to_itself, three, 1), (silent, three, 2)):
        placement = fl.place(
            traffic, net, fl.Cluster.uniform(net.hosts, slots), objective=objective
        )
        assert placement.num_ranks == traffic.num_ranks


def test_a_disconnected_pair_is_named_for_all_objectives() -> None:
    bandwidth_Bps = np.full((3, 3), 1e8)
    bandwidth_Bps[0, 2] = np.nan
    net = network(bandwidth_Bps)
    traffic = random_traffic(3, np.random.default_rng(0))
    for objective in OBJECTIVES:
        with pytest.raises(fl.TopologyError, match="from 'h0' to 'h2' was not measured"):
            fl.place(traffic, net, fl.Cluster.uniform(net.hosts, 1), objective=objective)


def test_a_tree_has_no_bottleneck() -> None:
    tree = fl.HostTree(["a", "b"], [[0, 0]], [0, 1, 2])
    traffic = fl.Traffic(bytes=np.eye(2)[::-1], messages=np.eye(2)[::-1])
    for objective in ("bottleneck", "bottleneck-and-mean"):
        with pytest.raises(fl.InputError, match="this tree: a host tree has costs but no rates"):
            fl.place(traffic, tree, fl.Cluster.uniform(tree.hosts, 1), objective=objective)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_places_on_a_tree_as_on_its_matrix(method: str) -> None:
    tree = fl.HostTree(["h0", "h1", "h2", "h3"], [[0, 1, 0, 1]], [0, 1, 5])
    with np.errstate(divide="ignore"):
        matrix = network(1 / tree.pair_costs("bytes"))
    traffic = random_traffic(8, np.random.default_rng(0))
    cluster = fl.Cluster.uniform(tree.hosts, 2)

    on_tree, on_matrix = (
        fl.place(traffic, known, cluster, method, objective="sum") for known in (tree, matrix)
    )

    assert fl.evaluate(on_tree, traffic, matrix).weighted_sum["bytes"] == pytest.approx(
        fl.evaluate(on_matrix, traffic, matrix).weighted_sum["bytes"]
    )


def test_the_best_of_equal_placements_is_the_first() -> None:
    net = racks([0, 0])
    traffic = fl.Traffic(bytes=np.zeros((2, 2)), messages=np.zeros((2, 2)))
    problem = Problem(traffic, net, fl.Cluster.uniform(net.hosts, 1), "bytes", "sum", 0)
    assert problem.best(np.array([[1, 0], [0, 1]])).tolist() == [1, 0]


def everybody_with_everybody(num_tasks: int) -> tuple[fl.Traffic, fl.Network, fl.Cluster]:
    """Dense traffic on hosts of eight slots, each pair of hosts with a rate of its own."""
    num_hosts = num_tasks // 8
    rng = np.random.default_rng(num_tasks)
    sent = 1.0 - np.eye(num_tasks)
    between = 1.0 - np.eye(num_hosts)
    rates_Bps = 1e9 * rng.lognormal(0, 0.3, between.shape)
    np.fill_diagonal(rates_Bps, np.inf)
    hosts = [f"h{host}" for host in range(num_hosts)]
    net = fl.Network(hosts, 1e-6 * between, rates_Bps)
    return fl.Traffic(bytes=sent, messages=sent), net, fl.Cluster.uniform(hosts, 8)


@pytest.mark.parametrize(("limit_s", "num_starts"), [(0.1, 0), (1.0, 1)])
def test_scotch_is_not_started_for_dense_traffic_that_would_take_it_the_whole_limit(
    limit_s: float, num_starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Problem] = []

    def counted(problem: Problem) -> Any:
        started.append(problem)
        return scotch_best(problem)

    monkeypatch.setattr("fairlead.decide.placement.optimizing.scotch_best", counted)
    fl.place(*everybody_with_everybody(512), "optimize", time_limit_s=limit_s, num_threads=1)
    assert len(started) == num_starts


def test_the_time_before_the_search_counts_in_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dict[str, Any]] = []
    limits_of_search = _core.SearchLimits

    def noted(**limits: Any) -> Any:
        found.append(limits)
        return limits_of_search(**limits)

    monkeypatch.setattr("fairlead.decide.placement.optimizing._core.SearchLimits", noted)
    fl.place(*everybody_with_everybody(512), "optimize", time_limit_s=0.5)
    (limits,) = found
    # Reading the traffic alone takes longer than a tenth of a millisecond.
    assert limits["deadline_s"] < 0.5 - 1e-4


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_time_limit_holds_for_dense_traffic(objective: str) -> None:
    # Only guards: seconds of the core, ten times what it takes. When nothing of a start was
    # counted, it took 2.7 s.
    arguments = everybody_with_everybody(1024)
    begin_s = time.process_time()
    fl.place(*arguments, "optimize", objective=objective, time_limit_s=0.05, num_threads=1)
    assert time.process_time() - begin_s < 1.5
