# SPDX-License-Identifier: Apache-2.0
"""CMPI's Algorithm 4: the paper's 16 hosts by hand, a plain reading, and what the text promises."""

from __future__ import annotations

import dataclasses

import cmpi_reading as paper
import numpy as np
import pytest

import fairlead as fl


def sixteen_hosts() -> fl.Network:
    """Pairs of 1 ms in fours of 5 ms, all others 9 ms: levels 0, 1 and 2 by k = 4.

    A hierarchy of four levels (16, 8, 4 and 1 groups), which agrees with the text on figure 4b.
    """
    host = np.arange(16)
    is_pair, is_four = (host[:, None] // size == host // size for size in (2, 4))
    latency_s = np.select([np.eye(16, dtype=bool), is_pair, is_four], [0, 1e-3, 5e-3], 9e-3)
    return fl.Network([f"n{n}" for n in host], latency_s, np.full((16, 16), 1e12))


def drawn(num_hosts: int, seed: int) -> fl.Network:
    random, shape = np.random.default_rng(seed), (num_hosts, num_hosts)
    is_self = np.eye(num_hosts, dtype=bool)
    return fl.Network(
        [f"n{host}" for host in range(num_hosts)],
        np.where(is_self, 0.0, random.lognormal(np.log(1e-4), 1.0, shape)),
        np.where(is_self, np.inf, random.lognormal(np.log(1e8), 0.7, shape)),
    )


def parents_of(operation: str, network: fl.Network, message_bytes: int, root: int) -> list[int]:
    schedule = fl.collectives.plan(operation, network, message_bytes, root, method="cmpi")
    assert schedule.parent is not None
    return schedule.parent.tolist()


def test_sixteen_hosts_of_figure_4b() -> None:
    # 0 gets 1; 0 and 1 get 2 and 3. Three fours are left for four hosts, so that of 12 to 15 is
    # split: 14 and 15 go to host 3. Inside a four its first host is the root, as 0 in the first.
    by_hand = [-1, 0, 0, 1, 0, 4, 4, 5, 1, 8, 8, 9, 2, 12, 3, 14]

    assert parents_of("gather", sixteen_hosts(), 1, root=0) == by_hand
    assert parents_of("scatter", sixteen_hosts(), 1, root=0) == by_hand


def test_subtree_of_14_and_15_is_split_itself_on_four_levels_of_groups() -> None:
    # Figure 4b if its four levels are above the single hosts: 8, 4, 2 and 1 groups. On the fourth
    # 6 to 15 are split into five pairs for the six hosts 0 to 5, then the last pair, 14 and 15.
    sets = [
        [range(n, n + 2) for n in range(0, 16, 2)],
        [range(4), range(4, 6), range(6, 10), range(10, 16)],
        [range(6), range(6, 16)],
        [range(16)],
    ]
    latency_s = np.zeros((16, 16))
    for level, groups in reversed(list(enumerate(sets))):
        for members in groups:
            latency_s[np.ix_(members, members)] = (1 + 4 * level) * 1e-3
    np.fill_diagonal(latency_s, 0)
    network = fl.Network([f"n{n}" for n in range(16)], latency_s, np.full((16, 16), 1e12))
    hierarchy = fl.build_hierarchy(network, 1, max_span=4)
    assert [hierarchy.groups(n) for n in range(1, 5)] == [[list(g) for g in gs] for gs in sets]

    plan = fl.collectives.plan("gather", network, 1, root=0, method="cmpi", max_span=4)

    assert plan.parent is not None
    assert plan.parent.tolist() == [-1, 0, 0, 1, 0, 1, 0, 6, 1, 8, 2, 10, 3, 12, 4, 5]


def test_subtree_is_attached_by_the_host_with_the_best_link_to_its_parent() -> None:
    # From 6 to 0 a message takes 1 ms, but not back: no host is closer, so the groups stay.
    network = sixteen_hosts()
    network.latency_s[6, 0] = 1e-3

    parents = parents_of("gather", network, 1, root=0)

    assert parents[4:8] == [6, 7, 0, 6]
    # A scatter takes the other direction.
    assert parents_of("scatter", network, 1, root=0)[4:8] == [0, 4, 4, 5]
    turned = dataclasses.replace(network, latency_s=network.latency_s.T.copy())
    assert parents_of("scatter", turned, 1, root=0) == parents


def test_root_of_another_group_begins_in_its_own() -> None:
    # 13 gets 12; 13 and 12 get 14 and 15; then 0-3, 4-7, and the halves of 8-11.
    by_hand = [13, 0, 0, 1, 12, 4, 4, 5, 14, 8, 15, 10, 13, -1, 13, 12]

    assert parents_of("gather", sixteen_hosts(), 1, root=13) == by_hand


def test_equal_hosts_are_combined_by_twos() -> None:
    # One group of all: the root gets one subtree, ((1 2) (3 4)), a binomial tree below host 1.
    is_self = np.eye(5, dtype=bool)
    even = fl.Network(
        [f"n{n}" for n in range(5)], np.where(is_self, 0, 1e-4), np.where(is_self, np.inf, 1e8)
    )

    assert parents_of("gather", even, 1000, root=0) == [-1, 0, 1, 1, 2]


@pytest.mark.parametrize("seed", range(30))
def test_tree_is_that_of_a_plain_reading(seed: int) -> None:
    num_hosts, message_bytes = 2 + seed, [1, 10**4, 10**6][seed % 3]
    network, root = drawn(num_hosts, seed), seed % (2 + seed)

    parents = parents_of("gather", network, message_bytes, root)

    times_s = network.latency_s + message_bytes / network.bandwidth_Bps
    matrix = paper.discretise(times_s.tolist(), 4)
    assert parents == paper.gather_parents(matrix, paper.build(matrix, 1), root)


@pytest.mark.parametrize("seed", range(10))
def test_each_distance_is_attached_by_one_link_for_each_nearer_host(seed: int) -> None:
    """|UP| = |DOWN|, and no host of UP has two of the subtrees."""
    network, root = drawn(40, seed), seed
    hierarchy = fl.build_hierarchy(network, 10**4)
    away = np.array([hierarchy.distance(root, host) for host in range(40)])

    parents = np.array(parents_of("gather", network, 10**4, root))

    for dist in range(hierarchy.num_levels):
        entering = [x for x in np.flatnonzero(away == dist + 1) if away[parents[x]] <= dist]
        num_up, num_next = np.count_nonzero(away <= dist), np.count_nonzero(away == dist + 1)
        assert len(entering) == min(num_up, num_next)
        assert len({parents[x] for x in entering}) == len(entering)


@pytest.mark.parametrize("seed", range(10))
def test_distance_to_the_root_never_falls_away_from_it(seed: int) -> None:
    network, root = drawn(40, seed), seed
    hierarchy = fl.build_hierarchy(network, 10**4)

    parents = parents_of("gather", network, 10**4, root)

    away = [hierarchy.distance(root, host) for host in range(40)]
    for host in range(40):
        path = [host]
        while path[-1] != root and len(path) <= 40:
            path.append(parents[path[-1]])
        assert path[-1] == root
        assert [away[step] for step in path] == sorted((away[step] for step in path), reverse=True)


@pytest.mark.parametrize("seed", range(10))
def test_no_host_of_an_attached_subtree_has_a_better_link_to_the_parent(seed: int) -> None:
    network, root = drawn(40, seed), seed
    hierarchy = fl.build_hierarchy(network, 10**4)
    away = [hierarchy.distance(root, host) for host in range(40)]
    parents = parents_of("gather", network, 10**4, root)

    def top_of(host: int) -> int:
        """The host by which the subtree of this distance was attached."""
        while away[parents[host]] == away[host]:
            host = parents[host]
        return host

    for host in range(40):
        if host == root:
            continue
        top = top_of(host)
        to_parent = hierarchy.level_of_pair[:, parents[top]]
        assert to_parent[top] <= to_parent[host]


def test_levels_of_k_and_span_change_the_tree() -> None:
    network = drawn(24, 3)

    default = parents_of("gather", network, 1000, 0)

    for options in ({"k": 1.5}, {"max_span": 8}):
        other = fl.collectives.plan("gather", network, 1000, 0, method="cmpi", **options)  # type: ignore[arg-type]
        assert other.parent is not None
        assert other.parent.tolist() != default
