# SPDX-License-Identifier: Apache-2.0
"""The calls of one collective operation, as a traced run counts them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CollectiveCall"]


class CollectiveCall(NamedTuple):
    """All calls of one collective operation on the same ranks with one root and one message size.

    Attributes:
        operation: MPI name in lower case without prefix, for example "allreduce".
        communicator_size: Ranks in the communicator.
        message_bytes: Bytes that one rank passes to one call (its send buffer; the receive buffer
            of a non-root in a broadcast or scatter).
        calls: Number of calls, summed over ranks.
        seconds: Time spent in them, summed over ranks.
        root: In the communicator; None where the operation has none, or for several.
        communicator: Index of its ranks in `Traffic.communicators`; None where they are unknown
            (an intercommunicator, a recording that has only sizes).
    """

    operation: str
    communicator_size: int
    message_bytes: int
    calls: int
    seconds: float
    root: int | None = None
    communicator: int | None = None
