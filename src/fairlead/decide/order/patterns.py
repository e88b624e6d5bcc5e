# SPDX-License-Identifier: Apache-2.0
"""Named patterns: what ranks in an order of hosts send each other, in one catalogue."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.errors import InputError
from fairlead.files.lookup import is_there
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.traffic import Traffic

__all__ = ["PATTERNS", "Pattern", "pattern_named"]

Slots = Sequence[int]

_MOST_ALL_TO_ALL = 8192
"""With more ranks, the pairs of all-to-all would take more than some gigabytes."""

_GRID = re.compile(r"grid:([1-9][0-9]{0,5}(?:x[1-9][0-9]{0,5}){0,3})", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A pattern as the user named it.

    Attributes:
        name: The user's text.
        between_ranks: From the number of ranks and of bytes that each contributes, what the ranks
            send each other: bytes and messages, shape (T, T).
        is_of_hosts: There is one rank for each host, however many slots it has.
    """

    name: str
    between_ranks: Callable[[int, float], Traffic]
    is_of_hosts: bool = False

    def between_hosts(self, slots: Slots, message_bytes: float) -> Traffic:
        """What consecutive blocks of ranks send each other, one block for each host.

        Args:
            slots: Ranks of each block, length B.
            message_bytes: Bytes that each rank contributes.

        Raises:
            InputError: The pattern is not for so many ranks, or needs blocks of one size.
        """
        # Blocks of several sizes would belong to certain hosts, so one rank then stands for all of
        # its host.
        is_even = len(set(slots)) == 1
        sizes = [*slots] if is_even and not self.is_of_hosts else [1] * len(slots)
        traffic = self.between_ranks(sum(sizes), message_bytes)
        block_of_rank = np.repeat(np.arange(len(sizes)), sizes)
        return Traffic(
            bytes=_sum_blocks(traffic.carried.bytes, block_of_rank, len(sizes)),
            messages=_sum_blocks(traffic.carried.messages, block_of_rank, len(sizes)),
        )


def pattern_named(text: str, slots: Slots) -> Pattern:
    """The pattern of this name, for hosts with these slots.

    Args:
        text: ring, gloo, tree, all-to-all, grid:AxB, or a file that `load_traffic` reads.
        slots: Ranks of each host that will be used.

    Raises:
        InputError: There is no such pattern or file, or it is for another number of ranks.
    """
    if text in PATTERNS:
        return PATTERNS[text]
    if text.partition(":")[0] == "grid":
        return _grid_named(text, slots)
    if not is_there(text):
        raise InputError(
            f"pattern {text!r}: there are {', '.join(PATTERNS)}, grid:AxB such as grid:4x8, "
            "and files of traffic, of which this is none"
        )
    traffic = load_traffic(Path(text))
    is_of_hosts = _require_ranks(text, traffic.num_ranks, slots)
    return Pattern(text, lambda _num_ranks, _bytes: traffic, is_of_hosts)


def _grid_named(text: str, slots: Slots) -> Pattern:
    found = _GRID.fullmatch(text)
    if not found:
        raise InputError(f"pattern {text!r}: expected grid:AxB, such as grid:4x8")
    sizes = [int(size) for size in found[1].split("x")]
    is_of_hosts = _require_ranks(text, math.prod(sizes), slots)
    return Pattern(text, lambda _num_ranks, each: _grid(sizes, each), is_of_hosts)


def _require_ranks(text: str, num_ranks: int, slots: Slots) -> bool:
    """Whether a pattern of so many ranks has one for each host.

    Raises:
        InputError: It has neither that, nor one for each slot of hosts that are alike.
    """
    if num_ranks == len(slots):
        return True
    if num_ranks != sum(slots):
        raise InputError(
            f"pattern {text!r}: is for {num_ranks} ranks, but there are {len(slots)} hosts with "
            f"{sum(slots)} slots"
        )
    if len(set(slots)) > 1:
        raise InputError(
            f"pattern {text!r}: the hosts have {min(slots)} to {max(slots)} slots; its ranks stay "
            "together only on hosts with equal slots"
        )
    return False


def _ring(num_ranks: int, message_bytes: float) -> Traffic:
    """Reduce-scatter and allgather, each rank to the next: 2 (T - 1) messages of a T-th each.

    Source: Patarasuk and Yuan 2009, section 3; NCCL's ring.
    """
    rank = np.arange(num_ranks)
    steps = 2.0 * (num_ranks - 1)
    return _traffic(
        num_ranks, rank, (rank + 1) % num_ranks, steps * message_bytes / num_ranks, steps
    )


