# SPDX-License-Identifier: Apache-2.0
"""Which schedules of a call are worth measuring."""

from __future__ import annotations

from collections.abc import Sequence

from fairlead import _core
from fairlead.decide.collectives.catalogue import VARIANTS, WITH_ROOT, methods_for
from fairlead.decide.collectives.planning import plan
from fairlead.model.network import Network
from fairlead.model.schedule import Schedule

__all__ = ["MOST_CANDIDATES", "candidates"]

MOST_CANDIDATES = 5
"""Predictions know no incast, so `linear` and `two_level` may come first where they are slow; three
others remain."""


def candidates(
    operation: str,
    network: Network,
    block_bytes: int,
    ranks_of_host: Sequence[int],
    root: int | None = None,
    *,
    most: int = MOST_CANDIDATES,
) -> list[Schedule]:
    """The schedules with the least predicted times, the fastest first, no two of them alike.

    Predictions know no cost of a message but its latency, so they choose short segments. Those of
    fixed sizes follow, of each chosen method that has them.

    Args:
        operation: One of `fairlead.collectives.OPERATIONS`.
        network: Network of the H hosts that take part.
        block_bytes: Whole vector of bcast, reduce and allreduce, one rank's block of the others.
        ranks_of_host: Ranks that take part on each host, length H.
        root: Host of the root, where the operation has one.
        most: How many methods that are no variants.

    Raises:
        TopologyError: A pair of hosts was not measured.
    """
    message_bytes = host_message_bytes(operation, block_bytes, ranks_of_host)
    at_root = root if operation in WITH_ROOT else None

    def schedule_by(method: str) -> Schedule:
        return plan(operation, network, message_bytes, at_root, method=method)

    names = methods_for(operation)
    searched = [schedule_by(name) for name in names if name not in VARIANTS]
    chosen: dict[tuple[object, ...], Schedule] = {}
    for schedule in sorted(searched, key=lambda schedule: schedule.predicted_s):
        if len(chosen) < most:
            chosen.setdefault(_messages(schedule), schedule)
    methods = {schedule.method for schedule in chosen.values()}
    for schedule in [schedule_by(name) for name in names if VARIANTS.get(name) in methods]:
        if len(schedule.share_of_segment) > 1:
            chosen.setdefault(_messages(schedule), schedule)
    return list(chosen.values())


def host_message_bytes(
    operation: str, block_bytes: int, ranks_of_host: Sequence[int]
) -> int | list[int]:
    """What the planner takes for a size as users give it: blocks of hosts, not of ranks."""
    message_bytes, blocks = _core.host_sizes(operation, block_bytes, ranks_of_host)
    return [int(block) for block in blocks] or message_bytes


def _messages(schedule: Schedule) -> tuple[object, ...]:
    """What is sent, whichever method planned it."""
    return (
        *(schedule.form, schedule.order, schedule.trees, schedule.tree_of_segment),
        *(schedule.share_of_segment, schedule.levels),
        *(schedule.window, schedule.max_sends, schedule.num_parts),
    )
