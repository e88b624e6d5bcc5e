# SPDX-License-Identifier: Apache-2.0
"""Bad hosts are found where there are some, with their pairs, and nowhere else."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from instances import network, racks

import fairlead as fl
from fairlead.decide.hosts import CLEAR_RATIO, find_bad_hosts
from fairlead.lab import Scenario
from fairlead.lab.tables import PairRates
from fairlead.lab.topology import draw_pairs, draw_topology

SEEDS = range(200)


def even(num_hosts: int, seed: int, spread: float = 0.1) -> fl.Network:
    """All pairs alike but for a lognormal error of measurement; latencies equal both ways."""
    rng = np.random.default_rng(seed)
    delays = np.triu(rng.lognormal(0, spread, (num_hosts, num_hosts)), 1)
    rates = 1e8 * rng.lognormal(0, spread, (num_hosts, num_hosts))
    return network(rates, 5e-5 * (delays + delays.T))


def uneven(num_hosts: int, seed: int) -> fl.Network:
    """Drawn as the lab's scenario `pairwise` is, with another seed and latencies as uneven."""
    rates = PairRates(median="300Mbit/s", sigma=0.7, seed=seed, asymmetry=0.5)
    bandwidth_Bps = np.minimum(draw_pairs(rates, num_hosts, seed), 125e6)
    both_ways = PairRates(median="300Mbit/s", sigma=0.5, asymmetry=0)
    latency_s = 2000 / draw_pairs(both_ways, num_hosts, seed + 10**6)
    return network(bandwidth_Bps, latency_s)


def degraded(
    healthy: fl.Network, hosts: Sequence[int], ratio: float, out: bool = True, into: bool = True
) -> fl.Network:
    """These hosts send or receive (or both) at `ratio` of their rate."""
    bandwidth_Bps = healthy.bandwidth_Bps.copy()
    for host in hosts:
        bandwidth_Bps[host, :] *= ratio if out else 1
        bandwidth_Bps[:, host] *= ratio if into else 1
    return dataclasses.replace(healthy, bandwidth_Bps=bandwidth_Bps)


def named(of: fl.Network) -> list[str]:
    return sorted(bad.host for bad in find_bad_hosts(of))


@pytest.mark.parametrize("num_hosts", [4, 5, 8, 16])
@pytest.mark.parametrize("draw", [even, uneven])
def test_no_bad_host_is_invented(draw, num_hosts: int) -> None:
    assert [seed for seed in SEEDS if named(draw(num_hosts, seed))] == []


@pytest.mark.parametrize("scenario", ["two-racks", "pairwise", "flat", "drift"])
def test_packaged_scenarios_have_no_bad_host(scenario: str) -> None:
    topology = draw_topology(Scenario.load(scenario))
    assert named(network(topology.shaped_Bps())) == []


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (6, 2), (8, 8), (4, 4, 4, 4)])
def test_a_rack_is_no_bad_host(sizes: tuple[int, ...]) -> None:
    assert named(racks(np.repeat(np.arange(len(sizes)), sizes).tolist())) == []


@pytest.mark.parametrize("num_hosts", [6, 8, 20])
@pytest.mark.parametrize(
    ("out", "into", "directions"),
    [(True, False, ["out"]), (False, True, ["in"]), (True, True, ["out", "in"])],
)
def test_a_degraded_host_is_found_with_its_direction(
    num_hosts: int, out: bool, into: bool, directions: list[str]
) -> None:
    for seed in range(50):
        found = find_bad_hosts(degraded(even(num_hosts, seed), [2], 0.2, out, into))
        assert [bad.host for bad in found] == ["h2"], seed
        assert [symptom.direction for symptom in found[0].symptoms] == directions
        assert all(symptom.quantity == "bandwidth_Bps" for symptom in found[0].symptoms)


def test_a_host_must_stand_out_further_where_pairs_differ_anyway() -> None:
    def times_found(ratio: float) -> int:
        found = [named(degraded(uneven(8, seed), [3], ratio)) for seed in range(50)]
        assert all(names in ([], ["h3"]) for names in found)
        return found.count(["h3"])

    assert times_found(0.7) < 5
    assert times_found(0.05) == 50


def test_hosts_of_a_small_far_rack_are_distinguished_from_bad_ones() -> None:
    apart = {bad.host: bad.near for bad in find_bad_hosts(racks([0] * 14 + [1] * 2))}
    assert apart == {"h14": ("h15",), "h15": ("h14",)}
    assert all(bad.near == () for bad in find_bad_hosts(degraded(even(12, 1), [0, 5], 0.1)))


