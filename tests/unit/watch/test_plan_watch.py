# SPDX-License-Identifier: Apache-2.0
"""A plan is stale when a pair has changed for certain, and not by the program's own messages."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import fairlead as fl
from fairlead.watch.plan_watch import (
    CONFIRMING_ROUNDS,
    CONFIRMING_SHARED_ROUNDS,
    FIRST_OBSERVATIONS,
    PlanWatcher,
    program_rates,
)

HOSTS = ("a", "b", "c")


def network(bandwidth_Bps: float, hosts: tuple[str, ...] = HOSTS, **pairs: float) -> fl.Network:
    """All pairs alike but for those named src_dst."""
    matrix = np.full((len(hosts), len(hosts)), bandwidth_Bps)
    for pair, value in pairs.items():
        src, dst = pair.split("_")
        matrix[hosts.index(src), hosts.index(dst)] = value
    return fl.Network(hosts, np.full(matrix.shape, 1e-5), matrix)


def observed(watcher: PlanWatcher, now: fl.Network, rounds: int) -> PlanWatcher:
    for _ in range(rounds):
        watcher.add(now)
    return watcher


def test_network_as_it_was_is_no_drift() -> None:
    watcher = observed(PlanWatcher(network(1e8)), network(0.85e8), CONFIRMING_ROUNDS)

    assert not watcher.is_stale
    assert watcher.drifted() == []


def test_pair_that_lost_more_than_a_fifth_makes_the_plan_stale() -> None:
    watcher = observed(PlanWatcher(network(1e8)), network(1e8, a_b=0.5e8), CONFIRMING_ROUNDS)

    assert watcher.is_stale
    assert watcher.drifted()[0] == ("a", "b", 1e8, 0.5e8)


def test_single_observation_is_no_proof() -> None:
    watcher = observed(PlanWatcher(network(1e8)), network(1e8, a_b=0.5e8), CONFIRMING_ROUNDS - 1)
    watcher.add(network(1e8))
    watcher.add(network(1e8, a_b=0.5e8))

    assert not watcher.is_stale


def test_what_the_program_sends_itself_is_no_drift() -> None:
    own_Bps = np.full((3, 3), 0.5e8)

    watcher = observed(PlanWatcher(network(1e8), own_Bps), network(0.6e8), CONFIRMING_ROUNDS)

    assert not watcher.is_stale
    assert observed(watcher, network(0.2e8), CONFIRMING_SHARED_ROUNDS).is_stale


def test_network_that_became_faster_makes_the_plan_stale_too() -> None:
    own_Bps = np.full((3, 3), 0.5e8)

    watcher = PlanWatcher(network(1e8), own_Bps)

    assert not observed(watcher, network(2e8), CONFIRMING_SHARED_ROUNDS - 1).is_stale
    assert observed(watcher, network(2e8), 1).is_stale
    assert len(watcher.drifted()) == 6


def unknown() -> PlanWatcher:
    return PlanWatcher(fl.Network(HOSTS, np.full((3, 3), np.nan), np.full((3, 3), np.nan)))


def test_pair_without_a_plan_is_compared_with_its_first_observations() -> None:
    watcher = observed(unknown(), network(1e8), FIRST_OBSERVATIONS)

    observed(watcher, network(1e8, b_c=0.3e8), CONFIRMING_ROUNDS)

    assert watcher.drifted()[0] == ("b", "c", 1e8, 0.3e8)


def test_slow_first_observations_of_a_pair_are_no_plan() -> None:
    watcher = observed(unknown(), network(1e8, b_c=0.3e8), FIRST_OBSERVATIONS)

    observed(watcher, network(1e8), 5)

    assert not watcher.is_stale


def test_doubtful_pair_is_measured_next_with_another_host() -> None:
    watcher = PlanWatcher(network(1e8))
    slow = network(1e8, b_c=0.5e8, c_b=0.5e8)

    watcher.add(slow)

    assert watcher.next_hosts(seed=1) == ["b", "c", "a"]
    assert not observed(watcher, network(1e8, ("a", "b")), 5).is_stale
    assert observed(watcher, slow, CONFIRMING_ROUNDS - 1).is_stale


def test_pair_is_not_slow_while_all_others_are() -> None:
    watcher = observed(PlanWatcher(network(1e8)), network(0.3e8, a_b=0.29e8), CONFIRMING_ROUNDS)

    assert not watcher.is_stale


def test_hosts_that_are_all_slow_say_nothing_against_a_slow_pair() -> None:
    slow = network(1e8, a_b=0.2e8, b_a=0.2e8)
    watcher = observed(PlanWatcher(network(1e8)), slow, CONFIRMING_ROUNDS - 1)

    observed(watcher, network(0.2e8), 2)

    assert not watcher.is_stale
    assert observed(watcher, slow, 1).is_stale


class BusyMachine:
    """Hosts that share busy cores: every sixth value is slow by a factor with a heavy tail, and in
    bursts of some observations all are slow, and half of them by such a factor."""

    def __init__(self, seed: int):
        self.hosts = ("h0", "h1", "h2", "h3")
        self.true_Bps = np.full((4, 4), 1e8)
        self.random = np.random.default_rng(seed)
        self.is_burst = False

    def degrade(self, host: int, factor: float) -> None:
        self.true_Bps[host] /= factor
        self.true_Bps[:, host] /= factor

    def observe(self, hosts: list[str]) -> fl.Network:
        self.is_burst = self.random.random() < (0.8 if self.is_burst else 0.05)
        places = [self.hosts.index(host) for host in hosts]
        values = self.true_Bps[np.ix_(places, places)]
        shape = values.shape
        values = values * np.exp(self.random.normal(0, 0.1, shape))
        is_slow = self.random.random(shape) < (0.5 if self.is_burst else 0.15)
        values = np.where(is_slow, values / (1 + self.random.pareto(1.5, shape)), values)
        if self.is_burst:
            values /= self.random.uniform(1.2, 2)
        return fl.Network(tuple(hosts), np.full(shape, 1e-5), values)


def watched(machine: BusyMachine, seed: int) -> PlanWatcher:
    """A plan that was made while the machine was quiet."""
    values = machine.true_Bps * np.exp(np.random.default_rng(seed).normal(0, 0.05, (4, 4)))
    return PlanWatcher(fl.Network(machine.hosts, np.full((4, 4), 1e-5), values))


@pytest.mark.parametrize("seed", range(8))
def test_healthy_pairs_of_a_busy_machine_have_not_drifted(seed: int) -> None:
    machine = BusyMachine(seed)
    watcher = watched(machine, seed)

    for number in range(100):
        watcher.add(machine.observe(watcher.next_hosts(number)))

        assert not watcher.is_stale, watcher.drifted()


@pytest.mark.parametrize("seed", range(8))
def test_degraded_host_of_a_busy_machine_is_found_soon(seed: int) -> None:
    machine = BusyMachine(seed)
    watcher = watched(machine, seed)
    for number in range(40):
        watcher.add(machine.observe(watcher.next_hosts(number)))

    machine.degrade(1, 10)
    for number in range(15):
        watcher.add(machine.observe(watcher.next_hosts(number)))

    assert watcher.is_stale
    assert all("h1" in pair[:2] for pair in watcher.drifted())


def busy_hosts(bandwidth_Bps: float, seed: int, **pairs: float) -> fl.Network:
    """As measured while other programs run: messages that had to wait arrive at once, so that the
    interval of each value says nothing, although the values themselves are near to the truth."""
    calm = network(bandwidth_Bps, **pairs)
    values = calm.bandwidth_Bps * np.exp(np.random.default_rng(seed).normal(0, 0.1, (3, 3)))
    return dataclasses.replace(
        calm,
        bandwidth_Bps=values,
        bandwidth_low_Bps=values / 5,
        bandwidth_high_Bps=np.full((3, 3), 3e10),
        samples=np.full((3, 3), 6),
    )


def test_a_change_shows_among_values_that_agree_however_wide_their_intervals_are() -> None:
    watcher = PlanWatcher(network(1e8))
    for seed in range(20):
        watcher.add(busy_hosts(1e8, seed))
    assert not watcher.is_stale

    for seed in range(CONFIRMING_ROUNDS):
        watcher.add(busy_hosts(1e8, seed, a_b=0.2e8))

    assert [drifted[:2] for drifted in watcher.drifted()] == [("a", "b"), ("b", "a")]


def test_values_that_vary_as_much_as_they_changed_are_no_drift() -> None:
    watcher = PlanWatcher(network(1e8))

    values = 1e8 * np.exp(np.random.default_rng(1).normal(0, 0.4, (40, 3, 3)))
    for value in values:
        watcher.add(dataclasses.replace(network(1e8), bandwidth_Bps=value))

    assert not watcher.is_stale


def test_host_whose_pairs_lost_bandwidth_is_named() -> None:
    watcher = PlanWatcher(network(1e8))

    watcher.add(network(1e8, a_b=0.5e8, b_a=0.5e8, a_c=0.5e8, c_a=0.5e8))

    assert watcher.hot_hosts()[0] == ("a", 0.5)


def test_rate_of_a_program_is_that_of_the_busier_interface() -> None:
    sent = np.zeros((3, 3))
    sent[0, 1], sent[0, 2], sent[2, 1] = 10.0, 20.0, 5.0
    traffic = fl.Traffic(sent, (sent > 0) * 1.0, run_time_s=2.0)
    placement = fl.Placement(HOSTS, np.array([0, 1, 2]))

    rates_Bps = program_rates(traffic, placement, HOSTS)

    # a sends 30 bytes in 2 s; c sends 5 and receives 20; b receives 15.
    assert rates_Bps.tolist() == [[15, 15, 15], [0, 7.5, 10], [2.5, 7.5, 10]]


def test_hosts_take_turns_so_that_none_is_left_out() -> None:
    hosts = tuple("abcdefgh")
    unknown = fl.Network(hosts, np.full((8, 8), np.nan), np.full((8, 8), np.nan))
    watcher, seen = PlanWatcher(unknown), set()

    for seed in range(3):
        chosen = watcher.next_hosts(seed)
        seen.update(chosen)
        watcher.add(network(1e8, tuple(chosen)))

    assert seen == set(hosts)
