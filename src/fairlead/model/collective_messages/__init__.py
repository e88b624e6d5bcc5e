# SPDX-License-Identifier: Apache-2.0
"""The messages that collective calls are expected to send.

A trace cannot see them, since the MPI sends them by itself. But many programs send more by
collectives than point to point, and a placement has to carry all of it.

table of calls ──▶ the algorithm that the MPI chooses for each (choices.py)
               ──▶ its steps, and what is sent in them (algorithms.py)
               ──▶ who sends to whom in a step (steps.py) ──▶ messages between ranks
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.model.collective_messages.algorithms import Call, Sent
from fairlead.model.collective_messages.choices import algorithm_of, blocking_name
from fairlead.model.collective_messages.steps import TREES, Step, partners

if TYPE_CHECKING:
    from fairlead.model.collective_call import CollectiveCall

__all__ = ["alltoall_by_size", "bytes_by_size", "expected_messages"]

MOST_ROOTS = 32
"""Most roots of a call; a crowded trace does not distinguish them."""

Ranks = npt.NDArray[np.int64]
Sums = Mapping[tuple[int, Step], npt.NDArray[np.float64]]


def expected_messages(
    calls: Sequence[CollectiveCall],
    communicators: Sequence[Ranks],
    num_ranks: int,
    mpi: object = None,
) -> tuple[sp.csr_array, sp.csr_array]:
    """Bytes and messages between ranks, as the collectives are expected to send them.

    Left out are calls whose communicator is unknown, and those whose messages the call itself
    fixes: `alltoall` and neighbourhood collectives, which a trace counts.

    Args:
        calls: The table of calls.
        communicators: World ranks of each communicator that it names.
        num_ranks: T.
        mpi: What the MPI calls itself; of an unknown one MPICH's choices are expected.

    Returns:
        Two matrices of shape (T, T), [src, dst], in world ranks.
    """
    sums: dict[tuple[int, Step], npt.NDArray[np.float64]] = {}
    for call, num_calls, (step, sent_bytes, messages) in _sent(calls, mpi):
        assert call.communicator is not None
        for part, ratio in _roots(step, call):
            sent = sums.setdefault((call.communicator, part), np.zeros(2))
            sent += ratio * num_calls * np.array([sent_bytes, messages])
    return _matrices(sums, communicators, num_ranks)


def bytes_by_size(
    calls: Sequence[CollectiveCall], mpi: object = None
) -> Iterator[tuple[float, float]]:
    """Bytes that the same calls send in messages of one size, and that size."""
    num_senders = functools.cache(lambda step, num_ranks: len(partners(step, num_ranks)[0]))
    for call, num_calls, sent in _sent(calls, mpi):
        total_bytes = num_calls * num_senders(sent.step, call.communicator_size) * sent.bytes
        yield total_bytes, sent.bytes / sent.messages


def alltoall_by_size(calls: Sequence[CollectiveCall]) -> Iterator[tuple[float, float]]:
    """The same of `alltoall`, in which each rank has as much for each other."""
    for call in calls:
        if blocking_name(call.operation) == "alltoall" and call.communicator_size > 1:
            size = call.message_bytes / call.communicator_size
            yield float(call.calls) * (call.communicator_size - 1) * size, size


def _sent(
    calls: Sequence[CollectiveCall], mpi: object
) -> Iterator[tuple[CollectiveCall, float, Sent]]:
    """Each call with how often all its ranks make it, and what is sent in each of its steps."""
    for call in calls:
        if call.communicator is None or call.communicator_size < 2:
            continue
        one = Call(call.communicator_size, float(call.message_bytes), call.root or 0)
        algorithm = algorithm_of(call.operation, one, mpi)
        for sent in algorithm(one) if algorithm else ():
            yield call, call.calls / call.communicator_size, sent


def _roots(step: Step, call: CollectiveCall) -> Iterator[tuple[Step, float]]:
    """The step from its root; from some spread evenly, with the part of each, if it is unknown."""
    if call.root is not None or step.kind not in TREES:
        yield step, 1.0
        return
    roots = range(0, call.communicator_size, -(-call.communicator_size // MOST_ROOTS))
    for root in roots:
        yield step._replace(root=root), 1 / len(roots)


def _matrices(
    sums: Sums, communicators: Sequence[Ranks], num_ranks: int
) -> tuple[sp.csr_array, sp.csr_array]:
    none: Ranks = np.zeros(0, np.int64)
    rows, columns, values = [none], [none], [np.zeros((2, 0))]
    for (communicator, step), sent in sums.items():
        ranks = communicators[communicator]
        src, dst = partners(step, len(ranks))
        rows.append(ranks[src])
        columns.append(ranks[dst])
        values.append(np.repeat(sent[:, None], len(src), axis=1))
    at = (np.concatenate(rows), np.concatenate(columns))
    shape = (num_ranks, num_ranks)
    of_bytes, of_messages = (
        sp.csr_array(sp.coo_array((value, at), shape=shape))
        for value in np.concatenate(values, axis=1)
    )
    return of_bytes, of_messages
