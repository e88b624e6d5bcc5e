# SPDX-License-Identifier: Apache-2.0
"""Orders are the best by brute force on small networks, and kept where nothing is gained."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fairlead.decide.order import order_hosts
from fairlead.errors import InputError
from fairlead.measure.network_sources.host_tree_file import read_host_tree
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

MIB = 1 << 20


def racks(rack_of_host: Sequence[int]) -> Network:
    """1 Gbit/s inside a rack and a fifth of it between racks."""
    rack = np.array(rack_of_host)
    rates = np.where(rack[:, None] == rack[None, :], 125e6, 25e6)
    np.fill_diagonal(rates, np.inf)
    latency_s = np.full(rates.shape, 1e-4)
    np.fill_diagonal(latency_s, 0)
    return Network([f"h{index}" for index in range(len(rack))], latency_s, rates)


def crossings(hosts: Sequence[str], rack_of_host: Sequence[int]) -> int:
    around = [rack_of_host[int(host[1:])] for host in hosts]
    return sum(one != other for one, other in zip(around, around[1:] + around[:1], strict=True))


ALTERNATING = [0, 1, 0, 1, 0, 1, 0, 1]


def found_on(network: Network, pattern: str, **options: object):  # type: ignore[no-untyped-def]
    cluster = Cluster.uniform(network.hosts, slots=4)
    return order_hosts(network, cluster, pattern, message_bytes=16 * MIB, **options)  # type: ignore[arg-type]


def test_ring_crosses_between_two_racks_exactly_twice() -> None:
    found = found_on(racks(ALTERNATING), "ring")

    assert crossings(found.given, ALTERNATING) == 8
    assert crossings(found.hosts, ALTERNATING) == 2
    assert sorted(found.hosts) == sorted(found.given)
    assert found.slots == (4,) * 8
    assert found.gain.ratio > 0


def test_ring_on_uneven_pairs_is_the_best_of_all_orders() -> None:
    rng = np.random.default_rng(5)
    rates = rng.lognormal(18, 0.7, (6, 6))
    np.fill_diagonal(rates, np.inf)
    network = Network([f"h{index}" for index in range(6)], np.zeros((6, 6)), rates)

    def cost(order: Sequence[int]) -> float:
        times = [1 / rates[one, other] for one, other in zip(order, [*order[1:], order[0]])]  # noqa: B905
        return max(times) + sum(times) / 6

    found = found_on(network, "ring")

    best = min(cost((0, *rest)) for rest in itertools.permutations(range(1, 6)))
    assert cost([int(host[1:]) for host in found.hosts]) == pytest.approx(best)


def test_given_order_is_kept_where_all_pairs_are_alike() -> None:
    found = found_on(racks([0] * 8), "ring")

    assert found.is_kept
    assert found.hosts == tuple(f"h{index}" for index in range(8))


def test_order_of_all_to_all_is_kept_since_no_order_changes_it() -> None:
    assert found_on(racks(ALTERNATING), "all-to-all").is_kept


def test_given_order_is_kept_if_the_rehearsal_gains_less_than_two_percent() -> None:
    def rehearse(orders: Sequence[Sequence[str]], traffic: Traffic) -> np.ndarray:
        assert traffic.num_ranks == len(orders[0]) == len(orders[1])
        return np.tile([1.0, 0.99], (9, 1))

    found = found_on(racks(ALTERNATING), "ring", rehearse=rehearse)

    assert found.is_kept and found.is_rehearsed
    assert found.gain.ratio == pytest.approx(0.01)


def test_given_order_is_kept_if_the_rehearsal_may_have_shown_a_loss() -> None:
    # The median saves 10 %, but three of nine rounds lose.
    ratios = [0.8, 0.85, 0.88, 0.9, 0.9, 0.95, 1.05, 1.1, 1.2]
    times_s = np.column_stack([np.ones(9), ratios])

    found = found_on(racks(ALTERNATING), "ring", rehearse=lambda _orders, _traffic: times_s)

    assert found.gain.ratio == pytest.approx(0.1)
    assert found.is_kept


def test_rehearsed_gain_is_that_of_the_times() -> None:
    found = found_on(
        racks(ALTERNATING), "ring", rehearse=lambda _orders, _traffic: np.tile([1.0, 0.5], (9, 1))
    )

    assert not found.is_kept
    assert found.gain.ratio == pytest.approx(0.5)


def with_slow_host(slow: int) -> Network:
    network = racks([0] * 8)
    rates = network.bandwidth_Bps.copy()
    rates[slow, :] /= 10
    rates[:, slow] /= 10
    np.fill_diagonal(rates, np.inf)
    # Some noise, as every measurement has: a test of equal numbers has no spread.
    noise = np.random.default_rng(1).normal(1, 0.02, rates.shape)
    return Network(network.hosts, network.latency_s, rates * noise)


def test_spare_host_is_the_bad_one() -> None:
    found = found_on(with_slow_host(2), "ring", num_spare=1)

    assert found.left_out == ("h2",)
    assert [bad.host for bad in found.bad_hosts] == ["h2"]
    assert len(found.hosts) == 7


def test_spare_hosts_are_those_of_the_smaller_rack() -> None:
    found = found_on(racks([0, 1, 0, 0, 1, 0]), "ring", num_spare=2)

    assert found.left_out == ("h1", "h4")


def test_more_spare_hosts_than_hosts_are_refused() -> None:
    with pytest.raises(InputError, match="spare: 8 of 8 hosts leave none"):
        found_on(racks([0] * 8), "ring", num_spare=8)


def test_hosts_are_ordered_by_declared_racks(tmp_path: Path) -> None:
    file = tmp_path / "racks.toml"
    file.write_text(
        'beyond = 5\n[[levels]]\ncost = 1\ngroups = {a = ["h0", "h2"], b = ["h1", "h3"]}\n'
    )
    cluster = Cluster.uniform(("h0", "h1", "h2", "h3"), slots=2)

    found = order_hosts(read_host_tree(file), cluster, "ring", message_bytes=MIB)

    assert crossings(found.hosts, [0, 1, 0, 1]) == 2
    assert found.gain.ratio == pytest.approx(1 - (2 * 1 + 2 * 5) / (4 * 5))
