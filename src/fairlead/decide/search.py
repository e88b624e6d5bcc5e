# SPDX-License-Identifier: Apache-2.0
"""Measures until it is clear that a placement helps, or that nothing worth having is left.

network ──▶ place ──▶ rehearse beside the launcher's ──▶ clear? ──▶ verdict
              ▲                                            │ no
              └────── measure the pairs it hangs on ◀──────┘
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fairlead.decide.denoised_network import denoised
from fairlead.decide.expected_gain import Gain, expected_gain
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.rule import DEFAULT_RULE, Rule, rehearsed_gain
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.rehearsal import Rehearsal, host_bytes
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["Measurer", "Question", "Verdict", "decide"]

Mask = npt.NDArray[np.bool_]

MOST_TURNS = 3
"""Placements that are rehearsed for one verdict, at most."""

LEAST_BETTER_RATIO = 0.03
"""A further placement is rehearsed when it is predicted to beat the best so far by this much."""

LEAST_REHEARSAL_S = 0.3
"""In less, too few trials fit to tell anything."""

LEAST_PAIRS_S = 0.2
MOST_REHEARSAL_S = 0.8
MOST_PAIRS_S = 0.6
"""Of one turn, so that the others have their share of the budget."""

FEWEST_ROUNDS = 3
"""Of a rehearsal that counts."""

ALL_PAIRS_HOSTS = 8
"""Up to so many hosts each pair is measured again: 28 pairs take half a second."""


class Measurer(Protocol):
    """Measures on the hosts."""

    @property
    def launch_s(self) -> float:
        """What starting the measuring program takes, in seconds."""

    def rehearse(
        self,
        placements: Sequence[Placement],
        network: Network,
        rehearsal_s: float,
        pairs: Mask | None,
        pairs_s: float,
    ) -> Rehearsal | None:
        """As `fairlead.measure.rehearsal.rehearse`; None where it cannot be done."""


@dataclasses.dataclass(frozen=True)
class Question:
    """What is to be decided, and by what means.

    Attributes:
        traffic: What the ranks send one another.
        network: What was measured so far.
        baseline: The launcher's own placement.
        place: Finds a placement on a network.
        cost: Time of `Cost` by which placements are compared.
        rule: When a placement is taken.
        is_barred: Whether a placement has proved slower before.
        measurer: Measures further; None where the network was given.
        budget_s: When no further rehearsal begins; the first one takes place in any case, since
            rates alone do not show what pairs share.
        seed: Of all draws.
    """

    traffic: Traffic
    network: Network
    baseline: Placement
    place: Callable[[Network], Placement]
    cost: str
    rule: Rule = DEFAULT_RULE
    is_barred: Callable[[Placement], bool] = lambda _placement: False
    measurer: Measurer | None = None
    budget_s: float = 4.0
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What was decided, and on what evidence.

    Attributes:
        placement: The placement to take; None keeps the launcher's.
        gain: What the best placement saves against the launcher's, as part of the time on the
            network; zero where none was found that differs.
        network_s: What the launcher's placement spends on the network in a whole run.
        num_rounds: Rounds of rehearsal behind the gain; 0 where it is predicted only.
        network: All that is known of the network by now.
        by_long_trains: What was measured of it meanwhile, by trains of 64 KiB; None where nothing.
        is_barred: Whether the best placement was left alone because it had proved slower.
        seconds: Time that deciding took.
    """

    placement: Placement | None
    gain: Gain
    network_s: float
    num_rounds: int
    network: Network
    by_long_trains: Network | None
    is_barred: bool
    seconds: float


def decide(question: Question) -> Verdict:
    """Place, rehearse and measure in turns until it is clear, or the budget is spent.

    Raises:
        Error: A measurement failed.
    """
    turns = _Turns(question)
    while turns.go_on():
        pass
    return turns.verdict()


@dataclasses.dataclass
class _Tried:
    """A placement and what is known of it so far."""

    placement: Placement
    predicted: Gain
    log_ratios: npt.NDArray[np.float64] = dataclasses.field(default_factory=lambda: np.zeros(0))

    @property
    def num_rounds(self) -> int:
        return len(self.log_ratios) if len(self.log_ratios) >= FEWEST_ROUNDS else 0

    @property
    def gain(self) -> Gain:
        return rehearsed_gain(self.log_ratios) if self.num_rounds else self.predicted


def _best(tried: Sequence[_Tried]) -> _Tried | None:
    return max(tried, key=lambda one: one.gain.ratio, default=None)


