# SPDX-License-Identifier: Apache-2.0
"""`geometric` cuts ranks and hosts by their coordinates in the same way."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import fairlead as fl
from fairlead.decide.placement import graph_coordinates as made_up
from fairlead.decide.placement.geometric import multi_jagged
from fairlead.decide.placement.graph_coordinates import graph_coordinates


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(np.ndindex(*sizes)), dtype=float)


def grid_traffic(*sizes: int) -> fl.Traffic:
    """Each process of a grid sends as much to each neighbour."""
    at = grid(*sizes)
    near = (np.abs(at[:, None] - at[None]).sum(axis=2) == 1).astype(float)
    return fl.Traffic(1e6 * near, near)


def network(at: np.ndarray) -> fl.Network:
    """Hosts whose bandwidth falls with their distance."""
    hops = np.abs(at[:, None] - at[None]).sum(axis=2)
    bandwidth_Bps = np.where(hops > 0, 1e9 / np.maximum(hops, 1), np.inf)
    hosts = [f"h{index}" for index in range(len(at))]
    return fl.Network(hosts, 1e-6 * hops, bandwidth_Bps, coordinates=at)


def distances(placement: fl.Placement, at: np.ndarray, traffic: fl.Traffic) -> np.ndarray:
    src, dst = traffic.total.bytes.nonzero()
    host = placement.host_of_rank
    return np.abs(at[host[src]] - at[host[dst]]).sum(axis=1)


def test_grid_of_ranks_goes_on_a_like_grid_of_hosts_as_it_is() -> None:
    at = grid(4, 4, 4)
    order = np.random.default_rng(3).permutation(64)
    traffic, net = grid_traffic(4, 4, 4), network(at[order])

    placement = fl.place(
        traffic, net, fl.Cluster.uniform(net.hosts, 1), "geometric", rank_coordinates=at
    )

    assert set(distances(placement, at[order], traffic)) == {1.0}


def test_coordinates_of_ranks_are_made_up_from_their_traffic() -> None:
    traffic, net = grid_traffic(16, 2), network(grid(16, 2))
    cluster = fl.Cluster.uniform(net.hosts, 1)

    placement = fl.place(traffic, net, cluster, "geometric")

    by_chance = fl.place(traffic, net, cluster, "random")
    at = grid(16, 2)
    assert distances(placement, at, traffic).mean() < 0.3 * distances(by_chance, at, traffic).mean()


def test_coordinates_of_hosts_are_made_up_from_their_costs() -> None:
    at = grid(16)
    order = np.random.default_rng(5).permutation(16)
    traffic, net = grid_traffic(16), dataclasses.replace(network(at[order]), coordinates=None)
    cluster = fl.Cluster.uniform(net.hosts, 1)

    placement = fl.place(traffic, net, cluster, "geometric", rank_coordinates=at)

    # Neighbours in the chain sit next to one another, but for what the cost of far pairs bends.
    assert distances(placement, at[order], traffic).mean() < 2.5


@pytest.mark.parametrize("num_ranks", [0, 1, 5, 10, 11])
def test_no_host_gets_more_than_its_slots(num_ranks: int) -> None:
    slots = np.array([1, 4, 2, 1, 3])

    host_of_rank = multi_jagged(np.random.default_rng(1).random((num_ranks, 3)), grid(5), slots)

    assert np.all(np.bincount(host_of_rank, minlength=5) <= slots)


def test_ranks_of_a_host_are_near_one_another() -> None:
    at = grid(8, 8)

    host_of_rank = multi_jagged(at, grid(2, 2), np.full(4, 16))

    for host in range(4):
        assert np.ptp(at[host_of_rank == host], axis=0).tolist() == [3, 3]


def test_graph_without_edges_has_coordinates() -> None:
    assert graph_coordinates(sp.csr_array((5, 5))).shape == (5, 1)


def test_chain_is_ordered_by_its_coordinates() -> None:
    near = np.eye(12, k=1) + np.eye(12, k=-1)

    first = graph_coordinates(sp.csr_array(near))[:, 0]

    assert np.all(np.diff(first) > 0) or np.all(np.diff(first) < 0)


@pytest.mark.parametrize(
    ("method", "given", "problem"),
    [
        ("geometric", [[0.0]], r"rank_coordinates: expected shape \(4, D\) for 4 ranks"),
        ("geometric", [[0.0]] * 3 + [[np.nan]], "rank_coordinates: each must be finite"),
        ("scotch", [[0.0]] * 4, "rank_coordinates: only the method 'geometric' has a use"),
    ],
)
def test_wrong_coordinates_are_refused(method: str, given: list, problem: str) -> None:
    net = network(grid(4))

    with pytest.raises(fl.InputError, match=problem):
        fl.place(
            grid_traffic(4), net, fl.Cluster.uniform(net.hosts, 1), method, rank_coordinates=given
        )


def test_coordinates_of_a_network_come_back_from_its_file(tmp_path) -> None:
    network(grid(2, 2)).save(tmp_path / "a.net.npz")

    loaded = fl.Network.load(tmp_path / "a.net.npz").select(["h3", "h0"])

    assert loaded.coordinates is not None and loaded.coordinates.tolist() == [[1, 1], [0, 0]]


def chain(length: int) -> sp.csr_array:
    ones = np.ones(length - 1)
    return sp.csr_array(sp.diags_array([ones, ones], offsets=[1, -1]))


def test_large_graph_is_cut_without_a_dense_matrix(monkeypatch) -> None:
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("made a dense matrix"))
    order = np.random.default_rng(1).permutation(made_up.MOST_DENSE * 4)
    near = chain(len(order))[order][:, order]

    first = graph_coordinates(sp.csr_array(near))[:, 0]

    # Along the first vector of a chain its vertices stand in their order.
    assert abs(np.corrcoef(np.argsort(np.argsort(first)), order)[0, 1]) > 0.999


def test_both_ways_to_make_up_coordinates_cut_a_grid_alike(monkeypatch) -> None:
    width, height = 24, 9
    one, other = chain(width), chain(height)
    near = sp.kron(one, sp.eye_array(height)) + sp.kron(sp.eye_array(width), other)
    exact = graph_coordinates(sp.csr_array(near))
    monkeypatch.setattr(made_up, "MOST_DENSE", 0)

    found = graph_coordinates(sp.csr_array(near))

    assert abs(np.corrcoef(exact[:, 0], found[:, 0])[0, 1]) > 0.99


def test_parts_without_an_edge_between_them_are_kept_apart(monkeypatch) -> None:
    monkeypatch.setattr(made_up, "MOST_DENSE", 0)
    near = sp.block_diag([chain(40), chain(60)], format="csr")

    found = graph_coordinates(sp.csr_array(near))

    assert np.all(np.isfinite(found)) and found.shape == (100, 3)
