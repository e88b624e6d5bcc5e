# SPDX-License-Identifier: Apache-2.0
"""Measures and estimates in turns, until the share is used up or more would not help."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.measure.sampling.completion import estimate_network, nearness
from fairlead.measure.sampling.estimation import Estimate
from fairlead.measure.sampling.sampler import Sampler
from fairlead.model.network import Network

Mask = npt.NDArray[np.bool_]
Measure = Callable[[Mask, float], Network | None]
OnEstimates = Callable[[Mask, Sequence[Estimate]], None]

MAX_HOSTS_WHOLE = 8
"""Up to this many hosts all pairs are measured: 28 pairs take no time and are too few to estimate
from."""
FIRST_PAIRS_RATIO = 0.8
"""Pairs of the first batch, per H log2 H."""
LATER_PAIRS_RATIO = 0.5
"""Pairs of a later batch, relative to all before it."""
SHARES = (0.4, 0.2, 0.2, 0.2)
"""How a given share of the pairs is spread over the batches."""
MAX_BATCHES = 6
MIN_STUCK_RATIO = 0.1
"""Below this share of the pairs, batches without gain do not end the sample: with many hosts, most
racks have no measured pair by then, and the estimate cannot improve yet."""


@dataclasses.dataclass(frozen=True)
class SampleDesign:
    """How much is measured.

    Attributes:
        ratio: Share of the pairs, 0..1; None to stop by itself.
        error_bar_ratio: Without a share, it is enough when the median error bar of latency and of
            bandwidth is no longer than this fraction of the estimate to either side, or when
            further batches do not shorten them.
        min_gain_ratio: Without a share, two batches in a row that lower the expected error by less
            than this fraction are the last.
        seed: Equal seeds measure equal pairs, given equal measurements.
    """

    ratio: float | None = None
    error_bar_ratio: float = 0.2
    min_gain_ratio: float = 0.05
    seed: int = 0

    def check(self, num_hosts: int) -> None:
        """Refuse impossible values.

        Raises:
            InputError: A value is out of its range, or the share is too small for so many hosts.
        """
        if self.ratio is not None and not 0 < self.ratio <= 1:
            raise InputError(f"sample: ratio: expected a number > 0 and <= 1, got {self.ratio}")
        if not self.error_bar_ratio > 0:
            raise InputError(
                f"sample: error_bar_ratio: expected a number > 0, got {self.error_bar_ratio}"
            )
        if self.seed < 0:
            raise InputError(f"sample: seed: expected a number >= 0, got {self.seed}")
        self.batch_sizes(num_hosts)

    def batch_sizes(self, num_hosts: int) -> list[int]:
        """Pairs of each batch, at most; one batch with all pairs where sampling does not help.

        Raises:
            InputError: The share is smaller than two pairs for each host.
        """
        num_pairs = num_hosts * (num_hosts - 1) // 2
        if num_hosts <= MAX_HOSTS_WHOLE:
            return [num_pairs]
        if self.ratio is None:
            sizes = [math.ceil(FIRST_PAIRS_RATIO * num_hosts * math.log2(num_hosts))]
            while len(sizes) < MAX_BATCHES:
                sizes.append(math.ceil(LATER_PAIRS_RATIO * sum(sizes)))
            ends = np.minimum(np.cumsum(sizes), num_pairs).tolist()
            return [end - begin for begin, end in itertools.pairwise([0, *ends]) if end > begin]
        wanted = round(self.ratio * num_pairs)
        if wanted < 2 * num_hosts:
            least = math.ceil(200 * num_hosts / num_pairs) / 100
            raise InputError(
                f"sample: ratio: {self.ratio:g} of {num_pairs} pairs are {wanted}; {num_hosts} "
                f"hosts need at least twice as many pairs as hosts, a ratio of {least:g}"
            )
        if wanted == num_pairs:
            return [num_pairs]
        later = [round(share * wanted) for share in SHARES[1:]]
        return [wanted - sum(later), *later]


def measure_in_batches(
    plan: SampleDesign, num_hosts: int, measure: Measure, on_estimates: OnEstimates | None = None
) -> Mask:
    """Measure the chosen pairs.

    Args:
        plan: How much.
        num_hosts: H.
        measure: Measures the pairs of a mask, shape (H, H), symmetric, in the given share of the
            time that is left. Returns all that has been measured so far, `nan` elsewhere, or None
            where nothing more can be measured.
        on_estimates: Gets the pairs asked for and the estimates made after each batch but the last
            possible one.

    Returns:
        The pairs that `measure` was asked for, shape (H, H), symmetric.
    """
    sizes = plan.batch_sizes(num_hosts)
    sampler = Sampler(num_hosts, plan.seed)
    if sizes == [sampler.num_pairs]:
        pairs = ~np.eye(num_hosts, dtype=bool)
        measure(pairs, 1.0)
        return pairs
    measured = measure(sampler.first(sizes[0]), sizes[0] / sum(sizes))
    errors: list[float] = []
    for batch in range(1, len(sizes)):
        if measured is None:
            break
        estimates = list(estimate_network(measured, plan.seed).values())
        if not estimates or sampler.num_asked == sampler.num_pairs:
            break
        if on_estimates is not None:
            on_estimates(sampler.asked.copy(), estimates)
        errors.append(_predict_error(estimates, sampler.asked))
        if plan.ratio is None and _is_enough(plan, estimates, sampler.asked, errors):
            break
        pairs = sampler.next(estimates, nearness(measured), sizes[batch])
        measured = measure(pairs, sizes[batch] / sum(sizes[batch:]))
    return sampler.asked


def _predict_error(estimates: Sequence[Estimate], asked: Mask) -> float:
    """Expected mean error of the pairs that were not measured; 0 if there are none."""
    others = ~asked & ~np.eye(len(asked), dtype=bool)
    if not others.any():
        return 0.0
    return float(np.mean([found.scatter[others].mean() for found in estimates]))


def _is_enough(
    plan: SampleDesign, estimates: Sequence[Estimate], asked: Mask, errors: Sequence[float]
) -> bool:
    others = ~asked & ~np.eye(len(asked), dtype=bool)
    bars = [float(np.expm1(np.median(found.bar[others]))) for found in estimates if others.any()]
    if max(bars, default=0.0) <= plan.error_bar_ratio:
        return True
    if len(errors) < 3 or asked.sum() < MIN_STUCK_RATIO * asked.size:
        return False
    return min(errors[-2:]) > (1 - plan.min_gain_ratio) * min(errors[:-2])
