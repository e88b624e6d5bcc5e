# SPDX-License-Identifier: Apache-2.0
"""The choice among an MPI's own algorithms, and between two orders of the hosts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.act.tuning_files import NativeRule
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.choosing import Choice, choose, size_ranges
from fairlead.measure.collective_times import CollectiveTimes, TimedCall
from fairlead.model.placement import Placement

__all__ = ["NativeTimes", "choose_native", "native_rules", "other_order_is_better"]

LEAST_ORDER_RATIO = 0.02
"""Least mean saving for which the hosts get another order."""

OWN = "own choice"


@dataclasses.dataclass(frozen=True)
class NativeTimes:
    """Times of one call: the MPI's own choice and the best algorithm, in both orders.

    Attributes:
        call: The call.
        names: The best algorithm in the given order, and in the other; None where there is none.
        times_s: Shape (rounds, 4): own choice and best algorithm in the given order, then in the
            other; `nan` where something was not timed.
    """

    call: TimedCall
    names: tuple[str | None, str | None]
    times_s: npt.NDArray[np.float64]

    def best_log_ratio(self, is_reordered: bool) -> float:
        """Logarithm of the best median time in an order over that of the MPI as it is."""
        columns = self.times_s[:, 2:] if is_reordered else self.times_s[:, :2]
        medians = [np.median(one) for one in columns.T if not np.isnan(one).any()]
        return math.log(min(medians) / np.median(self.times_s[:, 0])) if medians else 0.0


def other_order_is_better(found: Sequence[NativeTimes]) -> bool:
    """Whether the other order saves more on average over all calls, and enough."""
    ratios = [
        np.mean([one.best_log_ratio(is_reordered) for one in found])
        for is_reordered in (False, True)
    ]
    return bool(ratios[1] < ratios[0] + math.log1p(-LEAST_ORDER_RATIO))


def choose_native(found: NativeTimes, placement: Placement, is_reordered: bool) -> Choice:
    """The algorithm in the order that is used, if it is significantly faster there; else the MPI's.

    The saving is against the MPI as it is, in the given order.
    """
    own, best = (2, 3) if is_reordered else (0, 1)
    name = found.names[1 if is_reordered else 0]
    kind = CallKind.of(found.call, placement)
    is_better = (
        name is not None
        and choose(
            kind,
            [name],
            CollectiveTimes([True, True], found.times_s[:, [own, best]]),
        ).is_taken
    )
    column = best if is_better else own
    if column == 0:
        kept = choose(
            kind,
            [name or OWN],
            CollectiveTimes([True, name is not None], found.times_s[:, [0, 1]]),
        )
        return dataclasses.replace(kept, is_taken=False)
    against = choose(
        kind,
        [name if is_better and name else OWN],
        CollectiveTimes([True, True], found.times_s[:, [0, column]]),
    )
    return dataclasses.replace(against, is_taken=True)


def native_rules(choices: Sequence[Choice]) -> list[NativeRule]:
    """Rules for the algorithms that are taken; ranges of sizes as in a plan."""
    rules = []
    for operation in dict.fromkeys(choice.kind.operation for choice in choices):
        of_operation = sorted(
            (one for one in choices if one.kind.operation == operation),
            key=lambda one: one.kind.message_bytes,
        )
        ranges = size_ranges([one.kind.message_bytes for one in of_operation])
        rules += [
            NativeRule(operation, str(one.name), low, high)
            for one, (low, high) in zip(of_operation, ranges, strict=True)
            if one.is_taken and one.name not in (None, OWN)
        ]
    return rules
