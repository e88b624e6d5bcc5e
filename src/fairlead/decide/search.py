# SPDX-License-Identifier: Apache-2.0
"""Finds placements that may help, and measures until it is clear whether they do.

network ──▶ place ──▶ rehearse with the launcher's ───▶ clear? ──▶ candidates with their gains
              ▲              ▲                             │ no
              │              └── nothing better is found ◀─┤
              └── measure what it depends on: pairs, ◀────┘
                  and interfaces once
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.expected_gain import Gain, expected_gain
from fairlead.decide.measurer import Measurer
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.placement import COST_OF_OBJECTIVE, SLOWEST_RANK
from fairlead.decide.rule import DEFAULT_RULE, LEAST_BETTER_RATIO, Rule, rehearsed_gain
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.rehearsal import Rehearsal, host_bytes
from fairlead.model.compute_demand import compute_demand
from fairlead.model.cost import costs_of, evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["Candidate", "DecisionProblem", "SearchResult", "search"]

Mask = npt.NDArray[np.bool_]

MOST_CANDIDATES = 3
"""Placements that are rehearsed for one decision, at most."""

LEAST_REHEARSAL_S = 0.3
"""In less time, too few trials fit to show anything."""

LEAST_PAIRS_S = 0.2
MOST_REHEARSAL_S = 0.8
MOST_PAIRS_S = 0.6
MOST_INTERFACES_S = 0.8
"""Most time of one turn, so that the others have their share of the budget."""

FEWEST_ROUNDS = 3
"""Least rounds of a rehearsal that counts."""

CLEAR_RISK_SHARE = 0.25
"""Further rounds end early if the risk is within this share of its bound. With the bound itself,
one of many looks at growing results would often find the risk within it by chance: of placements
that lose 3 %, 7 % are taken so instead of 10 % (six looks of six rounds each, sigma 0.3)."""

EXTRA_S = 1.2
"""Added to the default budget where a placement would save much, but too few rounds agree on it."""

LEAST_EXTRA_RATIO = 0.1
"""What it has to be expected to save for that."""

LEAST_INTERFACE_RATIO = 0.03
"""The decision depends on interfaces if unlimited ones would save this part of the time."""

ALL_PAIRS_HOSTS = 8
"""Up to this many hosts each pair is measured again: 28 pairs take half a second."""

MAP_SHARE = 0.08
MAP_S_PER_RANK = 2e-3
"""Time for finding each placement: this share of the budget, or more with many ranks, where a worse
placement costs more than the time."""


def default_budget_s(num_hosts: int) -> float:
    """Time for the decision: 3.8 s for 8 hosts, 7.8 s for 32, at most 15 s; the probe included."""
    return min(15.0, 2.5 + num_hosts / 6)


def mapping_s(budget_s: float, num_ranks: int) -> float:
    """Time that finding one placement may take."""
    return max(budget_s * MAP_SHARE, num_ranks * MAP_S_PER_RANK)


@dataclasses.dataclass(frozen=True)
class DecisionProblem:
    """The input of a decision, and the functions that it uses.

    Attributes:
        traffic: What the ranks send one another.
        network: The measured network so far.
        baseline: The launcher's own placement.
        place: Finds a placement on a network.
        cost: Time of `Cost` by which placements are compared.
        rule: When a placement is used.
        is_dropped: Whether a placement has proved slower before.
        measurer: Makes further measurements; None where the network was given.
        budget_s: When no further rehearsal begins; the first one takes place in any case, since
            rates alone do not show what pairs share.
        extra_s: Added to the budget while a placement is expected to save a tenth or more, at a
            risk that the rule does not accept.
        placing_s: Time that finding a placement takes.
        seed: Seed of all random draws.
    """

    traffic: Traffic
    network: Network
    baseline: Placement
    place: Callable[[Network], Placement]
    cost: str
    rule: Rule = DEFAULT_RULE
    is_dropped: Callable[[Placement], bool] = lambda _placement: False
    measurer: Measurer | None = None
    budget_s: float = 4.0
    extra_s: float = 0.0
    placing_s: float = 0.0
    seed: int = 0


@dataclasses.dataclass
class Candidate:
    """A placement and the results for it so far.

    Attributes:
        placement: A placement other than the launcher's.
        predicted: Its predicted saving by the rates of the network.
        log_ratios: Logarithm of the time of each round over that of the launcher's placement.
    """

    placement: Placement
    predicted: Gain
    log_ratios: npt.NDArray[np.float64] = dataclasses.field(default_factory=lambda: np.zeros(0))

    @property
    def num_rounds(self) -> int:
        """Rounds of rehearsal behind the gain; 0 where it is predicted only."""
        return len(self.log_ratios) if len(self.log_ratios) >= FEWEST_ROUNDS else 0

    @property
    def gain(self) -> Gain:
        """Its saving against the launcher's, as a fraction of the time on the network."""
        return rehearsed_gain(self.log_ratios) if self.num_rounds else self.predicted


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """The candidates, and the measurements of the search.

    Attributes:
        candidates: Placements that may be used; none if none was found that differs.
        network_s: Time on the network of a whole run with the launcher's placement.
        network: The measured network after the search.
        by_long_trains: Pairs measured meanwhile by trains of 64 KiB; None without any.
        has_met_dropped: Whether a placement was rejected because it had proved slower.
        seconds: Time that the search took.
        extra_s: Time that was added to its budget.
    """

    candidates: Sequence[Candidate]
    network_s: float
    network: Network
    by_long_trains: Network | None
    has_met_dropped: bool
    seconds: float
    extra_s: float = 0.0


