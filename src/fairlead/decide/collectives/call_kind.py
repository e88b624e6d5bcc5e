# SPDX-License-Identifier: Apache-2.0
"""Collective calls that no rule distinguishes."""

from __future__ import annotations

import dataclasses

import numpy as np

from fairlead.measure.collective_times import TimedCall
from fairlead.model.placement import Placement

__all__ = ["CallKind"]


@dataclasses.dataclass(frozen=True)
class CallKind:
    """Calls with any root, by any communicator of so many ranks on the same hosts.

    Attributes:
        operation: One of `fairlead.collectives.OPERATIONS`.
        message_bytes: As in `TimedCall`.
        hosts: Those of the communicator.
        num_ranks: Its ranks.
    """

    operation: str
    message_bytes: int
    hosts: frozenset[str]
    num_ranks: int

    @classmethod
    def of(cls, call: TimedCall, placement: Placement) -> CallKind:
        """That of a call by ranks of a placement."""
        used = np.unique(placement.host_of_rank[list(call.ranks)])
        hosts = frozenset(placement.hosts[host] for host in used)
        return cls(call.operation, call.message_bytes, hosts, len(call.ranks))
