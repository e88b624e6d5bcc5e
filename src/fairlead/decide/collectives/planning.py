# SPDX-License-Identifier: Apache-2.0
"""`plan`: a schedule for a collective operation, by any method of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead import _core
from fairlead.decide.collectives.catalogue import (
    FASTEST,
    METHODS,
    OPERATIONS,
    WITH_BLOCKS,
    WITH_ROOT,
)
from fairlead.errors import InputError, ShapeError
from fairlead.model.cost import network_arrays
from fairlead.model.network import Network
from fairlead.model.schedule import Schedule, from_core, to_core

__all__ = ["lower_bound_s", "plan", "predicted_s"]

Blocks = npt.NDArray[np.float64]


def plan(
    operation: str,
    network: Network,
    message_bytes: int | Sequence[int],
    root: int | None = None,
    *,
    method: str = FASTEST,
    k: float = 4,
    max_span: int = 1,
) -> Schedule:
    """Plan a collective operation; the schedule carries its predicted time and the lower bound.

    Args:
        operation: One of `fairlead.collectives.OPERATIONS`.
        network: All pairs measured. Host i of the schedule is host i of the network.
        message_bytes: Whole vector of bcast, reduce and allreduce; one block of the others: what
            each host contributes to a gather or allgather, gets from a scatter or
            reduce_scatter, or sends to each other in an alltoall. A sequence of H sizes for
            blocks that differ: for gatherv, scatterv, allgatherv and reduce_scatter.
        root: Host from which or to which all goes; bcast, reduce, gather and scatter only, 0
            unless given.
        method: Name in `fairlead.collectives.METHODS`, or "fastest": of all for the operation the
            one with the least predicted time. Those that fix a size of segments are left out, as
            they would hardly ever be it.
        k: For "cmpi": a level of its hierarchy is as wide as `k` times the least time; > 0.
        max_span: For "cmpi": most hosts by which the groups of a level differ; >= 0.

    Raises:
        InputError: A name is unknown, the method is not for the operation, or an argument is out
            of its range or has no meaning for the operation.
        ShapeError: There are not as many blocks as hosts.
        TopologyError: A pair of hosts was not measured.
    """
    if method not in METHODS and method != FASTEST:
        raise InputError(
            f"method: unknown name {method!r}; there are {', '.join([*METHODS, FASTEST])}"
        )
    size, blocks = _sizes(operation, message_bytes)
    planned = _core.plan_collective(
        network_arrays(network),
        operation,
        _root(operation, root),
        size,
        blocks,
        method,
        k,
        max_span,
    )
    return from_core(planned)


def predicted_s(
    network: Network, schedule: Schedule, block_bytes: Sequence[int] | None = None
) -> float:
    """Time that the simulation says for a schedule on this network, in seconds.

    Args:
        network: All pairs measured; host i of the schedule is host i of the network.
        schedule: Any, also one that was planned for another network or size.
        block_bytes: Block of each host where they differ, length H.

    Raises:
        InputError: The schedule is for another number of hosts.
        ShapeError: There are not as many blocks as hosts.
        TopologyError: A pair of hosts was not measured.
    """
    given = schedule.message_bytes if block_bytes is None else block_bytes
    _, blocks = _sizes(schedule.operation, given)
    return _core.predicted_s(network_arrays(network), to_core(schedule), blocks)


def lower_bound_s(
    operation: str, network: Network, message_bytes: int | Sequence[int], root: int | None = None
) -> float:
    """No algorithm is faster on this network; arguments and errors as of `plan`.

    The network is one-port and full duplex: each NIC sends and receives at once. What must pass a
    NIC or a shared group takes its time, and one latency.
    """
    size, blocks = _sizes(operation, message_bytes)
    return _core.lower_bound_s(
        network_arrays(network), operation, _root(operation, root), size, blocks
    )


def _root(operation: str, root: int | None) -> int:
    if operation in WITH_ROOT:
        return 0 if root is None else root
    if root is not None:
        raise InputError(f"root: {operation} has none, got {root}")
    return -1


def _sizes(operation: str, message_bytes: int | Sequence[int]) -> tuple[int, Blocks]:
    """The size of a message, and that of each block where they differ."""
    if operation not in OPERATIONS:
        raise InputError(
            f"operation: unknown name {operation!r}; there are {', '.join(OPERATIONS)}"
        )
    sizes = np.atleast_1d(np.asarray(message_bytes, dtype=np.float64))
    if not (np.all(sizes >= 0) and np.all(np.isfinite(sizes))):
        raise InputError("message_bytes: must be finite and >= 0")
    if np.ndim(message_bytes) == 0:
        return int(sizes[0]), np.zeros(0)
    if sizes.size == 0:
        raise ShapeError("message_bytes: expected a block for each host, got none")
    if operation not in WITH_BLOCKS:
        raise InputError(f"message_bytes: {operation} has no blocks of different sizes")
    return round(float(sizes.mean())), sizes