def test_slow_answers_are_found_by_latency() -> None:
    healthy = even(8, 0)
    latency_s = healthy.latency_s.copy()
    latency_s[5, :] *= 4
    latency_s[:, 5] *= 4

    found = find_bad_hosts(dataclasses.replace(healthy, latency_s=latency_s))

    assert [bad.host for bad in found] == ["h5"]
    assert {symptom.quantity for symptom in found[0].symptoms} == {"latency_s"}
    assert [symptom.direction for symptom in found[0].symptoms] == ["out", "in"]


@pytest.mark.parametrize("bad", [[0, 5], [1, 2, 7]])
def test_bad_hosts_do_not_hide_one_another(bad: list[int]) -> None:
    assert named(degraded(even(12, 1), bad, 0.1)) == sorted(f"h{host}" for host in bad)


def test_one_pair_or_few_do_not_make_a_bad_host() -> None:
    cut = even(8, 0).bandwidth_Bps.copy()
    cut[2, :4] *= 0.01  # three of seven
    assert named(network(cut)) == []


def test_a_cut_pair_elsewhere_does_not_hide_a_bad_host() -> None:
    healthy = even(8, 0)
    bandwidth_Bps = healthy.bandwidth_Bps.copy()
    bandwidth_Bps[0, 1] *= 1e-4
    broken = dataclasses.replace(healthy, bandwidth_Bps=bandwidth_Bps)
    assert named(degraded(broken, [6], 0.2)) == ["h6"]


def test_the_pairs_that_show_it_are_named_worst_first() -> None:
    bandwidth_Bps = np.full((6, 6), 100.0)
    bandwidth_Bps[4, :] = [20, 50, 10, 25, 1, 95]

    (symptom,) = find_bad_hosts(network(bandwidth_Bps))[0].symptoms

    assert (symptom.quantity, symptom.direction, symptom.num_pairs) == ("bandwidth_Bps", "out", 5)
    assert symptom.typical == pytest.approx(100)
    assert (symptom.value, symptom.ratio) == (pytest.approx(25), pytest.approx(4))
    assert [(pair.src, pair.dst) for pair in symptom.pairs] == [
        ("h4", "h2"), ("h4", "h0"), ("h4", "h3"), ("h4", "h1"),
    ]  # fmt: skip
    assert [pair.ratio for pair in symptom.pairs] == pytest.approx([10, 5, 4, 2])
    assert [pair.value for pair in symptom.pairs] == pytest.approx([10, 20, 25, 50])


def test_a_small_difference_is_not_bad_however_sure() -> None:
    exact = even(8, 0, spread=0.001)
    assert named(degraded(exact, [2], 1 / (CLEAR_RATIO * 0.99))) == []
    assert named(degraded(exact, [2], 1 / (CLEAR_RATIO * 1.02), into=False)) == ["h2"]


def test_pairs_whose_intervals_reach_the_typical_pair_do_not_count() -> None:
    slow = degraded(even(8, 0), [2], 0.2)
    sure = dataclasses.replace(
        slow, bandwidth_low_Bps=slow.bandwidth_Bps / 2, bandwidth_high_Bps=slow.bandwidth_Bps * 2
    )
    unsure = dataclasses.replace(sure, bandwidth_high_Bps=slow.bandwidth_Bps * 10)
    assert named(sure) == ["h2"]
    assert named(unsure) == []


def test_unmeasured_pairs_are_left_out_of_account() -> None:
    slow = degraded(even(8, 0), [2], 0.2)
    for matrix in (slow.latency_s, slow.bandwidth_Bps):
        matrix[7, :] = matrix[:, 7] = np.nan
        matrix[2, 3] = np.nan
    found = find_bad_hosts(slow)
    assert [bad.host for bad in found] == ["h2"]
    assert [symptom.num_pairs for symptom in found[0].symptoms] == [5, 6]


def test_a_host_of_which_hardly_a_pair_was_measured_is_not_judged() -> None:
    slow = degraded(even(8, 0), [2], 0.2)
    slow.bandwidth_Bps[2, :5] = slow.bandwidth_Bps[:5, 2] = np.nan
    assert named(slow) == []


@pytest.mark.parametrize("num_hosts", [1, 2, 3])
def test_few_hosts_are_not_judged(num_hosts: int) -> None:
    assert named(degraded(even(num_hosts, 0), [0], 0.01)) == []


def test_a_network_without_measurements_has_no_bad_host() -> None:
    assert named(network(np.full((5, 5), np.nan), np.full((5, 5), np.nan))) == []
