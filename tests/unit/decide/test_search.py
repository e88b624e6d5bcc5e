# SPDX-License-Identifier: Apache-2.0
"""What is decided on networks that are known, measured by a model of the hosts with noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.decision import Decision, make_decision
from fairlead.decide.rule import Rule
from fairlead.decide.search import DecisionProblem, decisive_pairs, search
from fairlead.measure.interfaces import Interfaces
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.rehearsal import Rehearsal

HOSTS = [f"h{host}" for host in range(8)]
CLUSTER = fl.Cluster.uniform(HOSTS, slots=2)
IN_RACK_BPS, BETWEEN_BPS = 125e6, 25e6


def racks(rack_of_host: Sequence[int]) -> np.ndarray:
    rack = np.array(rack_of_host)
    bandwidth_Bps = np.where(rack[:, None] == rack, IN_RACK_BPS, BETWEEN_BPS)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    return bandwidth_Bps


HIDDEN = racks([0, 1, 1, 0, 1, 0, 0, 1])
FLAT = racks([0] * 8)


def measured(
    true_Bps: np.ndarray, sigma: float, seed: int, interval_sigma: float = 0.4
) -> fl.Network:
    """As a quick probe finds it: the intervals are far wider than the medians err."""
    random = np.random.default_rng(seed)
    bandwidth_Bps = true_Bps * np.exp(random.normal(0, sigma, true_Bps.shape))
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = 2e-5 * (1 - np.eye(8))
    spread = np.exp(1.96 * interval_sigma * random.uniform(0.5, 1.5, true_Bps.shape))
    return fl.Network(
        HOSTS,
        latency_s,
        bandwidth_Bps,
        latency_low_s=latency_s / 1.1,
        latency_high_s=latency_s * 1.1,
        bandwidth_low_Bps=bandwidth_Bps / spread,
        bandwidth_high_Bps=bandwidth_Bps * spread,
        samples=np.full((8, 8), 12),
    )


def groups_of_eight() -> fl.Traffic:
    """Ranks talk within two groups of eight that the launcher's order spreads over the racks."""
    sent = np.zeros((16, 16))
    group = np.arange(16) // 8
    sent[group[:, None] == group] = 2e5
    np.fill_diagonal(sent, 0)
    return fl.Traffic(bytes=sent, messages=sent > 0)


@dataclasses.dataclass
class Hosts:
    """Rehearses on the true network: the slowest of what hosts send and pairs carry."""

    true_Bps: np.ndarray
    noise: float
    traffic: fl.Traffic
    launch_s: float = 0.0
    seed: int = 0
    calls: int = 0
    interface_Bps: float | None = None
    interfaces_asked: int = 0
    fastest_Bps: float = 0.0

    def interfaces(self, network: fl.Network, interfaces_s: float) -> Interfaces | None:
        del interfaces_s
        self.interfaces_asked += 1
        self.fastest_Bps = float(network.bandwidth_Bps[~np.eye(8, dtype=bool)].max())
        each = self.interface_Bps
        return None if each is None else Interfaces(np.full(8, each), np.full(8, each))

    def measure(self, pairs: np.ndarray, pairs_s: float) -> fl.Network:
        del pairs, pairs_s
        return measured(self.true_Bps, 0.05, self.seed, 0.1)

    def rehearse(
        self, placements: Sequence[fl.Placement], network: fl.Network, rehearsal_s: float
    ) -> Rehearsal:
        del network, rehearsal_s
        self.calls += 1
        nic_Bps = None if self.interface_Bps is None else np.full(8, self.interface_Bps)
        truth = fl.Network(
            HOSTS, np.zeros((8, 8)), self.true_Bps, nic_out_Bps=nic_Bps, nic_in_Bps=nic_Bps
        )
        times_s = [fl.evaluate(one, self.traffic, truth).bottleneck_s for one in placements]
        random = np.random.default_rng([self.seed, self.calls])
        noise = np.exp(random.normal(0, self.noise, (6, len(placements))))
        return Rehearsal(np.array(times_s) * noise, 1.0)


def problem(
    true_Bps: np.ndarray, sigma: float = 0.3, seed: int = 0, **options: Any
) -> DecisionProblem:
    traffic = groups_of_eight()
    network = measured(true_Bps, sigma, seed)
    return DecisionProblem(
        traffic=traffic,
        network=network,
        baseline=fl.place(traffic, network, CLUSTER, "launcher"),
        place=lambda known: fl.place(traffic, known, CLUSTER, "optimize", time_limit_s=0.2),
        cost="bottleneck_and_mean_s",
        budget_s=60,
        **{"measurer": Hosts(true_Bps, 0.1, traffic, seed=seed), **options},
    )


