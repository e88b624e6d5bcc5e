# SPDX-License-Identifier: Apache-2.0
"""Costs of placements against a reference that follows the equations word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import network, racks, random_network, random_traffic

import fairlead as fl


def reference(placement: fl.Placement, traffic: fl.Traffic, net: fl.Network) -> dict[str, float]:
    """Loops over pairs of ranks: CloudMap equations 1 to 4, and DESIGN's bottleneck."""
    num_bytes = traffic.bytes.toarray() + traffic.exchange_bytes.toarray()
    messages = traffic.messages.toarray() + traffic.exchange_messages.toarray()
    hosts = placement.host_names()
    inter = intra = inter_s = time_s = 0.0
    pair_bytes: dict[tuple[str, str], float] = {}
    sent_s, received_s = np.zeros(len(hosts)), np.zeros(len(hosts))
    for i, src in enumerate(hosts):
        for j, dst in enumerate(hosts):
            latency_s = net.latency_s[net.index(src), net.index(dst)]
            bandwidth_Bps = net.bandwidth_Bps[net.index(src), net.index(dst)]
            time_s += messages[i, j] * latency_s + num_bytes[i, j] / bandwidth_Bps
            sent_s[i] += messages[i, j] * latency_s
            received_s[j] += messages[i, j] * latency_s
            if src == dst:
                intra += 0.0 if i == j else num_bytes[i, j]
            else:
                inter += num_bytes[i, j]
                inter_s += num_bytes[i, j] / bandwidth_Bps
                pair_bytes[src, dst] = pair_bytes.get((src, dst), 0.0) + num_bytes[i, j]
    busiest_s = 0.0
    for a in net.hosts:
        out = [net.bandwidth_Bps[net.index(a), net.index(b)] for b in net.hosts if b != a]
        into = [net.bandwidth_Bps[net.index(b), net.index(a)] for b in net.hosts if b != a]
        sent = sum(value for (src, _), value in pair_bytes.items() if src == a)
        received = sum(value for (_, dst), value in pair_bytes.items() if dst == a)
        busiest_s = max(busiest_s, sent / max(out, default=1), received / max(into, default=1))
    for (src, dst), value in pair_bytes.items():
        busiest_s = max(busiest_s, value / net.bandwidth_Bps[net.index(src), net.index(dst)])
    bottleneck_s = busiest_s + max(sent_s.max(), received_s.max())
    return {
        "inter_bytes": inter,
        "intra_bytes": intra,
        "comm_time_s": inter_s,
        "serial_time_s": time_s,
        "bottleneck_s": bottleneck_s,
        "bottleneck_and_mean_s": bottleneck_s + time_s / min(net.num_hosts, len(hosts)),
    }


def test_costs_are_those_of_equations_1_to_4_computed_by_hand() -> None:
    # Tasks 0 and 1 are on instance h0, 2 on h1, 3 on h2. Comm(i, j) is 10 for (0, 1), 20 for
    # (0, 2), 30 for (1, 3), 40 for (2, 3) and 5 for (0, 3); half of it or all is sent each way.
    # Inter = 20 + 30 + 40 + 5; Intra = 105 - 95; CommTime = 20/10 + 30/5 + 40/2 + 5/5.
    num_bytes = np.zeros((4, 4))
    num_bytes[[0, 1, 0, 2, 1, 2, 3], [1, 0, 2, 0, 3, 3, 0]] = [5, 5, 12, 8, 30, 40, 5]
    np.fill_diagonal(num_bytes, 1000)  # not a pair i < j
    net = network([[1, 10, 5], [10, 1, 2], [5, 2, 1]])

    cost = fl.evaluate(
        fl.Placement(net.hosts, np.array([0, 0, 1, 2])), fl.Traffic(num_bytes, num_bytes), net
    )

    assert (cost.inter_bytes, cost.intra_bytes, cost.comm_time_s) == (95, 10, 29)