class _Turns:
    """One decision under way."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._begin_s = time.monotonic()
        self._measured = question.network
        self._network = with_pooled_noise(self._measured)
        self._network_s = _network_s(question, self._network)
        self._tried: list[_Tried] = []
        self._has_met_barred = False
        self._by_long_trains: Network | None = None

    def go_on(self) -> bool:
        """One turn. Returns whether another may change the verdict."""
        if len(self._tried) == MOST_TURNS:
            return False
        challenger = self._challenger()
        if challenger is None:
            return False
        self._tried.append(challenger)
        if not self._question.rule.is_hopeless(challenger.predicted) and self._rehearse():
            return True
        if len(self._tried) > 1:
            self._tried.pop()  # What was not rehearsed does not stand beside what was.
        return False

    def verdict(self) -> Verdict:
        accepted = [one for one in self._tried if self._question.rule.accepts(one.gain)]
        best = _best(accepted or self._tried)
        gain = Gain(0.0, 0.0, 0.0) if best is None else best.gain
        return Verdict(
            placement=best.placement if best is not None and accepted else None,
            gain=gain,
            network_s=self._network_s,
            num_rounds=0 if best is None else best.num_rounds,
            network=self._measured,
            by_long_trains=self._by_long_trains,
            is_barred=self._has_met_barred,
            seconds=time.monotonic() - self._begin_s,
        )

    def _challenger(self) -> _Tried | None:
        """The best placement by what is known now; None where it is not worth a rehearsal."""
        question = self._question
        placement = question.place(denoised(self._network))
        if any(_is_same(placement, one) for one in (question.baseline, *self._placements())):
            return None
        if question.is_barred(placement):
            self._has_met_barred = True
            return None
        best = _best(self._tried)
        if best is not None:
            rival = best.placement if best.gain.ratio > 0 else question.baseline
            if self._predicted(placement, rival).ratio < LEAST_BETTER_RATIO:
                return None
        return _Tried(placement, self._predicted(placement, question.baseline))

    def _placements(self) -> list[Placement]:
        return [tried.placement for tried in self._tried]

    def _predicted(self, placement: Placement, rival: Placement) -> Gain:
        question = self._question
        return expected_gain(
            placement, rival, question.traffic, self._network, question.seed, cost=question.cost
        )

    def _rehearse(self) -> bool:
        """Rehearse what was tried beside the launcher's. Returns whether that could be done."""
        question, is_first = self._question, len(self._tried) == 1
        if question.measurer is None:
            return False
        spent_s = time.monotonic() - self._begin_s
        left_s = question.budget_s - spent_s - question.measurer.launch_s
        if left_s < LEAST_REHEARSAL_S and not is_first:
            return False
        # Pairs are measured again once: a second time they would tell nothing new.
        pairs = pairs_s = None
        if is_first:
            pairs_s = float(np.clip(left_s / 3, LEAST_PAIRS_S, MOST_PAIRS_S))
            pairs = decisive_pairs(question, self._network, self._placements(), pairs_s)
            left_s -= pairs_s
        rehearsal = question.measurer.rehearse(
            (question.baseline, *self._placements()),
            self._network,
            float(np.clip(left_s, LEAST_REHEARSAL_S, MOST_REHEARSAL_S)),
            pairs,
            pairs_s or 0.0,
        )
        if rehearsal is None or not rehearsal.num_rounds:
            return False
        self._take_in(rehearsal)
        return True

    def _take_in(self, rehearsal: Rehearsal) -> None:
        log_s = np.log(np.maximum(rehearsal.steps_s, 1e-9))
        for index, tried in enumerate(self._tried, start=1):
            ratios = log_s[:, index] - log_s[:, 0]
            tried.log_ratios = np.concatenate([tried.log_ratios, ratios])
        self._network_s = rehearsal.network_s(0)
        if rehearsal.network is not None:
            self._by_long_trains = rehearsal.network
            self._measured = self._measured.updated(rehearsal.network)
            self._network = with_pooled_noise(self._measured)


def decisive_pairs(
    question: Question, network: Network, placements: Sequence[Placement], pairs_s: float
) -> Mask:
    """The pairs of hosts on which the gain hangs: those that carry most, by their time.

    Args:
        question: Holds the launcher's placement and the traffic.
        network: What is known of the network.
        placements: What may be taken instead.
        pairs_s: Time for measuring them, one after the other.

    Returns:
        Symmetric mask, shape (H, H); all pairs of few hosts.
    """
    num_hosts = network.num_hosts
    all_pairs = ~np.eye(num_hosts, dtype=bool)
    if num_hosts <= ALL_PAIRS_HOSTS:
        return all_pairs
    load_s = np.zeros((num_hosts, num_hosts))
    for placement in (question.baseline, *placements):
        with np.errstate(invalid="ignore"):
            carried_s = host_bytes(placement, question.traffic, network.hosts)
            load_s = np.maximum(load_s, np.nan_to_num(carried_s / network.bandwidth_Bps))
    load_s = np.triu(np.maximum(load_s, load_s.T), 1)
    pair_s = LONG_TRAINS_BYTES * 2 / float(np.nanmedian(network.bandwidth_Bps[all_pairs]))
    count = min(int(pairs_s / pair_s), int(np.count_nonzero(load_s)))
    chosen = np.zeros_like(all_pairs)
    if count:
        heaviest = np.argpartition(load_s, -count, axis=None)[-count:]
        chosen[np.unravel_index(heaviest, load_s.shape)] = True
    return chosen | chosen.T


def _network_s(question: Question, network: Network) -> float:
    cost = evaluate(question.baseline, question.traffic, network)
    return float(getattr(cost, question.cost))


def _is_same(one: Placement, other: Placement) -> bool:
    return one.host_names() == other.host_names()
