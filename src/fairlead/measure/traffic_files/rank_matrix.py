# SPDX-License-Identifier: Apache-2.0
"""Sums of messages between ranks, as they are read from a file row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fairlead.model.traffic import Traffic

__all__ = ["MAX_RANKS", "RankMatrix", "traffic_of"]

MAX_RANKS = 1_000_000
"""Ranks of the largest job that is read: a larger number is an error in the file."""


class RankMatrix:
    """Bytes, messages and the largest message of each pair of ranks."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], tuple[int, int, int]] = {}

    def add(self, src: int, dst: int, sent_bytes: int, messages: int, max_bytes: int) -> None:
        """Add what one rank sends to another."""
        before = self._rows.get((src, dst), (0, 0, 0))
        self._rows[src, dst] = (
            before[0] + sent_bytes, before[1] + messages, max(before[2], max_bytes),
        )  # fmt: skip

    def add_all(self, other: RankMatrix) -> None:
        """Add what another one holds."""
        for pair, row in other._rows.items():
            self.add(*pair, *row)

    def holds(self, other: RankMatrix, *further: RankMatrix) -> bool:
        """Whether each pair of the other has at least as many bytes here and in further ones."""
        return all(
            sum(matrix._rows.get(pair, (0,))[0] for matrix in (self, *further)) >= row[0]
            for pair, row in other._rows.items()
        )

    @property
    def num_ranks(self) -> int:
        """One more than the last rank that was named."""
        return 1 + max((max(pair) for pair in self._rows), default=-1)

    def planes(self, num_ranks: int) -> list[sp.csr_array]:
        """Bytes, messages and largest messages, each of shape (num_ranks, num_ranks)."""
        pairs = np.array(list(self._rows), np.int64).reshape(-1, 2)
        values = np.array(list(self._rows.values()), np.float64).reshape(-1, 3)
        shape = (num_ranks, num_ranks)
        return [
            sp.csr_array(sp.coo_array((values[:, plane], (pairs[:, 0], pairs[:, 1])), shape))
            for plane in range(3)
        ]


def traffic_of(
    point_to_point: RankMatrix, exchange: RankMatrix, num_ranks: int, origin: dict[str, Any]
) -> Traffic:
    """The traffic of these sums."""
    sent, messages, largest = point_to_point.planes(num_ranks)
    exchanged, parts, largest_part = exchange.planes(num_ranks)
    return Traffic(
        bytes=sent,
        messages=messages,
        max_message_bytes=largest,
        exchange_bytes=exchanged,
        exchange_messages=parts,
        exchange_max_message_bytes=largest_part,
        origin=origin,
    )
