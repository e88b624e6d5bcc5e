# SPDX-License-Identifier: Apache-2.0
"""Which hosts of a measured network are slow to or from most others, and the pairs that show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special

from fairlead.model.network import Network

__all__ = ["CLEAR_RATIO", "FEWEST_HOSTS", "BadHost", "SlowPair", "Symptom", "find_bad_hosts"]

CLEAR_RATIO = 1.5
"""A pair is clearly worse if it is this many times worse than the typical pair."""

FALSE_ALARM_RATIO = 0.001
"""Share of networks without a bad host in which one may be named, over all tests."""

FEWEST_HOSTS = 4
"""With three hosts, a bad host and two bad pairs look alike."""

WINSORIZED_RATIO = 0.1
WINSORIZED_SPREAD = 0.8238
"""A tenth at each end takes the value next to it, so that a cut pair does not hide a bad host; of a
normal distribution this leaves the second number as standard deviation (its own is 1)."""

Direction = Literal["out", "in"]
Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]


class SlowPair(NamedTuple):
    """A directed pair that is clearly worse than the typical one.

    Attributes:
        src, dst: Host names.
        value: Its bandwidth_Bps or latency_s.
        ratio: How many times worse than the typical pair it is.
    """

    src: str
    dst: str
    value: float
    ratio: float


@dataclasses.dataclass(frozen=True)
class Symptom:
    """One way in which a host is bad.

    Attributes:
        quantity: "bandwidth_Bps" or "latency_s".
        direction: "out" for what the host sends, "in" for what it receives.
        value: Value of the host's median pair.
        typical: Value of the median pair that touches no bad host.
        ratio: How many times worse the former is.
        pairs: Pairs that show it, worst first.
        num_pairs: Number of pairs that were tested.
    """

    quantity: str
    direction: Direction
    value: float
    typical: float
    ratio: float
    pairs: tuple[SlowPair, ...]
    num_pairs: int


@dataclasses.dataclass(frozen=True)
class BadHost:
    """A host most of whose pairs are bad.

    Attributes:
        host: Its name.
        symptoms: How that shows, at least one.
        near: Other bad hosts whose pairs with it are as good as the typical pair: together they
            look more like a distant rack than like bad hosts.
    """

    host: str
    symptoms: tuple[Symptom, ...]
    near: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class _Quantity:
    """One measured matrix as natural logarithms in which more is worse; `nan` where unknown."""

    name: str
    worse: Matrix
    at_best: Matrix  # The better end of each pair's interval; the value itself where there is none.
    is_rate: bool

    @classmethod
    def of(cls, network: Network, name: str) -> _Quantity:
        value = getattr(network, name)
        stem, unit = name.rsplit("_", 1)
        is_rate = name == "bandwidth_Bps"
        better_end = getattr(network, f"{stem}_{'high' if is_rate else 'low'}_{unit}")
        worse = _logarithm(value, is_rate)
        at_best = worse if better_end is None else _logarithm(better_end, is_rate)
        return cls(name, worse, np.where(np.isnan(at_best), worse, at_best), is_rate)

    def value(self, logarithm: float) -> float:
        """The measured value of a logarithm."""
        return float(np.exp(-logarithm if self.is_rate else logarithm))


class _Found(NamedTuple):
    p_value: float
    host: int


def find_bad_hosts(network: Network) -> list[BadHost]:
    """Hosts whose pairs are clearly and surely worse than those among the other hosts.

    For each host and direction, the logarithms of its pairs are compared with those of all pairs
    that do not touch it. The host is bad where more than half of its pairs are at least CLEAR_RATIO
    times worse than the median of the others, their intervals do not reach that median, and a
    one-sided t test (others winsorized; Bonferroni over all hosts, directions and quantities) says
    that chance does this in less than FALSE_ALARM_RATIO of all networks. The host with the
    strongest evidence is removed, and the others are tested without it, until no bad host is left.

    Args:
        network: Unmeasured pairs (`nan`) are ignored.

    Returns:
        Bad hosts, those with the strongest evidence first; none if there are fewer than
        FEWEST_HOSTS.

    Source: docs/design/bad-hosts.md; Tukey and McLaughlin 1963 for winsorized means.
    """
    quantities = [_Quantity.of(network, name) for name in ("bandwidth_Bps", "latency_s")]
    kept = list(range(network.num_hosts))
    bad = []
    while len(kept) >= FEWEST_HOSTS:
        allowed = FALSE_ALARM_RATIO / (2 * len(quantities) * len(kept))
        found = [
            _Found(p_value, host)
            for host in kept
            for quantity in quantities
            for _direction, p_value, _symptom in _find_symptoms(network, quantity, host, kept)
            if p_value < allowed
        ]
        if not found:
            break
        worst = min(found).host
        symptoms = [
            symptom
            for quantity in quantities
            for _direction, p_value, symptom in _find_symptoms(network, quantity, worst, kept)
            if p_value < allowed
        ]
        bad.append(BadHost(network.hosts[worst], tuple(symptoms)))
        kept.remove(worst)
    return [dataclasses.replace(one, near=_near(one, bad, network)) for one in bad]


def _near(one: BadHost, bad: list[BadHost], network: Network) -> tuple[str, ...]:
    """The other bad hosts whose pairs with this one are fine in both directions."""
    symptom = one.symptoms[0]
    values = getattr(network, symptom.quantity)
    is_rate = symptom.quantity == "bandwidth_Bps"
    limit = symptom.typical / CLEAR_RATIO if is_rate else symptom.typical * CLEAR_RATIO

    def is_fine(src: str, dst: str) -> bool:
        value = values[network.index(src), network.index(dst)]
        return bool(value > limit if is_rate else value < limit)

    others = [other.host for other in bad if other.host != one.host]
    return tuple(other for other in others if is_fine(one.host, other) and is_fine(other, one.host))


def _find_symptoms(
    network: Network, quantity: _Quantity, host: int, kept: list[int]
) -> Iterator[tuple[Direction, float, Symptom]]:
    """Directions in which most pairs of a host are clearly bad, with the p-value of each."""
    others = np.array([other for other in kept if other != host])
    inside = quantity.worse[np.ix_(others, others)]
    reference = inside[~np.isnan(inside)]
    if reference.size < FEWEST_HOSTS:
        return
    typical = float(np.median(reference))
    directions: tuple[Direction, ...] = ("out", "in")
    for direction in directions:
        places = (host, others) if direction == "out" else (others, host)
        worse, at_best = quantity.worse[places], quantity.at_best[places]
        is_known = ~np.isnan(worse)
        num_pairs = int(is_known.sum())
        is_bad = is_known & (worse > typical + np.log(CLEAR_RATIO)) & (at_best > typical)
        # Hosts with very few measured pairs are not tested.
        if 2 * num_pairs <= len(others) or 2 * is_bad.sum() <= num_pairs:
            continue
        middle = float(np.median(worse[is_known]))
        found = [
            _slow_pair(network, quantity, (host, int(other)), direction, typical)
            for other in others[is_bad]
        ]
        symptom = Symptom(
            quantity=quantity.name,
            direction=direction,
            value=quantity.value(middle),
            typical=quantity.value(typical),
            ratio=float(np.exp(middle - typical)),
            pairs=tuple(sorted(found, key=lambda pair: -pair.ratio)),
            num_pairs=num_pairs,
        )
        yield direction, _chance(worse[is_known], reference), symptom


def _slow_pair(
    network: Network,
    quantity: _Quantity,
    ends: tuple[int, int],
    direction: Direction,
    typical: float,
) -> SlowPair:
    src, dst = ends if direction == "out" else ends[::-1]
    worse = float(quantity.worse[src, dst])
    ratio = float(np.exp(worse - typical))
    return SlowPair(network.hosts[src], network.hosts[dst], quantity.value(worse), ratio)


def _chance(values: Vector, reference: Vector) -> float:
    """One-sided p-value of the mean of `values` above that of `reference`.

    The spread is that of the reference alone, and both directions of a pair count as one: they may
    be equal, as latencies are.
    """
    cut = np.sort(reference)
    num_cut = int(WINSORIZED_RATIO * cut.size)
    if num_cut:
        cut[:num_cut], cut[-num_cut:] = cut[num_cut], cut[-num_cut - 1]
    num_independent = reference.size / 2
    spread = float(np.std(cut, ddof=1)) / (WINSORIZED_SPREAD if num_cut else 1.0)
    error = spread * np.sqrt(1 / values.size + 1 / num_independent)
    difference = float(values.mean() - cut.mean())
    if error == 0:
        return 0.0 if difference > 0 else 1.0
    return float(scipy.special.stdtr(num_independent - 1, -difference / error))


def _logarithm(values: Matrix, is_rate: bool) -> Matrix:
    """Logarithms in which more is worse, `nan` on the diagonal and where there is none."""
    usable = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    logarithms = -np.log(usable) if is_rate else np.log(usable)
    np.fill_diagonal(logarithms, np.nan)
    return np.asarray(logarithms)