def search(problem: DecisionProblem) -> SearchResult:
    """Place, rehearse and measure in turns until it is clear, or the budget is spent.

    Raises:
        Error: A measurement failed.
    """
    under_way = _Search(problem)
    while under_way.take_turn():
        pass
    clear = problem.rule
    while under_way.rehearse_undecided(clear):
        clear = dataclasses.replace(problem.rule, risk=CLEAR_RISK_SHARE * problem.rule.risk)
    return under_way.result()


def _best(candidates: Sequence[Candidate]) -> Candidate | None:
    return max(candidates, key=lambda one: one.gain.ratio, default=None)


class _Search:
    """One search under way."""

    def __init__(self, problem: DecisionProblem) -> None:
        self._problem = problem
        self._begin_s = time.monotonic()
        self._measured = problem.network
        self._network = with_pooled_noise(self._measured)
        self._network_s = _network_s(problem, self._network)
        self._candidates: list[Candidate] = []
        self._has_met_dropped = False
        self._has_asked_interfaces = False
        self._by_long_trains: Network | None = None
        self._extra_s = 0.0

    def take_turn(self) -> bool:
        """One turn. Returns whether another one may change the decision."""
        if len(self._candidates) == MOST_CANDIDATES:
            return False
        self._measure()
        has_met_dropped = self._has_met_dropped
        candidate = self._find_candidate()
        if self._measure_interfaces(candidate):
            self._has_met_dropped = has_met_dropped
            candidate = self._find_candidate()
        if candidate is None:
            return False
        self._candidates.append(candidate)
        is_hopeless = self._problem.rule.is_hopeless(candidate.predicted)
        if not is_hopeless and self._rehearse(self._candidates):
            return True
        if len(self._candidates) > 1:
            # Placements without a rehearsal are not compared with rehearsed ones.
            self._candidates.pop()
        return False

    def rehearse_undecided(self, clear: Rule) -> bool:
        """Further rounds, unless a placement is accepted by the rule `clear`, or none may be.

        Returns whether there were any.
        """
        rehearsed = [one for one in self._candidates if one.log_ratios.size]
        undecided = [one for one in rehearsed if not clear.is_hopeless(one.gain)]
        if not undecided or any(clear.accepts(one.gain) for one in undecided):
            return False
        if self._is_worth_more_time(undecided):
            self._extra_s = self._problem.extra_s
        return self._rehearse(undecided)

    def _is_worth_more_time(self, undecided: Sequence[Candidate]) -> bool:
        """Whether one would save much, and none is accepted.

        One late message among few rounds makes any interval wide. Keeping the launcher's placement
        then costs more than another second.
        """
        if any(self._problem.rule.accepts(one.gain) for one in undecided):
            return False
        return any(one.gain.ratio >= LEAST_EXTRA_RATIO for one in undecided)

    def result(self) -> SearchResult:
        """The result so far."""
        return SearchResult(
            candidates=self._candidates,
            network_s=self._network_s,
            network=self._measured,
            by_long_trains=self._by_long_trains,
            has_met_dropped=self._has_met_dropped,
            seconds=time.monotonic() - self._begin_s,
            extra_s=self._extra_s,
        )

    def _find_candidate(self) -> Candidate | None:
        """The best placement on the network as known now; None if it is not worth a rehearsal."""
        problem = self._problem
        placement = problem.place(remove_noise(self._network))
        if any(_is_same(placement, one) for one in (problem.baseline, *self._placements())):
            return None
        if problem.is_dropped(placement):
            self._has_met_dropped = True
            return None
        best = _best(self._candidates)
        if best is not None:
            alternative = best.placement if best.gain.ratio > 0 else problem.baseline
            if self._predict(placement, alternative).ratio < LEAST_BETTER_RATIO:
                return None
        return Candidate(placement, self._predict(placement, problem.baseline))

    def _placements(self) -> list[Placement]:
        return [candidate.placement for candidate in self._candidates]

    def _predict(self, placement: Placement, alternative: Placement) -> Gain:
        problem = self._problem
        return expected_gain(
            placement, alternative, problem.traffic, self._network, problem.seed, cost=problem.cost
        )

    def _left_s(self, measurer: Measurer) -> float:
        """What is left of the budget once the measuring program runs."""
        spent_s = time.monotonic() - self._begin_s
        return self._problem.budget_s + self._extra_s - spent_s - measurer.launch_s

    def _measure(self) -> None:
        """Measure the pairs that decide by messages long enough for a busy machine, each once."""
        problem, measurer, is_first = self._problem, self._problem.measurer, not self._candidates
        if measurer is None:
            return
        left_s = self._left_s(measurer)
        if left_s < LEAST_PAIRS_S + LEAST_REHEARSAL_S and not is_first:
            return
        pairs_s = float(np.clip(left_s / 3, LEAST_PAIRS_S, MOST_PAIRS_S))
        pairs = decisive_pairs(problem, self._network, self._unknown_pairs(), pairs_s)
        found = measurer.measure(pairs, pairs_s) if pairs.any() else None
        if found is None:
            return
        known = self._by_long_trains
        self._by_long_trains = found if known is None else known.with_measurements(found)
        self._measured = self._measured.with_measurements(found)
        self._network = with_pooled_noise(self._measured)
        if is_first:
            self._network_s = _network_s(problem, self._network)

    def _measure_interfaces(self, candidate: Candidate | None) -> bool:
        """Find what interfaces carry, if that is unknown and may decide. Returns whether it was."""
        problem, measurer = self._problem, self._problem.measurer
        if measurer is None or self._has_asked_interfaces:
            return False
        placements = [problem.baseline, *([] if candidate is None else [candidate.placement])]
        if not any(map(self._depends_on_interfaces, placements)):
            return False
        self._has_asked_interfaces = True
        needed_s = MOST_INTERFACES_S + problem.placing_s + LEAST_REHEARSAL_S
        if self._left_s(measurer) < needed_s:
            return False
        found = measurer.interfaces(remove_noise(self._network), MOST_INTERFACES_S)
        if found is None:
            return False
        self._measured = dataclasses.replace(
            self._measured, nic_out_Bps=found.out_Bps, nic_in_Bps=found.in_Bps
        )
        self._network = with_pooled_noise(self._measured)
        if not self._candidates:
            self._network_s = _network_s(problem, self._network)
        return True

    def _depends_on_interfaces(self, placement: Placement) -> bool:
        """Whether it matters to a placement if an interface carries more than its fastest pair."""
        network = remove_noise(self._network)
        if network.nic_out_Bps is not None:
            return False
        unlimited_Bps = np.full(network.num_hosts, np.inf)
        fast = dataclasses.replace(network, nic_out_Bps=unlimited_Bps, nic_in_Bps=unlimited_Bps)
        on_pairs = costs_of(placement, self._problem.traffic)
        fast_s, usual_s = (getattr(on_pairs(one), self._problem.cost) for one in (fast, network))
        return bool(fast_s < (1 - LEAST_INTERFACE_RATIO) * usual_s)

    def _unknown_pairs(self) -> Mask:
        """Pairs that were not measured by long trains in both directions, shape (H, H)."""
        is_pair: Mask = ~np.eye(self._measured.num_hosts, dtype=bool)
        if self._by_long_trains is None:
            return is_pair
        is_known = np.isfinite(self._by_long_trains.bandwidth_Bps)
        return is_pair & ~(is_known & is_known.T)

    def _rehearse(self, candidates: Sequence[Candidate]) -> bool:
        """Rehearse candidates and the launcher's placement. Returns whether that could be done."""
        problem = self._problem
        is_first = not any(one.log_ratios.size for one in self._candidates)
        if problem.measurer is None:
            return False
        left_s = self._left_s(problem.measurer)
        if left_s < LEAST_REHEARSAL_S and not is_first:
            return False
        rehearsal = problem.measurer.rehearse(
            (problem.baseline, *(one.placement for one in candidates)),
            remove_noise(self._network),
            float(np.clip(left_s, LEAST_REHEARSAL_S, MOST_REHEARSAL_S)),
        )
        if rehearsal is None or not rehearsal.num_rounds:
            return False
        self._take_in(rehearsal, candidates)
        return True

    def _take_in(self, rehearsal: Rehearsal, candidates: Sequence[Candidate]) -> None:
        placements = (self._problem.baseline, *(one.placement for one in candidates))
        computing_s = np.array([self._compute_s(one) for one in placements])
        whole_s = rehearsal.steps_s * rehearsal.num_steps + computing_s
        log_s = np.log(np.maximum(whole_s, 1e-9))
        for index, candidate in enumerate(candidates, start=1):
            ratios = log_s[:, index] - log_s[:, 0]
            candidate.log_ratios = np.concatenate([candidate.log_ratios, ratios])
        self._network_s = rehearsal.network_s(0) + computing_s[0]

    def _compute_s(self, placement: Placement) -> float:
        """Computing time of the slowest rank, which is added to that on the network.

        0 where hosts are alike, so that placements do not differ in it.
        """
        problem = self._problem
        if problem.cost != COST_OF_OBJECTIVE[SLOWEST_RANK]:
            return 0.0
        demand = compute_demand(problem.traffic, self._measured, placement.hosts)
        return 0.0 if demand is None else demand.slowest_s(placement.host_of_rank)


