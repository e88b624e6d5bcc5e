# SPDX-License-Identifier: Apache-2.0
"""Bytes between ranks of exchanges in an OTF2 trace: of each rank an even share for all ranks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["MOST_PAIRS", "Exchanged", "add_up", "find_fitting"]

MOST_PAIRS = 2**23
"""Pairs of ranks in all communicators that exchange: 2,896 ranks, in about 1 GiB."""


class Exchanged(NamedTuple):
    """What members of a communicator sent in exchanges, each by its position.

    Attributes:
        communicator: Its index.
        positions: The senders.
        sent_bytes: What each sent, its own part included.
        calls: How many calls of each were not empty.
        max_bytes: The most that each sent in a call.
    """

    communicator: int
    positions: npt.NDArray[np.int64]
    sent_bytes: npt.NDArray[np.float64]
    calls: npt.NDArray[np.float64]
    max_bytes: npt.NDArray[np.float64]


def find_fitting(communicators: Iterable[int], num_ranks_of: Sequence[int]) -> set[int]:
    """Communicators whose pairs of ranks fit, the smallest first."""
    by_size = sorted(set(communicators), key=lambda number: num_ranks_of[number])
    num_pairs = itertools.accumulate(num_ranks_of[number] ** 2 for number in by_size)
    return {number for number, pairs in zip(by_size, num_pairs, strict=True) if pairs <= MOST_PAIRS}


def add_up(
    exchanges: Iterable[Exchanged], communicators: Sequence[Sequence[int]], num_ranks: int
) -> list[sp.csr_array]:
    """Bytes, messages and the largest message of each pair, of shape (num_ranks, num_ranks)."""
    pairs = [np.zeros(0, np.int64)]
    of_senders: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]] = []
    for communicator, sent in _of_communicators(exchanges, communicators).items():
        ranks = np.array(communicators[communicator], np.int64)
        num_members = len(ranks)
        senders = np.flatnonzero(sent[1] > 0).astype(np.int32)
        # The others are those at each distance around the communicator.
        src = np.repeat(senders, num_members - 1)
        dst = (src + np.tile(np.arange(1, num_members), len(senders))) % num_members
        pairs.append(ranks[src] * num_ranks + ranks[dst])
        of_senders.append((sent / np.array([[num_members], [1], [num_members]]), src))
    return _matrices(np.concatenate(pairs), of_senders, num_ranks)


def _of_communicators(
    exchanges: Iterable[Exchanged], communicators: Sequence[Sequence[int]]
) -> dict[int, npt.NDArray[np.float64]]:
    """Bytes, calls and the most bytes of each rank, shape (3, ranks), by communicator."""
    sums: dict[int, npt.NDArray[np.float64]] = {}
    for each in exchanges:
        num_members = len(communicators[each.communicator])
        sent = sums.setdefault(each.communicator, np.zeros((3, num_members)))
        sent[0, each.positions] += each.sent_bytes
        sent[1, each.positions] += each.calls
        sent[2, each.positions] = np.maximum(sent[2, each.positions], each.max_bytes)
    return sums


def _matrices(
    pairs: npt.NDArray[np.int64],
    of_senders: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]],
    num_ranks: int,
) -> list[sp.csr_array]:
    """A matrix of each row of values; two communicators may have the same pair."""
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    begins = np.flatnonzero(np.diff(pairs, prepend=-1))
    pairs = pairs[begins]
    columns = (pairs % num_ranks).astype(np.int32)
    rows = np.searchsorted(pairs, np.arange(num_ranks + 1) * num_ranks).astype(np.int32)
    matrices = []
    for plane, reduce in enumerate((np.add, np.add, np.maximum)):
        parts = [np.zeros(0), *(values[plane][src] for values, src in of_senders)]
        values = np.concatenate(parts)[order]
        data = reduce.reduceat(values, begins) if begins.size else values
        matrices.append(sp.csr_array((data, columns, rows), shape=(num_ranks, num_ranks)))
    return matrices
