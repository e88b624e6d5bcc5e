# SPDX-License-Identifier: Apache-2.0
"""The bytes of collective calls in an OTF2 trace, whose writers count them in two ways.

OTF2 defines the bytes that a call sent and received no further. Of N ranks, with parts of c bytes:

                       each part (Score-P, later sst-dumpi)   arguments (Arcane, early sst-dumpi)
    bcast, scatter     root sends N c; others receive c       root sends c; others receive c
    gather, reduce     root receives N c; others send c       root receives c; others send c
    allreduce,         N c, N c                               c, c
    alltoall
    allgather(v)       N c, parts of all                      c, c or parts of all
    scan, rank i       (N - i) c, (i + 1) c                   c, c

In place, Score-P counts the parts of other ranks only. So ranks other than the root have the part
itself in both; where a size could be either, calls that cannot decide for all of the trace.

Source: in Score-P scorep_mpi_coll.inc.c (2023) and SCOREP_Mpi_Coll.c (2011); in sst-dumpi
libotf2dump/otf2writer.cpp; in Arcane Otf2MpiProfiling.cc.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Row", "Sized", "find_sizes", "is_each_part"]

AMBIGUOUS = "whose sizes can be read in several ways"
DISAGREEING = "whose sizes differ between root and other ranks"
NO_SIZES = "without sizes"

FROM_ROOT = frozenset({"bcast", "scatter", "scatterv"})
TO_ROOT = frozenset({"gather", "gatherv", "reduce"})
SCANS = frozenset({"exscan", "scan"})
BY_RANK = frozenset({"gatherv", "scatterv"})
"""Each rank has a size of its own."""


class Row(NamedTuple):
    """Calls of a trace that have all of this in common; bytes as the trace has them."""

    operation: str
    communicator: int
    root: int
    is_root: bool
    position: int
    sent: int
    received: int
    calls: int
    seconds: float

    @property
    def name(self) -> str:
        """The blocking operation."""
        return self.operation.removeprefix("i")


class Sized(NamedTuple):
    """Calls with the bytes of one rank; None where they are unknown, for a reason."""

    row: Row
    bytes: int | None
    reason: str = ""


Group = Sequence[Row]


def find_sizes(
    rows: Iterable[Row], num_ranks_of: Sequence[int], *, is_score_p: bool
) -> Iterator[Sized]:
    """The bytes of each rank in each call.

    Args:
        rows: The calls.
        num_ranks_of: Ranks of each communicator.
        is_score_p: Whether Score-P wrote the trace, so that no call has to show it.
    """
    groups = [(num_ranks_of[group[0].communicator], group) for group in _groups(rows)]
    each_part = True if is_score_p else is_each_part(groups)
    sized = {group[0].name for _, group in groups if any(_is_sized(row) for row in group)}
    for num_ranks, group in groups:
        if is_score_p or group[0].name in {*sized, "barrier"}:
            yield from _sizes_of(group, num_ranks, each_part)
        else:
            yield from (Sized(row, None, NO_SIZES) for row in group)


def is_each_part(groups: Iterable[tuple[int, Group]]) -> bool | None:
    """Whether the writer counts a part for each rank; None where calls do not agree or decide."""
    found = {_shows_each_part(group, num_ranks) for num_ranks, group in groups if num_ranks > 1}
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _groups(rows: Iterable[Row]) -> list[Group]:
    """Rows of one operation on the same ranks with one root."""
    ordered = sorted(rows)
    return [tuple(group) for _, group in itertools.groupby(ordered, key=lambda row: row[:3])]


def _is_sized(row: Row) -> bool:
    return row.sent > 0 or row.received > 0


def _sizes_of(group: Group, num_ranks: int, each_part: bool | None) -> Iterator[Sized]:
    name = group[0].name
    if name in FROM_ROOT | TO_ROOT:
        yield from _sizes_with_root(group, num_ranks)
        return
    shown = _shows_each_part(group, num_ranks)
    size_of = _SIZE_OF[name]
    if name == "scan" and any(row.position == 0 and not row.received for row in group):
        size_of = _of_scan_in_place
    if name == "reduce_scatter":
        # A version of sst-dumpi writes something else than the sum of the parts.
        each_part = _of_sums(group, num_ranks)
    for row in group:
        size = size_of(row, num_ranks, each_part if shown is None else shown)
        size = size if _is_sized(row) else 0
        yield Sized(row, size, "" if size is not None else AMBIGUOUS)


def _sizes_with_root(group: Group, num_ranks: int) -> Iterator[Sized]:
    """The root's calls have the sizes of the other ranks', in proportion."""
    if num_ranks == 1:
        yield from (Sized(row, max(row.sent, row.received)) for row in group)
        return
    if not _agrees_with_root(group, num_ranks):
        yield from (Sized(row, None, DISAGREEING) for row in group)
        return
    others = [row for row in group if not row.is_root]
    yield from (Sized(row, _part(row)) for row in others)
    num_others = sum(row.calls for row in others)
    num_calls = sum(row.calls for row in group if row.is_root)
    seconds = sum(row.seconds for row in group if row.is_root)
    before = shared = 0
    for row in others:
        before += row.calls
        share = num_calls * before // num_others - shared
        shared += share
        if share:
            of_root = row._replace(calls=share, seconds=seconds * share / num_calls, is_root=True)
            yield Sized(of_root, _part(row))


def _part(row: Row) -> int:
    """What a rank other than the root sends or receives."""
    return row.received if row.name in FROM_ROOT else row.sent


def _with_root(group: Group) -> tuple[int, int, int, int]:
    """Calls of the root and of the other ranks, and the bytes of all of them at each."""
    calls, sizes = [0, 0], [0, 0]
    for row in group:
        at_root = row.sent if row.name in FROM_ROOT else row.received
        calls[row.is_root] += row.calls
        sizes[row.is_root] += row.calls * (at_root if row.is_root else _part(row))
    return calls[True], calls[False], sizes[True], sizes[False]


def _agrees_with_root(group: Group, num_ranks: int) -> bool:
    """Whether a known writer counts this at the root, if the other ranks' sizes are right."""
    root_calls, other_calls, at_root, at_others = _with_root(group)
    if not other_calls:
        return False
    if root_calls * (num_ranks - 1) != other_calls:
        return True  # A part of the calls was recorded.
    if group[0].name in BY_RANK:
        return at_root >= at_others
    return at_root in {
        at_others * times // (num_ranks - 1) for times in (1, num_ranks - 1, num_ranks)
    }