def decide(asked: DecisionProblem) -> Decision:
    return make_decision(search(asked), asked.rule)


def true_gain(decision: Decision, asked: DecisionProblem, true_Bps: np.ndarray) -> float:
    assert decision.placement is not None
    truth = fl.Network(HOSTS, np.zeros((8, 8)), true_Bps)
    after, before = (
        fl.evaluate(one, asked.traffic, truth).bottleneck_s
        for one in (decision.placement, asked.baseline)
    )
    return 1 - after / before


def best_gain(asked: DecisionProblem, true_Bps: np.ndarray) -> float:
    """Gain of the placement that is found when the network is known."""
    truth = fl.Network(HOSTS, np.zeros((8, 8)), true_Bps)
    known = dataclasses.replace(asked, network=truth, measurer=None)
    gain = true_gain(decide(known), known, true_Bps)
    assert gain > 0.3
    return gain


@pytest.mark.parametrize("seed", range(5))
def test_hidden_racks_are_acted_on_though_the_first_measurement_is_noisy(seed: int) -> None:
    asked = problem(HIDDEN, sigma=0.4, seed=seed)
    decision = decide(asked)
    assert true_gain(decision, asked, HIDDEN) > 0.95 * best_gain(asked, HIDDEN)
    assert decision.num_rounds >= 6


@pytest.mark.parametrize("seed", range(5))
def test_on_an_even_network_nothing_is_lost(seed: int) -> None:
    asked = problem(FLAT, seed=seed)
    decision = decide(asked)
    assert decision.placement is None or true_gain(decision, asked, FLAT) >= -0.02


def test_a_gain_that_the_network_does_not_confirm_is_left_alone() -> None:
    # The pairs look like racks, but together they carry the same everywhere.
    asked = problem(HIDDEN, measurer=Hosts(FLAT, 0.02, groups_of_eight()))
    decision = decide(asked)
    assert decision.placement is None
    assert decision.gain.ratio < 0.02


def test_a_given_network_is_taken_as_it_is_and_nothing_is_measured() -> None:
    asked = problem(HIDDEN, sigma=0.05, measurer=None)
    decision = decide(asked)
    assert decision.num_rounds == 0
    assert true_gain(decision, asked, HIDDEN) > 0.95 * best_gain(asked, HIDDEN)


@dataclasses.dataclass
class SlightlyFaster(Hosts):
    """Any other placement takes this part of the launcher's time; six rounds do not show it."""

    time_ratio: float = 0.9
    budget_calls: int = 1000

    def rehearse(self, placements: Sequence[fl.Placement], *arguments: Any) -> Rehearsal:
        del arguments
        self.calls += 1
        if self.calls == self.budget_calls:
            self.launch_s = 100.0  # As if the program had to be started and there were no time.
        random = np.random.default_rng([self.seed, self.calls])
        noise = np.exp(random.normal(0, self.noise, (6, len(placements))))
        times_s = np.array([1.0] + [self.time_ratio] * (len(placements) - 1))
        return Rehearsal(times_s * noise, 1.0)


def test_while_nothing_is_clear_and_time_is_left_the_rehearsal_goes_on() -> None:
    hosts = SlightlyFaster(HIDDEN, 0.2, groups_of_eight())
    decision = decide(problem(HIDDEN, sigma=0.05, measurer=hosts))
    assert decision.placement is not None
    assert decision.gain.loss_risk < 0.02
    assert decision.num_rounds > 12
    assert hosts.calls < 100


def test_a_rehearsal_goes_on_only_until_nothing_is_to_be_hoped_for() -> None:
    hosts = SlightlyFaster(HIDDEN, 0.2, groups_of_eight(), time_ratio=1.02)
    asked = problem(HIDDEN, sigma=0.05, measurer=hosts)
    decision = decide(asked)
    assert decision.placement is None
    assert asked.rule.is_hopeless(decision.gain)
    assert 1 < hosts.calls < 100


def test_a_rehearsal_does_not_go_on_when_the_budget_is_spent() -> None:
    hosts = SlightlyFaster(HIDDEN, 0.2, groups_of_eight(), time_ratio=0.97, budget_calls=2)
    decision = decide(problem(HIDDEN, sigma=0.05, measurer=hosts))
    assert hosts.calls == 2
    assert decision.num_rounds == 12


