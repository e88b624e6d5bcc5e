# SPDX-License-Identifier: Apache-2.0
"""A traffic extended to another number of ranks, where its pattern is regular."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fairlead.measure.known_traffic import MOST_DIFFERENCE, traffic_difference
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.regular_patterns.catalogue import find_pattern
from fairlead.model.regular_patterns.pattern import (
    Pairs,
    RegularPattern,
    matrix_of,
    values_of,
)
from fairlead.model.traffic import Traffic

__all__ = ["Extended", "extend_traffic"]

_PER_RANK = frozenset(
    {"gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv"}
)
"""Operations of which a trace has what one rank passes: a share of the same problem."""


class Extended(NamedTuple):
    """A traffic of another number of ranks than it was traced with.

    Attributes:
        traffic: The traffic.
        pattern: What the recorded one was found to be, in words.
    """

    traffic: Traffic
    pattern: str


def extend_traffic(
    traffic: Traffic, num_ranks: int, *, is_same_problem: bool = True
) -> Extended | None:
    """The same pattern between another number of ranks.

    Args:
        traffic: What was traced.
        num_ranks: Number of ranks of the result.
        is_same_problem: Whether the whole problem stays as large, so that each rank has another
            part of it; else each rank sends its neighbours as much as before.

    Returns:
        None where the recorded traffic is not that of a regular pattern, within 2 % of its bytes.
    """
    fits = [_Fit.of(traffic, name) for name in ("", "exchange_")]
    if any(fit is None for fit in fits) or _has_parts(traffic):
        return None
    found = [fit for fit in fits if fit is not None]
    again = _build(traffic, found, traffic.num_ranks, is_same_problem=False)
    made = _build(traffic, found, num_ranks, is_same_problem=is_same_problem)
    if again is None or made is None or traffic_difference(again, traffic) > MOST_DIFFERENCE:
        return None
    names = dict.fromkeys(fit.pattern.name for fit in found if fit.pattern is not None)
    return Extended(made, " and ".join(names) or "collectives of all ranks")


@dataclasses.dataclass(frozen=True)
class _Fit:
    """The pattern of one kind of messages; None where there are none of it."""

    traffic: Traffic
    prefix: str
    pattern: RegularPattern | None

    @classmethod
    def of(cls, traffic: Traffic, prefix: str) -> _Fit | None:
        matrix = getattr(traffic, f"{prefix}bytes")
        if not matrix.sum():
            return cls(traffic, prefix, None)
        pattern = find_pattern(matrix)
        return None if pattern is None else cls(traffic, prefix, pattern)

    def matrices(self, num_ranks: int, *, is_same_problem: bool) -> dict[str, sp.csr_array] | None:
        """Bytes, messages and the largest message of each pair, by their names in a traffic."""
        names = [f"{self.prefix}{name}" for name in ("bytes", "messages", "max_message_bytes")]
        if self.pattern is None:
            return {name: sp.csr_array((num_ranks, num_ranks)) for name in names}
        before, pairs = (self.pattern.pairs(count) for count in (self.traffic.num_ranks, num_ranks))
        if before is None or pairs is None:
            return None
        made = {}
        for name in names:
            values = values_of(before, self.pattern.num_classes, getattr(self.traffic, name))
            if is_same_problem and not name.endswith("messages"):
                values = np.maximum(1.0, values * pairs.scale)
            adds = not name.endswith("max_message_bytes")
            made[name] = _matrix(pairs, values, num_ranks, adds=adds)
        return made


def _matrix(pairs: Pairs, values: np.ndarray, num_ranks: int, *, adds: bool) -> sp.csr_array:
    made = matrix_of(pairs, values, num_ranks)
    if adds:
        return made
    # Where two neighbours are one rank, the largest message counts once.
    made.data = np.minimum(made.data, values.max(initial=0.0))
    return made


def _build(
    traffic: Traffic, fits: list[_Fit], num_ranks: int, *, is_same_problem: bool
) -> Traffic | None:
    matrices: dict[str, sp.csr_array] = {}
    for fit in fits:
        made = fit.matrices(num_ranks, is_same_problem=is_same_problem)
        if made is None:
            return None
        matrices |= made
    ratio = num_ranks / traffic.num_ranks
    calls = [
        call._replace(
            communicator_size=num_ranks,
            root=_root(call, num_ranks),
            message_bytes=_size(call, ratio if is_same_problem else 1.0),
            calls=round(call.calls * ratio),
            seconds=call.seconds * ratio,
            communicator=0,
        )
        for call in traffic.collectives
        if _is_of_all(call, traffic)
    ]
    return Traffic(
        matrices["bytes"],
        matrices["messages"],
        matrices["max_message_bytes"],
        matrices["exchange_bytes"],
        matrices["exchange_messages"],
        matrices["exchange_max_message_bytes"],
        collectives=calls,
        communicators=[np.arange(num_ranks)] if calls else [],
        run_time_s=traffic.run_time_s,
        origin=traffic.origin | {"how": "extended", "from_ranks": traffic.num_ranks},
    )


def _size(call: CollectiveCall, ratio: float) -> int:
    is_divided = call.operation.removeprefix("i") in _PER_RANK
    return max(1, round(call.message_bytes / ratio)) if is_divided else call.message_bytes


def _root(call: CollectiveCall, num_ranks: int) -> int | None:
    """The same rank, or the last again; None where there is no such rank."""
    if call.root == call.communicator_size - 1:
        return num_ranks - 1
    return None if call.root is None or call.root >= num_ranks else call.root


def _is_of_all(call: CollectiveCall, traffic: Traffic) -> bool:
    return call.communicator_size == traffic.num_ranks and call.communicator is not None


def _has_parts(traffic: Traffic) -> bool:
    """Whether collectives of some ranks carry more than a little: they are not extended."""
    parts = sum(
        call.message_bytes * call.calls
        for call in traffic.collectives
        if not _is_of_all(call, traffic)
    )
    return parts > MOST_DIFFERENCE * float(traffic.carried.bytes.sum())
