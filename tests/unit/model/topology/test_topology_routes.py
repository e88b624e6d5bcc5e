# SPDX-License-Identifier: Apache-2.0
"""Routes of a torus, a tree and by tables; reductions along them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fairlead.errors import InputError, ShapeError, TopologyError
from fairlead.model.topology import (
    Links,
    Reduction,
    TableRoutes,
    Topology,
    TorusRoutes,
    TreeRoutes,
    ends_only,
)
from fairlead.model.topology.routes import NO_LINK, Routes, known_reducer
from fairlead.model.topology.tree import links_of_tree


def torus(*sizes: int, missing: tuple[int, ...] = ()) -> TorusRoutes:
    """A host on each router; links numbered as they come, those of a missing router left out."""
    link_of_step = np.full((len(sizes), 2, *sizes), NO_LINK)
    number = 0
    for dimension in range(len(sizes)):
        for direction in range(2):
            for place in np.ndindex(*sizes):
                link_of_step[(dimension, direction, *place)] = number
                number += 1
    if missing:
        link_of_step[(slice(None), slice(None), *missing)] = NO_LINK
    return TorusRoutes(sizes, list(np.ndindex(*sizes)), link_of_step)


def tree() -> TreeRoutes:
    """h0 and h1 below leaf 4, h2 below leaf 5, h3 below the root 6, as are both leaves."""
    return TreeRoutes([4, 4, 5, 6, 6, 6, NO_LINK], 4)


def table() -> TableRoutes:
    """Two hosts on each of two switches: links 0..3 up, 4..7 down, 8 and 9 between."""
    next_link = [[4, 5, 8, 8], [9, 9, 6, 7]]
    return TableRoutes([0, 0, 1, 1], [0, 1, 2, 3], next_link, [0, 0, 1, 1] + [-1] * 4 + [1, 0])


def by_hand(routes: Routes, values: np.ndarray, reduction: Reduction, num_hosts: int):
    """Each route walked by itself."""
    filled = np.append(values, reduction.neutral)
    result = np.full((num_hosts, num_hosts), reduction.neutral)
    for src, dst in np.ndindex(num_hosts, num_hosts):
        for link in routes.route(src, dst):
            result[src, dst] = reduction.combine(result[src, dst], filled[link])
    return result


def test_torus_goes_x_then_y_then_z() -> None:
    routes = torus(5, 5, 5)
    src = int(np.ravel_multi_index((0, 1, 2), (5, 5, 5)))
    dst = int(np.ravel_multi_index((2, 0, 3), (5, 5, 5)))

    links = routes.route(src, dst)

    expected = [
        routes.link_of_step[0, 0, 0, 1, 2],
        routes.link_of_step[0, 0, 1, 1, 2],
        routes.link_of_step[1, 1, 2, 1, 2],
        routes.link_of_step[2, 0, 2, 0, 2],
    ]
    assert links.tolist() == expected


def test_torus_goes_the_shorter_way_round() -> None:
    routes = torus(8)

    assert routes.steps(0)[0].tolist() == [0, 1, 2, 3, 4, -3, -2, -1]
    assert routes.steps(0)[7].tolist() == [1, 2, 3, -4, -3, -2, -1, 0]


def test_torus_breaks_a_tie_by_the_parity_of_the_destination() -> None:
    steps = torus(6).steps(0)

    assert [int(steps[src, (src + 3) % 6]) for src in range(6)] == [-3, 3, -3, 3, -3, 3]


def test_line_that_is_no_ring_has_no_way_round() -> None:
    routes = TorusRoutes([4], [[x] for x in range(4)], torus(4).link_of_step, [False])

    assert routes.steps(0)[0].tolist() == [0, 1, 2, 3]
    assert routes.steps(0)[3].tolist() == [-3, -2, -1, 0]


@pytest.mark.parametrize("reduction", Reduction)
@pytest.mark.parametrize(
    ("routes", "num_hosts", "num_links"),
    [
        (torus(4, 3, 2), 24, 144),
        (torus(5, 2), 10, 40),
        (torus(3, 3, missing=(1, 1)), 9, 36),
        (TorusRoutes([3, 2], list(np.ndindex(3, 2)), torus(3, 2).link_of_step, [False] * 2), 6, 24),
        (tree(), 4, 14),
        (table(), 4, 10),
        (ends_only(3), 3, 8),
    ],
)
def test_reduction_of_all_pairs_is_that_of_each_route(
    routes: Routes, num_hosts: int, num_links: int, reduction: Reduction
) -> None:
    values = np.random.default_rng(1).uniform(1, 2, num_links)
    src, dst = np.indices((num_hosts, num_hosts))

    result = known_reducer(routes, values, reduction)(src, dst)

    np.testing.assert_allclose(result, by_hand(routes, values, reduction, num_hosts))


def test_unknown_link_does_not_count() -> None:
    values = np.full(14, np.nan)
    values[0] = 0.5

    result = known_reducer(tree(), values, Reduction.max)(np.array([0, 2]), np.array([1, 3]))

    assert result.tolist() == [0.5, -np.inf]


def test_tree_goes_up_to_the_lowest_common_switch() -> None:
    assert tree().route(0, 1).tolist() == [0, 3]
    assert tree().route(0, 2).tolist() == [0, 8, 11, 5]
    assert tree().route(2, 2).tolist() == []


def test_switch_below_itself_is_refused() -> None:
    with pytest.raises(InputError, match="a switch is below itself"):
        TreeRoutes([1, 2, 1], 1)


def test_table_that_loops_is_an_error() -> None:
    loop = TableRoutes([0, 1], [0, 1], [[2, 2], [3, 3]], [0, 1, 1, 0])

    with pytest.raises(TopologyError, match="from host 0 to host 1 runs in a loop on switch"):
        loop.route(0, 1)


def test_table_without_a_way_is_an_error() -> None:
    lost = TableRoutes([0, 1], [0, 1], [[2, -1], [3, 3]], [0, 1, -1, -1])

    with pytest.raises(TopologyError, match="from host 0 to host 1 ends on switch 0"):
        lost.route(0, 1)


def topology(routes: Routes, num_links: int, num_hosts: int) -> Topology:
    names = [f"p{link}" for link in range(num_links)]
    links = Links(names, [f"q{name}" for name in names], np.linspace(1e9, 2e9, num_links))
    hosts = [f"h{host}" for host in range(num_hosts)]
    return Topology(
        hosts, links, routes, hosts, np.zeros((num_hosts, 2)), np.full(num_hosts, 3e9),
        {"how": "test"}, ["odd"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("routes", "num_links", "num_hosts"), [(torus(3, 2), 24, 6), (tree(), 14, 4), (table(), 10, 4)]
)
def test_topology_comes_back_from_its_file(
    tmp_path: Path, routes: Routes, num_links: int, num_hosts: int
) -> None:
    before = topology(routes, num_links, num_hosts)
    before.save(tmp_path / "a.topo.npz")

    after = Topology.load(tmp_path / "a.topo.npz")

    assert (after.hosts, after.links.in_ports) == (before.hosts, before.links.in_ports)
    assert (after.problems, after.origin) == (("odd",), {"how": "test"})
    np.testing.assert_array_equal(after.nic_Bps, before.nic_Bps)
    for src, dst in np.ndindex(num_hosts, num_hosts):
        np.testing.assert_array_equal(after.routes.route(src, dst), routes.route(src, dst))


@pytest.mark.parametrize(
    ("nic_Bps", "problem"),
    [
        ([1e9, 0.0, 1e9, 1e9], "nic_Bps: every value must be > 0, or nan"),
        ([1e9], r"nic_Bps: expected shape \(4,\), got \(1,\)"),
    ],
)
def test_interfaces_that_cannot_be_are_refused(nic_Bps: list[float], problem: str) -> None:
    with pytest.raises((InputError, ShapeError), match=problem):
        dataclasses.replace(topology(tree(), 14, 4), nic_Bps=np.array(nic_Bps))


def test_file_that_names_a_link_too_many_is_refused(tmp_path: Path) -> None:
    whole = topology(torus(3, 2), 24, 6)
    routes = TorusRoutes(
        (3, 2), list(np.ndindex(3, 2)), np.where(torus(3, 2).link_of_step == 5, 24, 0)
    )
    Topology(whole.hosts, whole.links, routes, whole.hosts).save(tmp_path / "a.topo.npz")

    with pytest.raises(InputError, match=r"a\.topo\.npz: link_of_step: names a link that is not"):
        Topology.load(tmp_path / "a.topo.npz")


def test_unknown_host_is_an_error() -> None:
    with pytest.raises(TopologyError, match="host 'x' is not in this topology, which has 4 hosts"):
        topology(tree(), 14, 4).route("h0", "x")


def test_links_of_a_tree_have_the_ports_of_their_ends() -> None:
    links = links_of_tree(["a", "b"], np.array([1.0, 2.0]))

    assert links.out_ports == ("a", "above a", "b", "above b")
    assert links.in_ports == ("above a", "a", "above b", "b")
    assert links.capacity_Bps.tolist() == [1.0, 1.0, 2.0, 2.0]