@pytest.mark.parametrize(
    ("time_ratio", "has_more_time"), [(0.6, True), (0.93, False), (1.3, False)]
)
def test_a_large_saving_on_which_too_few_rounds_agree_gets_more_time(
    time_ratio: float, has_more_time: bool
) -> None:
    # As if starting the program took the whole budget. Rounds differ much.
    hosts = SlightlyFaster(HIDDEN, 0.6, groups_of_eight(), launch_s=100.0, time_ratio=time_ratio)
    asked = problem(HIDDEN, sigma=0.05, measurer=hosts, extra_s=100.0)
    found = search(asked)
    assert found.extra_s == (100.0 if has_more_time else 0.0)
    assert (hosts.calls > 1) == has_more_time
    decision = make_decision(found, asked.rule)
    assert (decision.placement is not None) == has_more_time


def test_a_placement_that_is_accepted_gets_no_more_time() -> None:
    hosts = SlightlyFaster(HIDDEN, 0.2, groups_of_eight(), launch_s=100.0, time_ratio=0.5)
    found = search(problem(HIDDEN, sigma=0.05, measurer=hosts, extra_s=100.0))
    assert (hosts.calls, found.extra_s) == (1, 0.0)


def test_a_spent_budget_leaves_one_rehearsal() -> None:
    hosts = Hosts(HIDDEN, 0.1, groups_of_eight(), launch_s=100.0)
    asked = problem(HIDDEN, measurer=hosts)
    decision = decide(asked)
    assert hosts.calls == 1
    assert decision.num_rounds == 6
    assert true_gain(decision, asked, HIDDEN) > 0


def test_what_the_first_measurement_says_is_measured_again_before_anything_is_placed() -> None:
    # On a busy machine the first measurement may say nothing; time is left for one rehearsal.
    hosts = Hosts(HIDDEN, 0.02, groups_of_eight(), launch_s=100.0)
    asked = problem(HIDDEN, sigma=2.0, measurer=hosts)
    decision = decide(asked)
    assert hosts.calls == 1
    assert true_gain(decision, asked, HIDDEN) == pytest.approx(best_gain(asked, HIDDEN))


def test_pairs_that_there_was_no_time_for_are_measured_in_the_next_turn() -> None:
    class Slow(Hosts):
        """Measures only pairs of the first hosts in its first turn."""

        asked: list[np.ndarray]

        def measure(self, pairs: np.ndarray, pairs_s: float) -> fl.Network:
            found = super().measure(pairs, pairs_s)
            self.asked = [*getattr(self, "asked", []), pairs]
            is_first = np.arange(8) < (5 if len(self.asked) == 1 else 8)
            is_left_out = ~(pairs & np.outer(is_first, is_first))
            values = {
                name: np.where(is_left_out, np.nan, getattr(found, name))
                for name in ("latency_s", "bandwidth_Bps")
            }
            return dataclasses.replace(found, **values)

    hosts = Slow(HIDDEN, 0.02, groups_of_eight())
    asked = problem(HIDDEN, sigma=2.0, measurer=hosts)
    decision = decide(asked)
    first, second = hosts.asked
    assert first.sum() == 8 * 7
    assert second.sum() == 8 * 7 - 5 * 4
    assert not second[:5, :5].any()
    assert true_gain(decision, asked, HIDDEN) == pytest.approx(best_gain(asked, HIDDEN))


def test_of_many_hosts_the_pairs_with_the_longest_times_are_measured() -> None:
    num_hosts = 12
    hosts = [f"h{host}" for host in range(num_hosts)]
    cluster = fl.Cluster.uniform(hosts, slots=1)
    sent = np.zeros((num_hosts, num_hosts))
    sent[0, 1], sent[2, 3], sent[4, 5] = 8e6, 4e6, 1e6
    traffic = fl.Traffic(bytes=sent, messages=sent > 0)
    even = 1 - np.eye(num_hosts)
    network = fl.Network(hosts, 1e-5 * even, np.where(even > 0, 1e8, np.inf))
    baseline = fl.place(traffic, network, cluster, "blocked")
    asked = DecisionProblem(traffic, network, baseline, lambda _network: baseline, "bottleneck_s")
    among = even > 0
    two_pairs_s = 2.5 * 2 * LONG_TRAINS_BYTES / 1e8

    first = decisive_pairs(asked, network, among, two_pairs_s)
    second = decisive_pairs(asked, network, among & ~first, two_pairs_s)

    assert np.argwhere(first).tolist() == [[0, 1], [1, 0], [2, 3], [3, 2]]
    assert np.argwhere(second).tolist() == [[4, 5], [5, 4]]
    assert not decisive_pairs(asked, network, np.zeros_like(among), 1.0).any()