def _shows_each_part(group: Group, num_ranks: int) -> bool | None:
    """Whether these calls were counted a part for each rank; None where they do not show it."""
    name = group[0].name
    if name in SCANS:
        first = [row for row in group if row.position == 0 and _is_sized(row)]
        kinds = {row.sent != row.received for row in first}
        return kinds.pop() if len(kinds) == 1 else None
    if name == "allgatherv":
        return _of_sums(group, num_ranks)
    if name not in (FROM_ROOT | TO_ROOT) - BY_RANK or not _agrees_with_root(group, num_ranks):
        return None
    root_calls, other_calls, at_root, at_others = _with_root(group)
    if not at_others or root_calls * (num_ranks - 1) != other_calls:
        return None
    ratio = Fraction(at_root * (num_ranks - 1), at_others)
    if ratio == 1:
        # A version of sst-dumpi counts only its reductions once; between two, it may be in place.
        return False if name != "reduce" and (num_ranks > 2 or name == "bcast") else None
    return True


def _of_sums(group: Group, num_ranks: int) -> bool | None:
    """Whether all ranks sent as much as they received, or a part for the parts of all."""
    sent = sum(row.calls * row.sent for row in group)
    received = sum(row.calls * row.received for row in group)
    if sent == received:
        return True if sent else None
    return False if sent * num_ranks == received else None


def _of_scan(
    row: Row, num_ranks: int, each_part: bool | None, own_parts: Sequence[int] = (1, 0)
) -> int | None:
    if not each_part:
        return row.sent if each_part is False and row.sent == row.received else None
    num_behind = num_ranks - row.position - 1
    for own in own_parts:
        size = _common_part((row.sent, num_behind + own), (row.received, row.position + own))
        if size is not None:
            return size
    return None


def _of_scan_in_place(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    """The same without a rank's own part, which the rank in the middle cannot show."""
    return _of_scan(row, num_ranks, each_part, (0, 1))


def _common_part(*multiples: tuple[int, int]) -> int | None:
    """The number that these are multiples of, each with its factor."""
    parts = {Fraction(value, factor) for value, factor in multiples if factor}
    if any(value for value, factor in multiples if not factor) or len(parts) != 1:
        return None
    (part,) = parts
    return part.numerator if part.denominator == 1 else None


def _one_of(total: int, num_ranks: int) -> int | None:
    """A part of as many as there are ranks, or one less: in place."""
    for num_parts in (num_ranks, num_ranks - 1):
        if num_parts and total % num_parts == 0:
            return total // num_parts
    return None


def _of_equal(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    if row.sent != row.received:
        return None
    if num_ranks == 1:
        return row.sent
    if each_part is None:
        return None
    return _one_of(row.sent, num_ranks) if each_part else row.sent


def _of_allgather(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    if row.received == row.sent * num_ranks:
        return row.sent
    return _of_equal(row, num_ranks, each_part)


def _of_allgatherv(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    if each_part is None:
        return None
    return _one_of(row.sent, num_ranks) if each_part else row.sent


def _of_alltoall(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    part = _of_equal(row, num_ranks, each_part)
    return None if part is None else part * num_ranks


def _of_block(row: Row, num_ranks: int, each_part: bool | None) -> int | None:
    if row.sent == row.received * num_ranks:
        return row.sent
    return _of_alltoall(row, num_ranks, each_part or None)


_SIZE_OF: Mapping[str, Callable[[Row, int, bool | None], int | None]] = {
    "allgather": _of_allgather,
    "allgatherv": _of_allgatherv,
    "allreduce": _of_equal,
    "alltoall": _of_alltoall,
    "barrier": lambda _row, _num_ranks, _each_part: 0,
    "exscan": _of_scan_in_place,
    # The whole vector, as each rank sends it.
    "reduce_scatter": lambda row, _num_ranks, each_part: row.sent if each_part else None,
    "reduce_scatter_block": _of_block,
    "scan": _of_scan,
}