def _gloo(num_ranks: int, message_bytes: float) -> Traffic:
    """The same ring the other way round: each rank sends to the one before.

    Source: gloo, gloo/allreduce.cc, `ring`, which torch's allreduce of its backend gloo calls.
    """
    ring = _ring(num_ranks, message_bytes).carried
    return Traffic(bytes=sp.csr_array(ring.bytes.T), messages=sp.csr_array(ring.messages.T))


def _tree(num_ranks: int, message_bytes: float) -> Traffic:
    """Half of the bytes up and down each tree of a double binary tree.

    Source: NCCL 2.4 and later, src/graph/trees.cc, `ncclGetDtree`; Sanders, Speck and Traeff 2009.
    """
    first = _parents(num_ranks)
    if num_ranks % 2:
        second = np.array([(first[(rank - 1) % num_ranks]) for rank in range(num_ranks)])
        second = np.where(second < 0, -1, (second + 1) % num_ranks)
    else:
        second = np.where(first[::-1] < 0, -1, num_ranks - 1 - first[::-1])
    edges = [
        (rank, int(parent))
        for parents in (first, second)
        for rank, parent in enumerate(parents)
        if parent >= 0
    ]
    up = np.array(edges, dtype=np.int64).reshape(-1, 2)
    both = np.vstack([up, up[:, ::-1]])
    return _traffic(num_ranks, both[:, 0], both[:, 1], message_bytes / 2, 1.0)


def _parents(num_ranks: int) -> npt.NDArray[np.int64]:
    """Parent of each rank in NCCL's binary tree, -1 for its root, rank 0.

    The lowest set bit moves up by one; where that is beyond the last rank, it is cleared.
    """
    rank = np.arange(num_ranks)
    lowest = rank & -rank
    up = (rank ^ lowest) | (lowest << 1)
    return np.where(rank == 0, -1, np.where(up < num_ranks, up, rank ^ lowest))


def _all_to_all(num_ranks: int, message_bytes: float) -> Traffic:
    """Every rank sends every other a T-th of its bytes."""
    if num_ranks > _MOST_ALL_TO_ALL:
        raise InputError(f"pattern 'all-to-all': at most {_MOST_ALL_TO_ALL} ranks, got {num_ranks}")
    pairs = np.argwhere(~np.eye(num_ranks, dtype=bool))
    return _traffic(num_ranks, pairs[:, 0], pairs[:, 1], message_bytes / num_ranks, 1.0)


def _grid(sizes: Sequence[int], message_bytes: float) -> Traffic:
    """Every rank of a grid sends all its bytes to each neighbour; ranks count the last axis first.

    The grid is not closed to a torus, as MPI_Cart_create without periods.
    """
    rank = np.arange(math.prod(sizes)).reshape(sizes)
    edges = []
    for axis, size in enumerate(sizes):
        low = np.take(rank, np.arange(size - 1), axis).ravel()
        high = np.take(rank, np.arange(1, size), axis).ravel()
        edges += [np.column_stack([low, high]), np.column_stack([high, low])]
    pairs = np.vstack(edges)
    return _traffic(rank.size, pairs[:, 0], pairs[:, 1], message_bytes, 1.0)


def _traffic(
    num_ranks: int,
    src: npt.NDArray[np.int64],
    dst: npt.NDArray[np.int64],
    each_bytes: float,
    each_messages: float,
) -> Traffic:
    """Equal flows; a rank sends itself nothing, and flows of one pair add up."""
    is_flow = src != dst
    place, shape = (src[is_flow], dst[is_flow]), (num_ranks, num_ranks)

    def matrix(value: float) -> sp.csr_array:
        return sp.csr_array(sp.coo_array((np.full(len(place[0]), value), place), shape=shape))

    return Traffic(bytes=matrix(each_bytes), messages=matrix(each_messages))


def _sum_blocks(
    matrix: sp.csr_array, block_of_rank: npt.NDArray[np.int64], num_blocks: int
) -> sp.csr_array:
    """The sums over blocks, without what stays in a block, shape (B, B)."""
    pairs = matrix.tocoo()
    place = (block_of_rank[pairs.row], block_of_rank[pairs.col])
    is_between = place[0] != place[1]
    cells = (pairs.data[is_between], (place[0][is_between], place[1][is_between]))
    return sp.csr_array(sp.coo_array(cells, shape=(num_blocks, num_blocks)))


PATTERNS = {
    "ring": Pattern("ring", _ring),
    "gloo": Pattern("gloo", _gloo),
    "tree": Pattern("tree", _tree, is_of_hosts=True),
    "all-to-all": Pattern("all-to-all", _all_to_all),
}
"""`ring`: an allreduce around all ranks, each to the next, as NCCL's. `gloo`: the same, each to the
one before, as gloo's. `tree`: an allreduce by NCCL's double binary tree, which has one rank for
each host, since ranks of a host are a chain. `all-to-all`: every rank with every other."""
