# SPDX-License-Identifier: Apache-2.0
"""Which combination of placement and transfers is taken, and when relays are worth a rehearsal."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.host_paths import path_table
from fairlead.decide.rule import Rule
from fairlead.decide.transfers import (
    Transfers,
    combinations_of,
    judge_combinations,
    reason_against_trying,
)
from fairlead.measure.transfer_rehearsal import Combination

HOSTS = ("a", "b", "c")
LAUNCHERS = fl.Placement(HOSTS, np.array([0, 1, 2]), "launcher")
FOUND = fl.Placement(HOSTS, np.array([2, 1, 0]), "optimize")
ALL = combinations_of([LAUNCHERS, FOUND], [LAUNCHERS, FOUND], lambda _one: False)
DIRECT, FOUND_DIRECT, RELAYED, FOUND_RELAYED = ALL
LARGE = 1 << 20


def rounds(*step_s: float, spread: float = 0.01, count: int = 8) -> np.ndarray:
    """Made-up times of the combinations in turns; some rounds are slower for all of them."""
    random = np.random.default_rng(5)
    load = np.exp(random.normal(0, 0.5, (count, 1)))
    return np.array(step_s) * load * np.exp(random.normal(0, spread, (count, len(step_s))))


def judged(
    steps_s: np.ndarray,
    base: Combination = DIRECT,
    rule: Rule | None = None,
    among: Sequence[Combination] = ALL,
) -> tuple[Combination, Transfers]:
    return judge_combinations(among, base, steps_s, rule or Rule())


def test_the_combination_that_saves_most_is_taken() -> None:
    assert judged(rounds(1.0, 0.9, 0.8, 0.5))[0] == FOUND_RELAYED
    assert judged(rounds(1.0, 0.9, 0.5, 0.8))[0] == RELAYED
    assert judged(rounds(1.0, 0.5, 0.9, 0.8))[0] == FOUND_DIRECT
    assert judged(rounds(1.0, 1.2, 1.1, 1.3))[0] == DIRECT


def test_a_combination_is_known_by_the_hosts_of_its_ranks() -> None:
    again = Combination(fl.Placement(HOSTS, np.array([2, 1, 0]), "again"), is_relayed=False)
    assert judged(rounds(1.0, 0.5, 0.8, 0.4), base=again)[0] == FOUND_RELAYED


def test_relays_have_to_be_better_than_what_is_taken_without_them() -> None:
    steps_s = rounds(1.0, 0.5, 0.8, 0.6)

    chosen, transfers = judged(steps_s, base=FOUND_DIRECT)

    assert (chosen, transfers.is_taken) == (FOUND_DIRECT, False)
    assert transfers.gain is not None
    assert transfers.gain.ratio == pytest.approx(1 - 0.6 / 0.5, abs=0.03)


def test_a_saving_that_may_as_well_be_a_loss_is_left() -> None:
    noisy = rounds(1.0, 1.0, 0.9, 1.0, spread=0.5)
    assert judged(noisy)[0] == DIRECT
    assert judged(noisy, rule=Rule(risk=1.0))[0] != DIRECT


def test_a_saving_too_small_to_matter_is_left() -> None:
    steps_s = rounds(1.0, 1.0, 0.985, 1.0, spread=0.001)
    assert judged(steps_s)[0] == DIRECT
    assert judged(steps_s, rule=Rule(least_ratio=0.01))[0] == RELAYED


def test_gains_are_against_the_best_without_relays_and_against_the_launchers() -> None:
    _, transfers = judged(rounds(1.0, 0.8, 0.7, 0.4), base=FOUND_DIRECT)

    assert transfers.is_taken and transfers.is_considered
    assert transfers.gain is not None and transfers.whole_gain is not None
    assert transfers.gain.ratio == pytest.approx(0.5, abs=0.03)
    assert transfers.whole_gain.ratio == pytest.approx(0.6, abs=0.03)
    assert transfers.num_rounds == 8
    assert "50% [" in transfers.why or "51% [" in transfers.why or "49% [" in transfers.why


def test_two_rounds_decide_nothing() -> None:
    chosen, transfers = judged(rounds(1.0, 0.9, 0.1, 0.1, count=2))
    assert (chosen, transfers.is_taken) == (DIRECT, False)
    assert "took too long" in transfers.why


def test_where_the_launchers_is_not_rehearsed_again_its_earlier_rounds_count() -> None:
    """The one taken had half of its time then, and with relays has 0.6 of that now."""
    among = [FOUND_DIRECT, FOUND_RELAYED, RELAYED]
    earlier = np.log(0.5) + np.random.default_rng(8).normal(0, 0.01, 6)

    chosen, transfers = judge_combinations(
        among, FOUND_DIRECT, rounds(1.0, 0.6, 1.4), Rule(), earlier
    )

    assert chosen == FOUND_RELAYED
    assert transfers.gain is not None and transfers.whole_gain is not None
    assert transfers.gain.ratio == pytest.approx(0.4, abs=0.03)
    assert transfers.whole_gain.ratio == pytest.approx(0.7, abs=0.03)
    saved = [one.gain.ratio for one in transfers.tried]
    assert saved == pytest.approx([0.5, 0.7, 0.3], abs=0.03)


def test_a_combination_that_has_proved_slower_is_not_among_them() -> None:
    both = [LAUNCHERS, FOUND]
    left = combinations_of(both, both, lambda one: one.placement is FOUND)
    assert left == [DIRECT, FOUND_DIRECT, RELAYED]


def test_each_combination_is_there_once() -> None:
    twice = [LAUNCHERS, LAUNCHERS]
    assert combinations_of(twice, twice, lambda _one: False) == [DIRECT, RELAYED]


def network(slow_Bps: float = 1e7, nic_Bps: float | None = None) -> fl.Network:
    """Where a and b have a slow pair; c is near to both."""
    rates_Bps = np.full((3, 3), 1e8)
    rates_Bps[0, 1] = rates_Bps[1, 0] = slow_Bps
    np.fill_diagonal(rates_Bps, np.inf)
    nics = None if nic_Bps is None else np.full(3, nic_Bps)
    latency_s = 1e-4 * (1 - np.eye(3))
    return fl.Network(HOSTS, latency_s, rates_Bps, nic_out_Bps=nics, nic_in_Bps=nics)


def traffic(size_bytes: float = LARGE, src: int = 0, dst: int = 1) -> fl.Traffic:
    sent = np.zeros((3, 3))
    sent[src, dst] = 10 * size_bytes
    count = np.where(sent > 0, 10, 0)
    return fl.Traffic(sent, count, np.where(sent > 0, size_bytes, 0))


def reason(
    sent: fl.Traffic,
    known: fl.Network,
    *,
    least_bytes: int = 65536,
    sends_by_tcp: bool | None = True,
    placements: Sequence[fl.Placement] = (LAUNCHERS,),
) -> str | None:
    return reason_against_trying(
        placements, sent, known, path_table(known),
        num_combinations=2, least_bytes=least_bytes, sends_by_tcp=sends_by_tcp,
    )  # fmt: skip


def test_a_slow_pair_with_large_messages_is_worth_a_rehearsal() -> None:
    assert reason(traffic(), network()) is None


def test_short_messages_are_not() -> None:
    why = "no message of at least 64 KiB goes between hosts"
    assert reason(traffic(1000), network()) == why
    assert reason(traffic(1000), network(), least_bytes=1000) is None
    together = fl.Placement(HOSTS, np.array([0, 0, 2]), "together")
    assert reason(traffic(), network(), placements=[together]) == why


def test_an_even_network_whose_connections_fill_interfaces_is_not() -> None:
    why = reason(traffic(), network(slow_Bps=1e8))
    assert why is not None and "are expected to be faster" in why
    assert reason(traffic(), network(slow_Bps=1e8, nic_Bps=1e8)) == why
    assert reason(traffic(), network(slow_Bps=1e8, nic_Bps=5e8)) is None


def test_a_slow_pair_without_messages_is_not() -> None:
    why = reason(traffic(src=0, dst=2), network())
    assert why is not None and "are expected to be faster" in why
    swapped = fl.Placement(HOSTS, np.array([0, 2, 1]), "swapped")
    both = [LAUNCHERS, swapped]
    assert reason(traffic(src=0, dst=2), network(), placements=both) is None


def test_another_network_than_tcp_is_not_and_neither_is_an_unknown_one() -> None:
    assert reason(traffic(), network(), sends_by_tcp=False) == "the MPI does not send by TCP"
    unknown = "it is not known whether the MPI sends by TCP"
    assert reason(traffic(), network(), sends_by_tcp=None) == unknown


def test_pairs_that_were_not_measured_are_the_reason() -> None:
    found = reason_against_trying(
        [LAUNCHERS], traffic(), network(), None,
        num_combinations=2, least_bytes=65536, sends_by_tcp=True,
    )  # fmt: skip
    assert found == "some pairs of hosts were not measured"


def test_large_messages_that_carry_hardly_anything_are_not_worth_it() -> None:
    mostly_short = dataclasses.replace(traffic(), exchange_bytes=np.full((3, 3), 1e9))
    why = reason(mostly_short, network())
    assert why is not None and "between the hosts that exchange large messages" in why
