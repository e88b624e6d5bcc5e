# SPDX-License-Identifier: Apache-2.0
"""A declared topology held against a measured network: which hosts are not where they should be.

Pairs of hosts that are as many links apart by the declaration form a class. A host disagrees where
its pairs of one class measure as those of the next class do, by more than the spread of the class
explains.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special
import scipy.stats

from fairlead.errors import TopologyError
from fairlead.model.network import Network
from fairlead.model.topology import Topology
from fairlead.watch.oracle.host_names import HostNames

__all__ = [
    "FALSE_ALARM_RATIO",
    "FEWEST_HOSTS",
    "Agreement",
    "DistanceClass",
    "Misplaced",
    "hold_against",
]

FALSE_ALARM_RATIO = 0.01
"""Share of networks that are as declared in which anything may be named, over all tests."""

FEWEST_HOSTS = 4
FEWEST_PAIRS = 4
"""Pairs that a class needs, so that its spread is known."""

LEAST_RATIO = 1.2
"""How many times worse the typical pair of the next class must be, or both measure alike."""

RESOLUTION = 0.02
"""Spread of logarithms below which differences are ignored: 2 %."""

MAD_TO_DEVIATION = 1.4826
MAD_EFFICIENCY = 0.37
MEDIAN_ERROR = 1.2533
"""For a normal distribution: standard deviation by the median absolute deviation, how many of its
values the latter is worth, and the error of a median compared with that of a mean.
Source: Rousseeuw and Croux 1993; Kendall and Stuart, section 10.10."""

NUM_PERMUTATIONS = 999

Quantity = Literal["latency_s", "bandwidth_Bps"]
QUANTITIES: tuple[Quantity, ...] = ("latency_s", "bandwidth_Bps")
Values = npt.NDArray[np.float64]


class DistanceClass(NamedTuple):
    """Pairs that are equally far by the declaration.

    Attributes:
        hops: Links between the hosts.
        num_pairs: Unordered pairs with a measurement.
        latency_s, bandwidth_Bps: Median of the measured values; `nan` where none is known.
    """

    hops: float
    num_pairs: int
    latency_s: float
    bandwidth_Bps: float


class Misplaced(NamedTuple):
    """Hosts, or one pair, that measure otherwise than they are declared.

    Attributes:
        host: The host, or the first of the pair.
        peers: The hosts that it is `hops` links from by the declaration.
        hops: The declared distance.
        like_hops: The distance that the measured values are those of.
        quantity: What shows it most clearly.
        value: Median of the measured values.
        typical: Median over the other pairs of the same declared distance.
        chance: Probability that any such case shows in a network that is as declared.
    """

    host: str
    peers: tuple[str, ...]
    hops: float
    like_hops: float
    quantity: Quantity
    value: float
    typical: float
    chance: float


class Fit(NamedTuple):
    """How declared distances and measured values go together.

    Attributes:
        correlation: Rank correlation over unordered pairs; 1: the same order.
        chance: Probability that hosts put to random places fit as well.
    """

    correlation: float
    chance: float


@dataclasses.dataclass(frozen=True)
class Agreement:
    """What the comparison found.

    Attributes:
        hosts: Hosts that were compared.
        missing: Hosts of the network of which the topology knows nothing.
        classes: Declared distances, the smallest first.
        fits: By quantity; none where all pairs are equally far.
        misplaced: Hosts first, then single pairs, each by its probability.
    """

    hosts: tuple[str, ...]
    missing: tuple[str, ...]
    classes: tuple[DistanceClass, ...]
    fits: dict[Quantity, Fit]
    misplaced: tuple[Misplaced, ...]


class _Border(NamedTuple):
    """Between two classes next to one another, seen from one of them.

    Attributes:
        quantity: What was measured.
        hops, like_hops: Distance of this class, and of the other.
        sign: 1 where the other is the farther one, else -1.
        at: Logarithm in the middle between the two medians; more is farther.
    """

    quantity: Quantity
    hops: float
    like_hops: float
    sign: int
    at: float


def hold_against(network: Network, topology: Topology, seed: int = 0) -> Agreement:
    """Compare measured values with declared distances.

    A host is named if the median of its pairs of one declared distance is nearer to that of the
    next distance, and chance explains this in less than FALSE_ALARM_RATIO of all networks. The host
    with the strongest evidence is removed, and the others are tested without it; then single pairs
    of the hosts that are left are tested in the same way.

    Args:
        network: Measured; unmeasured pairs (`nan`) are ignored.
        topology: As declared; it may have more hosts, with or without domains in their names.
        seed: Seed of the permutations.

    Raises:
        TopologyError: Fewer than FEWEST_HOSTS hosts are in both.

    Source: Mantel 1967 for the permutation of hosts.
    """
    host_of = HostNames(topology.hosts).match_hosts((host,) for host in network.hosts)
    hosts = [host for host in network.hosts if host_of.get((host,))]
    missing = tuple(host for host in network.hosts if not host_of.get((host,)))
    if len(hosts) < FEWEST_HOSTS:
        raise TopologyError(
            f"{topology.source}: has {len(hosts)} of the {network.num_hosts} hosts of "
            f"{network.source}; at least {FEWEST_HOSTS} are needed"
        )
    at = topology.indices([host_of[host,] for host in hosts])
    src, dst = np.broadcast_arrays(at[:, None], at[None, :])
    hops = topology.known_hops()(src, dst)
    comparison = _Comparison(network.select(hosts), np.fmax(hops, hops.T))
    is_telling = len(comparison.distances) > 1
    return Agreement(
        tuple(hosts),
        missing,
        tuple(map(comparison.distance_class, comparison.distances)),
        comparison.fits(seed) if is_telling else {},
        tuple(comparison.misplaced()) if is_telling else (),
    )


class _Comparison:
    """Measured values of unordered pairs, and how far they are declared to be."""

    def __init__(self, network: Network, hops: Values) -> None:
        self._network = network
        self._hops = np.where(np.eye(len(hops), dtype=bool), np.nan, hops)
        # Both directions of a pair count as one observation: they may be equal, as latencies are.
        self._far = {
            "latency_s": _both(np.log(_positive(network.latency_s))),
            "bandwidth_Bps": _both(-np.log(_positive(network.bandwidth_Bps))),
        }
        self.distances = np.unique(self._hops[np.isfinite(self._hops)]).tolist()

    def distance_class(self, hops: float) -> DistanceClass:
        """The pairs of a declared distance."""
        everyone = np.arange(len(self._hops))
        known = [self._of_class(quantity, hops, everyone) for quantity in QUANTITIES]
        medians = [
            _value(name, float(np.median(values))) if values.size else float("nan")
            for name, values in zip(QUANTITIES, known, strict=True)
        ]
        return DistanceClass(hops, max(values.size for values in known), *medians)

    def fits(self, seed: int) -> dict[Quantity, Fit]:
        """Rank correlation of distances and values, and that of random places."""
        found: dict[Quantity, Fit] = {}
        pairs = np.triu_indices(len(self._hops), 1)
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(len(self._hops)) for _ in range(NUM_PERMUTATIONS)]
        # A pair whose route is unknown is as far as the farthest. Other places of the hosts only
        # permute the pairs, so the ranks of their distances stay.
        ranks = np.zeros(self._hops.shape)
        hops = np.nan_to_num(self._hops[pairs], nan=max(self.distances))
        ranks[pairs] = scipy.stats.rankdata(hops)
        ranks += ranks.T
        for quantity in QUANTITIES:
            values = self._far[quantity][pairs]
            is_known = np.isfinite(values)
            if is_known.sum() < FEWEST_PAIRS or np.ptp(values[is_known]) == 0:
                continue
            measured = scipy.stats.rankdata(values[is_known])
            placed = [ranks[pairs], *(ranks[np.ix_(order, order)][pairs] for order in orders)]
            correlations = [_correlation(measured, each[is_known]) for each in placed]
            # A place that is equivalent fits as well, but for rounding.
            num_as_good = sum(each >= correlations[0] - 1e-9 for each in correlations)
            found[quantity] = Fit(correlations[0], num_as_good / len(correlations))
        return found

    def misplaced(self) -> Iterator[Misplaced]:
        """Hosts, then single pairs of the others."""
        kept = list(range(len(self._hops)))
        while len(kept) >= FEWEST_HOSTS:
            found = [
                (p_value, host, case)
                for host in kept
                for p_value, case in self._compare_values(
                    host, [k for k in kept if k != host], kept
                )
            ]
            worst = min(found, default=None)
            chance = 1.0 if worst is None else worst[0] * len(kept) * self._num_tests()
            if worst is None or chance >= FALSE_ALARM_RATIO:
                break
            yield worst[2]._replace(chance=chance)
            kept.remove(worst[1])
        yield from self._find_misplaced_pairs(kept)

    def _find_misplaced_pairs(self, kept: Sequence[int]) -> Iterator[Misplaced]:
        pairs = list(itertools.combinations(kept, 2))
        num_tests = len(pairs) * self._num_tests()
        cases = [
            min(self._compare_values(one, [other], kept), default=None) for one, other in pairs
        ]
        for p_value, case in sorted(case for case in cases if case is not None):
            if p_value * num_tests < FALSE_ALARM_RATIO:
                yield case._replace(chance=p_value * num_tests)

    def _num_tests(self) -> int:
        """Tests of a host or a pair: quantities, and borders of classes from both sides."""
        return len(QUANTITIES) * 2 * (len(self.distances) - 1)

    def _compare_values(
        self, host: int, others: Sequence[int], kept: Sequence[int]
    ) -> Iterator[tuple[float, Misplaced]]:
        """What shows that a host is farther from others, or nearer, than declared."""
        left = np.array([k for k in kept if k != host])
        names = self._network.hosts
        for border in self._borders(kept):
            values = self._far[border.quantity]
            peers = [
                peer
                for peer in others
                if self._hops[host, peer] == border.hops and np.isfinite(values[host, peer])
            ]
            reference = self._of_class(border.quantity, border.hops, left)
            if not peers or reference.size < FEWEST_PAIRS:
                continue
            middle, typical = float(np.median(values[host, peers])), float(np.median(reference))
            if border.sign * (middle - border.at) <= 0:
                continue
            yield (
                _chance(border.sign * (middle - typical), len(peers), reference),
                Misplaced(
                    names[host],
                    tuple(names[peer] for peer in peers),
                    border.hops,
                    border.like_hops,
                    border.quantity,
                    _value(border.quantity, middle),
                    _value(border.quantity, typical),
                    1.0,
                ),
            )

    def _borders(self, kept: Sequence[int]) -> Iterator[_Border]:
        """Between classes next to one another whose typical pairs differ, from both sides."""
        among = np.array(kept)
        for quantity in QUANTITIES:
            classes = [self._of_class(quantity, hops, among) for hops in self.distances]
            medians = [float(np.median(each)) if each.size else np.nan for each in classes]
            for index, (near, far) in enumerate(itertools.pairwise(medians)):
                # A comparison with nan, of a class that was not measured, is false.
                if far - near >= np.log(LEAST_RATIO):
                    hops, like = self.distances[index], self.distances[index + 1]
                    yield _Border(quantity, hops, like, 1, (near + far) / 2)
                    yield _Border(quantity, like, hops, -1, (near + far) / 2)

    def _of_class(self, quantity: Quantity, hops: float, among: npt.NDArray[np.int64]) -> Values:
        """Known values of the unordered pairs of a distance among some hosts."""
        rows, columns = np.triu_indices(len(among), 1)
        one, other = among[rows], among[columns]
        values = self._far[quantity][one, other]
        is_counted = (self._hops[one, other] == hops) & np.isfinite(values)
        return np.asarray(values[is_counted])


def _chance(difference: float, num_values: int, reference: Values) -> float:
    """One-sided p-value of a median that is above that of a reference by a difference.

    The spread is robust, so that a second misplaced host in the reference does not hide the first.
    """
    deviation = MAD_TO_DEVIATION * float(np.median(np.abs(reference - np.median(reference))))
    error = max(deviation, RESOLUTION) * MEDIAN_ERROR
    error *= np.sqrt(1 / num_values + 1 / reference.size)
    freedom = max(1.0, MAD_EFFICIENCY * reference.size)
    return float(scipy.special.stdtr(freedom, -difference / error))


def _correlation(one: Values, other: Values) -> float:
    centred = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float(centred[0] @ centred[1]) / scale if scale > 0 else 0.0


def _both(values: Values) -> Values:
    """The mean of both directions, or the one that is known."""
    stacked = np.stack([values, values.T])
    known = np.isfinite(stacked).sum(axis=0)
    total = np.where(np.isfinite(stacked), stacked, 0.0).sum(axis=0)
    return np.where(known > 0, total / np.maximum(known, 1), np.nan)


def _positive(values: Values) -> Values:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _value(quantity: Quantity, far: float) -> float:
    return float(np.exp(far if quantity == "latency_s" else -far))
