# SPDX-License-Identifier: Apache-2.0
"""One of many jobs: its streams of messages, with their sizes, rates and numbers."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.errors import InputError
from fairlead.model.sparse_cells import cells
from fairlead.model.traffic import Traffic
from fairlead.simulation.checks import require_scale, require_within
from fairlead.simulation.patterns import PATTERNS

__all__ = ["RATE_PER", "Job", "RatePer"]

RatePer = Literal["pair", "process"]
RATE_PER: tuple[str, ...] = get_args(RatePer)
"""Whether a pattern's rate and count are for each ordered pair of communicating ranks, or for each
sending rank, which sends to its receivers in turn (SPREAD, the note below table 2). Only the first
gives the order of methods of SPREAD's figure 2 (docs/design/simulator.md)."""

# Wide enough for any use, and computed values do not overflow.
_MOST_RANKS = 2**20
_MOST_BYTES = 2**50
_MOST_MESSAGES = 10**12
_RATES_PER_S = (1e-12, 1e16)
_RUN_TIMES_S = (1e-9, 10**9)

_FIELDS: dict[str, tuple[Any, float, float]] = {
    **dict.fromkeys(("src", "dst"), (np.int64, 0, _MOST_RANKS)),
    **dict.fromkeys(("message_bytes", "max_message_bytes"), (np.int64, 0, _MOST_BYTES)),
    "num_messages": (np.int64, 1, _MOST_MESSAGES),
    "rate_per_s": (np.float64, *_RATES_PER_S),
    "first_s": (np.float64, 0, 1e18),
}
"""Type of each array of a job, and the range of its values."""

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """Streams of equal messages between T ranks, S in number.

    Attributes:
        name: Its name in reports.
        num_ranks: Number of ranks T, at least 2.
        src, dst: Ranks, shape (S,), never equal.
        message_bytes: Size of each message, shape (S,); of a recorded job the mean of the pair.
        max_message_bytes: Size of the largest message that the stream stands for, shape (S,).
        rate_per_s: Messages of the stream in a second, shape (S,).
        num_messages: Number of messages of the stream in all, shape (S,).
        first_s: When the stream begins, shape (S,).
        run_time_s: Least time that it computes; 0 where only its messages count.
    """

    name: str
    num_ranks: int
    src: Integers
    dst: Integers
    message_bytes: Integers
    max_message_bytes: Integers
    rate_per_s: Reals
    num_messages: Integers
    first_s: Reals
    run_time_s: float = 0.0

    def __post_init__(self) -> None:
        require_within(f"job {self.name!r}: processes", self.num_ranks, 2, _MOST_RANKS)
        for field, (kind, least, most) in _FIELDS.items():
            values = np.asarray(getattr(self, field))
            if values.shape != (len(self.src),):
                raise InputError(f"job {self.name!r}: {field}: expected one value per stream")
            for value in (values.min(), values.max()) if values.size else ():
                require_within(f"job {self.name!r}: {field}", value, least, most)
            object.__setattr__(self, field, values.astype(kind))
        ranks = np.concatenate([self.src, self.dst])
        if np.any(ranks >= self.num_ranks) or np.any(self.src == self.dst):
            raise InputError(f"job {self.name!r}: a stream needs two of the {self.num_ranks} ranks")

    @classmethod
    def from_pattern(
        cls,
        pattern: str,
        num_ranks: int,
        *,
        message_bytes: int,
        rate_per_s: float,
        num_messages: int,
        rate_per: str = "pair",
        name: str | None = None,
    ) -> Job:
        """A synthetic job; rate and number of messages hold per pair or per process (RATE_PER).

        Raises:
            InputError: The pattern is unknown, or a number out of range; the message names it.
        """
        if pattern not in PATTERNS:
            raise InputError(f"pattern {pattern!r}: there are {', '.join(PATTERNS)}")
        if rate_per not in RATE_PER:
            raise InputError(f"rate_per {rate_per!r}: there are {', '.join(RATE_PER)}")
        where = f"job {name or pattern!r}"
        require_within(f"{where}: processes", num_ranks, 2, _MOST_RANKS)
        require_within(f"{where}: message", message_bytes, 1, _MOST_BYTES)
        require_within(f"{where}: count", num_messages, 1, _MOST_MESSAGES)
        require_within(f"{where}: rate", rate_per_s, *_RATES_PER_S)
        src, dst = PATTERNS[pattern].pairs(num_ranks).T
        rates, counts, first_s = _shares(src, rate_per_s, num_messages, rate_per)
        used = counts > 0
        sizes = np.full(int(used.sum()), message_bytes)
        return cls(
            name=name or pattern,
            num_ranks=num_ranks,
            src=src[used],
            dst=dst[used],
            message_bytes=sizes,
            max_message_bytes=sizes,
            rate_per_s=rates[used],
            num_messages=counts[used],
            first_s=first_s[used],
        )

    @classmethod
    def from_traffic(cls, traffic: Traffic, run_time_s: float, name: str) -> Job:
        """A recorded job: each pair's messages evenly over the run time, all of their mean size.

        What a rank sends to itself is left out.

        Raises:
            InputError: There is only one rank, or a number is out of range.
        """
        require_within(f"job {name!r}: its run time in s", run_time_s, *_RUN_TIMES_S)
        carried = traffic.carried
        counts = sp.coo_array(carried.messages)
        used = (counts.data > 0) & (counts.row != counts.col)
        src, dst = counts.row[used].astype(np.int64), counts.col[used].astype(np.int64)
        num_messages = np.maximum(1, np.rint(counts.data[used]))
        size_bytes = np.rint(cells(carried.bytes, src, dst) / num_messages)
        assert carried.max_message_bytes is not None  # a missing matrix has become an empty one
        return cls(
            name=name,
            num_ranks=traffic.num_ranks,
            src=src,
            dst=dst,
            message_bytes=size_bytes,
            # Where the largest was not recorded, it is at least the mean.
            max_message_bytes=np.maximum(cells(carried.max_message_bytes, src, dst), size_bytes),
            rate_per_s=num_messages / run_time_s,
            num_messages=num_messages,
            first_s=np.zeros(len(src)),
            run_time_s=run_time_s,
        )

    def scaled(self, scale: float) -> Job:
        """The same rates for a part of the time: numbers of messages times `scale`, at least 1."""
        require_scale(scale)
        if scale == 1:
            return self
        num_messages = np.maximum(1, np.rint(self.num_messages * scale))
        return dataclasses.replace(
            self, num_messages=num_messages, run_time_s=self.run_time_s * scale
        )

    @property
    def largest_message_bytes(self) -> int:
        """Largest message of the job, which determines its class; 0 if it sends nothing."""
        return int(self.max_message_bytes.max(initial=0))

    @functools.cached_property
    def volume_bytes(self) -> sp.csr_array:
        """Bytes that each rank sends to each other in all, shape (T, T), [src, dst]."""
        return self._by_pair((self.message_bytes * self.num_messages).astype(np.float64))

    @functools.cached_property
    def demand_Bps(self) -> sp.csr_array:
        """Bytes that each rank sends to each other in a second, shape (T, T), [src, dst]."""
        return self._by_pair(self.message_bytes * self.rate_per_s)

    @functools.cached_property
    def peak_demand_Bps(self) -> sp.csr_array:
        """The same, were all messages as large as the largest of their pair, shape (T, T).

        Source: SPREAD equation 1, whose terms these are: L_ij times lambda_ij.
        """
        return self._by_pair(self.max_message_bytes * self.rate_per_s)

    @functools.cached_property
    def num_adjacent(self) -> Integers:
        """Ranks that each rank sends to or receives from, shape (T,)."""
        both = self.demand_Bps + self.demand_Bps.T
        return np.diff(sp.csr_array(both).indptr).astype(np.int64)

    def _by_pair(self, value_of_stream: Reals) -> sp.csr_array:
        shape = (self.num_ranks, self.num_ranks)
        return sp.csr_array(sp.coo_array((value_of_stream, (self.src, self.dst)), shape=shape))


def _shares(
    src: Integers, rate_per_s: float, num_messages: int, rate_per: str
) -> tuple[Reals, Integers, Reals]:
    """Rate, number of messages and begin of each pair's stream, each of shape (S,)."""
    if rate_per == "pair":
        return (
            np.full(len(src), rate_per_s),
            np.full(len(src), num_messages, dtype=np.int64),
            np.zeros(len(src)),
        )
    # `src` ascends, so a pair's turn is its distance from its sender's first pair.
    num_receivers = np.bincount(src)[src]
    turn = np.arange(len(src)) - np.searchsorted(src, src)
    counts = num_messages // num_receivers + (turn < num_messages % num_receivers)
    return rate_per_s / num_receivers, counts, turn / rate_per_s
