# SPDX-License-Identifier: Apache-2.0
"""Whether one of two small samples is larger, whatever their distribution: the rank-sum test."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

__all__ = ["rank_sum_risk"]


def rank_sum_risk(larger: Sequence[float], smaller: Sequence[float]) -> float:
    """Probability that the first sample looks so much larger though both are alike.

    Exact for any number of values: of all ways to deal the values out to both samples, the part in
    which as many pairs have the larger value in the first one. Equal values count against that.
    With three values each it is at least 1 / 20, as there are 20 ways.

    Args:
        larger: Values that are taken to be larger.
        smaller: The others.

    Source: Mann and Whitney 1947, equation 1 (the recurrence for the number of ways).
    """
    num_pairs = sum(one > other for one in larger for other in smaller)
    most = len(larger) * len(smaller)
    ways = sum(_ways(len(larger), len(smaller), pairs) for pairs in range(num_pairs, most + 1))
    return ways / math.comb(len(larger) + len(smaller), len(larger))


@functools.cache
def _ways(num_first: int, num_second: int, num_pairs: int) -> int:
    """Orders of both samples in which so many pairs have the larger value in the first one."""
    if num_pairs < 0 or num_pairs > num_first * num_second:
        return 0
    if num_first == 0 or num_second == 0:
        return 1
    # The largest value is of the first sample, and above all of the second, or of the second.
    return _ways(num_first - 1, num_second, num_pairs - num_second) + _ways(
        num_first, num_second - 1, num_pairs
    )