@given(seed=st.integers(0, 2**32 - 1), num_ranks=st.integers(1, 12), num_hosts=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_costs_follow_the_equations(seed: int, num_ranks: int, num_hosts: int) -> None:
    rng = np.random.default_rng(seed)
    net, traffic = random_network(num_hosts, rng), random_traffic(num_ranks, rng)
    placement = fl.Placement(net.hosts, rng.integers(0, num_hosts, num_ranks))

    cost = fl.evaluate(placement, traffic, net)

    for name, value in reference(placement, traffic, net).items():
        assert getattr(cost, name) == pytest.approx(value, rel=1e-12), name
    assert sum(cost.weighted_sum.values()) == pytest.approx(cost.serial_time_s, rel=1e-12)


def test_exchange_patterns_count_like_messages() -> None:
    pattern = np.array([[0.0, 3.0], [0.0, 0.0]])
    nothing = np.zeros((2, 2))
    net = network([[1, 2], [4, 1]])
    placement = fl.Placement(net.hosts, np.array([0, 1]))

    sent = fl.evaluate(placement, fl.Traffic(pattern, pattern), net)
    exchanged = fl.evaluate(
        placement,
        fl.Traffic(nothing, nothing, exchange_bytes=pattern, exchange_messages=pattern),
        net,
    )

    assert sent == exchanged
    assert sent.inter_bytes == 3.0


def test_a_measured_inside_of_a_host_costs_what_it_was_measured_at() -> None:
    net = fl.Network(["a"], [[0.5]], [[4.0]])
    traffic = fl.Traffic([[0, 8], [0, 0]], [[0, 2], [0, 0]])

    cost = fl.evaluate(fl.Placement(["a"], np.array([0, 0])), traffic, net)

    assert cost.serial_time_s == 2 * 0.5 + 8 / 4.0
    assert cost.comm_time_s == 0  # eq. 4 counts what crosses hosts
    assert cost.bottleneck_s == 2 * 0.5  # nothing crosses the interface


def test_the_interface_is_the_bottleneck_when_one_host_serves_many() -> None:
    net = network(np.full((4, 4), 10.0), np.zeros((4, 4)))
    traffic = np.zeros((4, 4))
    traffic[0, 1:] = 100.0

    cost = fl.evaluate(
        fl.Placement(net.hosts, np.arange(4)), fl.Traffic(traffic, np.zeros((4, 4))), net
    )

    assert cost.bottleneck_s == 3 * 100 / 10


def test_hosts_of_the_placement_may_be_few_and_in_another_order() -> None:
    net = racks([0, 0, 1, 1])
    traffic = fl.Traffic([[0, 125e6], [0, 0]], np.zeros((2, 2)))

    near = fl.evaluate(fl.Placement(["h1", "h0"], np.array([0, 1])), traffic, net)
    far = fl.evaluate(fl.Placement(["h3", "h0"], np.array([0, 1])), traffic, net)

    assert near.comm_time_s == 1.0
    assert far.comm_time_s == pytest.approx(5.0)
    assert near.bottleneck_and_mean_s == pytest.approx(1.0 + 1.0 / 2)  # of two hosts, not of four


def test_traffic_over_an_unmeasured_pair_names_the_pair() -> None:
    unknown = np.array([[np.inf, np.nan], [1.0, np.inf]])
    net = fl.Network(["a", "b"], np.zeros((2, 2)), unknown)
    traffic = fl.Traffic([[0, 1], [0, 0]], [[0, 1], [0, 0]])

    with pytest.raises(fl.TopologyError, match=r"from 'a' to 'b'.*was not measured"):
        fl.evaluate(fl.Placement(["a", "b"], np.array([0, 1])), traffic, net)

    back = fl.evaluate(fl.Placement(["a", "b"], np.array([1, 0])), traffic, net)
    assert back.comm_time_s == 1.0


def test_an_unknown_host_and_a_wrong_number_of_ranks_are_refused() -> None:
    net = racks([0, 1])
    traffic = fl.Traffic(np.ones((2, 2)), np.ones((2, 2)))

    with pytest.raises(fl.TopologyError, match="'h9'"):
        fl.evaluate(fl.Placement(["h9"], np.array([0, 0])), traffic, net)
    with pytest.raises(fl.ShapeError, match="3 ranks, but the traffic 2"):
        fl.evaluate(fl.Placement(["h0"], np.array([0, 0, 0])), traffic, net)


def test_no_bandwidth_at_all_is_no_network() -> None:
    with pytest.raises(fl.InputError, match="bandwidth_Bps"):
        fl.Network(["a", "b"], np.zeros((2, 2)), np.zeros((2, 2)))