def test_a_placement_without_a_rehearsal_never_beats_one_that_had_it() -> None:
    class Short(Hosts):
        """Rehearses once, on a network without differences; measures no pairs."""

        def measure(self, *arguments: Any) -> None:
            del arguments

        def rehearse(self, *arguments: Any) -> Rehearsal | None:
            return super().rehearse(*arguments) if self.calls == 0 else None

    asked = problem(HIDDEN, measurer=Short(FLAT, 0.01, groups_of_eight()))
    methods = iter(["random", "optimize"])
    asked = dataclasses.replace(
        asked, place=lambda known: fl.place(asked.traffic, known, CLUSTER, next(methods), seed=3)
    )
    decision = decide(asked)
    assert decision.num_rounds == 6
    assert decision.placement is None


def test_a_placement_that_has_proved_slower_is_not_taken_again() -> None:
    decision = decide(problem(HIDDEN, is_dropped=lambda _placement: True))
    assert decision.placement is None
    assert decision.has_dropped


def test_no_risk_at_all_takes_no_noisy_gain() -> None:
    hosts = SlightlyFaster(HIDDEN, 0.2, groups_of_eight(), time_ratio=0.5, budget_calls=3)
    careful = problem(HIDDEN, sigma=0.05, rule=Rule(risk=0.0), measurer=hosts)
    assert decide(careful).placement is None


def test_what_was_measured_on_the_way_is_handed_back() -> None:
    found = search(problem(HIDDEN))
    assert found.by_long_trains is not None
    off_diagonal = ~np.eye(8, dtype=bool)
    error = np.log(found.network.bandwidth_Bps[off_diagonal] / HIDDEN[off_diagonal])
    assert np.abs(error).max() < 0.3


def test_interfaces_are_measured_once_where_they_may_decide() -> None:
    """Each host sends to three others: by its fastest pair alone the interface would be full."""
    hosts = Hosts(HIDDEN, 0.02, groups_of_eight(), interface_Bps=8 * IN_RACK_BPS)
    asked = problem(HIDDEN, sigma=0.02, measurer=hosts)
    found = search(asked)
    assert hosts.interfaces_asked == 1
    assert found.network.nic_out_Bps is not None
    assert found.network.nic_in_Bps is not None
    assert found.network.nic_out_Bps[3] == 8 * IN_RACK_BPS


def test_interfaces_that_are_known_or_do_not_matter_are_not_measured() -> None:
    hosts = Hosts(HIDDEN, 0.02, groups_of_eight())
    known = problem(HIDDEN, sigma=0.02, measurer=hosts)
    full = np.full(8, IN_RACK_BPS)
    network = dataclasses.replace(known.network, nic_out_Bps=full, nic_in_Bps=full)
    search(dataclasses.replace(known, network=network))
    assert hosts.interfaces_asked == 0

    ring = np.roll(np.eye(16), 2, axis=1) * 1e6  # each host sends to one other
    traffic = fl.Traffic(bytes=ring, messages=ring > 0)
    search(dataclasses.replace(known, traffic=traffic))
    assert hosts.interfaces_asked == 0


def test_a_failed_measurement_of_interfaces_is_not_made_again() -> None:
    hosts = Hosts(HIDDEN, 0.02, groups_of_eight())
    asked = problem(HIDDEN, sigma=0.02, measurer=hosts)
    assert make_decision(search(asked), asked.rule).placement is not None
    assert hosts.interfaces_asked == 1


def test_interfaces_are_compared_with_pairs_without_their_noise() -> None:
    """The fastest of many noisy pairs is the one with the largest error."""
    hosts = Hosts(FLAT, 0.02, groups_of_eight())
    search(problem(FLAT, sigma=0.3, measurer=hosts))
    assert hosts.interfaces_asked == 1
    assert hosts.fastest_Bps < 1.1 * IN_RACK_BPS


def test_without_time_for_them_and_another_placement_interfaces_are_not_measured() -> None:
    hosts = Hosts(HIDDEN, 0.02, groups_of_eight())
    asked = problem(HIDDEN, sigma=0.02, measurer=hosts)
    search(dataclasses.replace(asked, budget_s=5, placing_s=4))
    assert hosts.interfaces_asked == 0
