# SPDX-License-Identifier: Apache-2.0
"""The model checks what it is given, and its simple sums hold."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from saved_samples import three_ranks

import fairlead as fl


def test_every_public_name_exists_and_is_documented() -> None:
    for name in fl.__all__:
        assert getattr(fl, name).__doc__, name


def test_transfer_time_is_latency_plus_size_over_bandwidth() -> None:
    network = fl.Network(["a", "b"], [[0, 0.5], [0.25, 0]], [[np.inf, 10], [4, np.inf]])
    assert network.transfer_s(20).tolist() == [[0, 2.5], [5.25, 0]]


def test_select_reorders_every_matrix() -> None:
    values = np.arange(1.0, 10.0).reshape(3, 3)
    network = fl.Network(["a", "b", "c"], values, values * 10, bandwidth_low_Bps=values * 9)
    picked = network.select(["c", "a"])
    assert picked.latency_s.tolist() == [[9, 7], [3, 1]]
    assert picked.bandwidth_low_Bps is not None
    assert picked.bandwidth_low_Bps.tolist() == [[81, 63], [27, 9]]


def test_select_of_the_same_hosts_copies_nothing() -> None:
    network = fl.Network(["a", "b"], np.ones((2, 2)), np.ones((2, 2)))
    assert network.select(["a", "b"]) is network


def test_unmeasured_pairs_are_named() -> None:
    network = fl.Network(["a", "b"], [[0, np.nan], [1, 0]], [[np.inf, 1], [1, np.inf]])
    assert network.unmeasured_pairs() == [("a", "b")]


def test_network_refuses_a_host_named_twice() -> None:
    with pytest.raises(fl.TopologyError, match="named twice: a"):
        fl.Network(["a", "a"], np.zeros((2, 2)), np.ones((2, 2)))


def test_network_refuses_matrices_of_another_size() -> None:
    with pytest.raises(fl.ShapeError, match=r"expected shape \(2, 2\) for 2 hosts, got \(3, 3\)"):
        fl.Network(["a", "b"], np.zeros((3, 3)), np.ones((2, 2)))


def test_an_interval_the_wrong_way_round_is_refused() -> None:
    low, high = np.full((2, 2), 2.0), np.full((2, 2), 1.0)
    with pytest.raises(fl.InputError, match="latency_low_s: a value is above that of latency_high"):
        fl.Network(["a", "b"], low, low, latency_low_s=low, latency_high_s=high)


def test_unknown_host_is_named_with_those_there_are() -> None:
    with pytest.raises(fl.TopologyError, match="'z' is not in this network, which has a, b"):
        fl.Network(["a", "b"], np.zeros((2, 2)), np.ones((2, 2))).index("z")


@pytest.mark.parametrize(
    ("hosts", "slots", "problem"),
    [
        ((), (), "at least one host"),
        (("a",), (0,), "slots must be >= 1, got 0"),
        (("a", "a"), (1, 1), "'a' is named twice"),
        (("a", "b"), (1,), "2 hosts, but 1 slot counts"),
    ],
)
def test_impossible_cluster_is_refused(hosts, slots, problem) -> None:
    with pytest.raises(fl.TopologyError, match=problem):
        fl.Cluster(hosts, slots)


def test_cluster_names_slots_that_are_missing() -> None:
    with pytest.raises(fl.TopologyError, match="9 ranks do not fit: 2 hosts have 8 slots"):
        fl.Cluster.uniform(["a", "b"], slots=4).require_room_for(9)


def test_placement_that_overfills_a_host_is_refused() -> None:
    placement = fl.Placement(["a", "b"], np.array([0, 0, 1]))
    with pytest.raises(fl.TopologyError, match="'a' holds 2 ranks, but has 1 slots"):
        placement.require_fits(fl.Cluster(("a", "b"), (1, 2)))


def test_placement_on_a_foreign_host_is_refused() -> None:
    placement = fl.Placement(["a", "z"], np.array([0, 1]))
    with pytest.raises(fl.TopologyError, match="'z' is not in the cluster"):
        placement.require_fits(fl.Cluster(("a", "b"), (1, 2)))


def test_traffic_refuses_negative_and_infinite_values() -> None:
    with pytest.raises(fl.InputError, match="messages: every value must be finite and >= 0"):
        fl.Traffic(bytes=np.ones((2, 2)), messages=np.array([[0, -1], [0, 0]]))
    with pytest.raises(fl.InputError, match="bytes: every value"):
        fl.Traffic(bytes=np.array([[np.inf]]), messages=np.zeros((1, 1)))


def test_mean_message_counts_messages_and_exchanges() -> None:
    one_pair = np.array([[0, 1], [0, 0]])
    traffic = fl.Traffic(
        bytes=one_pair * 100, messages=one_pair * 2,
        exchange_bytes=one_pair * 500, exchange_messages=one_pair,
    )  # fmt: skip

    assert traffic.mean_message_bytes == 200
    assert fl.Traffic(bytes=one_pair * 0, messages=one_pair * 0).mean_message_bytes == 0


def test_total_adds_exchange_to_point_to_point() -> None:
    total = three_ranks().total
    assert total.bytes.toarray().tolist() == [[0, 10, 3], [0, 0, 2.0**40], [5, 0, 0]]


def test_total_of_a_traffic_is_computed_once_from_what_cannot_change() -> None:
    given = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    traffic = fl.Traffic(bytes=given, messages=given)

    assert traffic.total is traffic.total
    with pytest.raises(ValueError, match="read-only"):
        traffic.bytes.data[0] = 3.0
    given.data[0] = 3.0
    assert traffic.bytes[0, 1] == 1.0


def test_traffic_refuses_matrices_of_different_size() -> None:
    with pytest.raises(fl.ShapeError, match="messages"):
        fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((3, 3)))


@pytest.mark.parametrize(
    "module", ["fairlead.model.network", "fairlead.model.traffic", "fairlead.errors"]
)
def test_module_exports_exist(module: str) -> None:
    loaded = importlib.import_module(module)
    assert all(hasattr(loaded, name) for name in loaded.__all__)


def test_part_of_a_cluster_keeps_slots_and_sockets() -> None:
    whole = fl.Cluster(("a", "b", "c"), (1, 2, 3), (1, 2, 1))
    assert whole.select(["c", "b"]) == fl.Cluster(("c", "b"), (3, 2), (1, 2))
    with pytest.raises(fl.TopologyError, match="no host 'd'; there are a, b, c"):
        whole.select(["d"])