def decisive_pairs(problem: DecisionProblem, network: Network, among: Mask, pairs_s: float) -> Mask:
    """The pairs of hosts on which the gain depends: those with the longest transfer times.

    Args:
        problem: Holds the launcher's placement and the traffic.
        network: The measured network.
        among: The pairs to choose from, symmetric, shape (H, H).
        pairs_s: Time for measuring them, one after the other.

    Returns:
        Symmetric mask, shape (H, H); of few hosts all.
    """
    num_hosts = network.num_hosts
    if num_hosts <= ALL_PAIRS_HOSTS or not among.any():
        return among
    load_s = np.zeros((num_hosts, num_hosts))
    for placement in (problem.baseline, problem.place(remove_noise(network))):
        with np.errstate(invalid="ignore"):
            carried_s = host_bytes(placement, problem.traffic, network.hosts)
            load_s = np.maximum(load_s, np.nan_to_num(carried_s / network.bandwidth_Bps))
    load_s = np.triu(np.where(among, np.maximum(load_s, load_s.T), 0.0), 1)
    pair_s = LONG_TRAINS_BYTES * 2 / float(np.nanmedian(network.bandwidth_Bps[among]))
    count = min(int(pairs_s / pair_s), int(np.count_nonzero(load_s)))
    chosen: Mask = np.zeros_like(among)
    if count:
        heaviest = np.argpartition(load_s, -count, axis=None)[-count:]
        chosen[np.unravel_index(heaviest, load_s.shape)] = True
    return chosen | chosen.T


def _network_s(problem: DecisionProblem, network: Network) -> float:
    cost = evaluate(problem.baseline, problem.traffic, network)
    return float(getattr(cost, problem.cost))


def _is_same(one: Placement, other: Placement) -> bool:
    return one.host_names() == other.host_names()
