# SPDX-License-Identifier: Apache-2.0
"""The algorithm of a collective call that is significantly faster, and the rules that follow."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.expected_gain import Gain
from fairlead.decide.paired_median import paired_gain
from fairlead.errors import InputError
from fairlead.measure.collective_times import CollectiveTimes
from fairlead.model.collective_rule import CollectiveRule

__all__ = ["Choice", "choose", "rules_of"]

LEAST_RATIO = 0.02
"""Least saving for which a call leaves the MPI's own algorithm, as of placements."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """What was measured of one call, and what follows from it.

    Attributes:
        kind: Kind of the call.
        native_s: Time of the MPI's own algorithm, the median.
        name: The fastest other algorithm; None where none was right.
        fastest_s: Its time.
        gain: What it saves; None where none was timed often enough.
        is_taken: Whether it is used.
        num_rounds: Rounds behind it.
    """

    kind: CallKind
    native_s: float
    name: str | None = None
    fastest_s: float = float("nan")
    gain: Gain | None = None
    is_taken: bool = False
    num_rounds: int = 0


def choose(kind: CallKind, names: Sequence[str], times: CollectiveTimes) -> Choice:
    """The fastest algorithm whose interval is a gain throughout, or the MPI's own.

    With several candidates each interval is wider, so that all of them hold together (Bonferroni).

    Args:
        kind: Kind of the call.
        names: Names of the algorithms, the MPI's own left out.
        times: Times of all algorithms, the MPI's own first.

    Raises:
        InputError: The MPI's own algorithm delivered something wrong.
    """
    if not times.is_right[0]:
        raise InputError(
            f"{kind.operation}: the MPI's own algorithm failed or delivered wrong values"
        )
    native_s = times.rounds_s[:, 0]
    found = Choice(kind, float(np.median(native_s)))
    confidence = 1 - 0.05 / max(1, len(names))
    timed = []
    for index, name in enumerate(names, start=1):
        other_s = times.rounds_s[:, index]
        rounds = np.isfinite(other_s)
        if times.is_right[index] and rounds.any():
            gain = paired_gain(other_s[rounds], native_s[rounds], confidence)
            taken = gain.is_beyond_noise and gain.ratio >= LEAST_RATIO
            seconds = float(np.median(other_s[rounds]))
            timed.append((taken, int(rounds.sum()), gain.ratio, name, seconds, gain))
    if not timed:
        return dataclasses.replace(found, num_rounds=len(native_s))
    # One that was dropped after the first rounds was slower than another.
    taken, num_rounds, _, name, seconds, gain = max(timed, key=lambda one: one[:3])
    return dataclasses.replace(
        found, name=name, fastest_s=seconds, gain=gain, is_taken=taken, num_rounds=num_rounds
    )


def rules_of(choices: Iterable[Choice]) -> list[CollectiveRule]:
    """The rules of all choices; neighbouring sizes with the same method share one.

    A measured size stands for those from half to twice as large, up to the geometric middle between
    it and the next one.

    Args:
        choices: Each kind at most once.
    """

    def but_for_size(one: Choice) -> tuple[str, list[str], int]:
        return one.kind.operation, sorted(one.kind.hosts), one.kind.num_ranks

    rules: list[CollectiveRule] = []
    ordered = sorted(choices, key=lambda one: (but_for_size(one), one.kind.message_bytes))
    for _, group in itertools.groupby(ordered, key=but_for_size):
        sizes = list(group)
        for choice, (low, high) in zip(
            sizes, size_ranges([one.kind.message_bytes for one in sizes]), strict=True
        ):
            if not choice.is_taken or choice.name is None:
                continue
            kind = choice.kind
            rule = CollectiveRule(
                kind.operation, choice.name, low, high, kind.hosts, kind.num_ranks
            )
            if rules and _continues(rules[-1], rule):
                rules[-1] = dataclasses.replace(rules[-1], max_bytes=high)
            else:
                rules.append(rule)
    return rules


def _continues(last: CollectiveRule, rule: CollectiveRule) -> bool:
    """Whether the rule is the last one's for the sizes that come next."""
    if last.max_bytes is None:
        return False
    return rule == dataclasses.replace(last, min_bytes=last.max_bytes + 1, max_bytes=rule.max_bytes)


def size_ranges(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The sizes for which each of these stands, first and last; ascending, without overlap."""
    ranges = []
    for index, size in enumerate(sizes):
        low, high = -(-size // 2), max(size, 2 * size - 1)
        if index > 0:
            low = max(low, _middle(sizes[index - 1], size))
        if index + 1 < len(sizes):
            high = min(high, _middle(size, sizes[index + 1]) - 1)
        ranges.append((low, high))
    return ranges


def _middle(low: int, high: int) -> int:
    """The geometric middle, rounded up; above the lower one and at most the higher."""
    return max(low + 1, math.isqrt(max(0, low * high - 1)) + 1)
