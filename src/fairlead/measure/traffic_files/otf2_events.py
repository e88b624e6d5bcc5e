# SPDX-License-Identifier: Apache-2.0
"""Adds up the messages of an OTF2 trace; run as a program by a Python that has the module otf2.

It imports nothing of this package: OTF2's module comes with the system's Python, which may be
another one. It prints a JSON document.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def added_up(trace: Any, otf2: Any) -> dict[str, Any]:
    """Messages of each pair of world ranks, whatever the length of the trace."""
    rank_of = _ranks(trace, otf2)
    sent: dict[tuple[int, int], list[int]] = {}
    lost, collectives = [0, 0], 0
    sends = otf2.events.MpiSend, otf2.events.MpiIsend
    for location, event in trace.events:
        if isinstance(event, otf2.events.MpiCollectiveEnd):
            collectives += 1
        if not isinstance(event, sends):
            continue
        src, dst = rank_of.get(location.group), _receiver(event, rank_of, otf2)
        if src is None or dst is None:
            lost = [lost[0] + 1, lost[1] + event.msg_length]
            continue
        row = sent.setdefault((src, dst), [0, 0, 0])
        row[0] += event.msg_length
        row[1] += 1
        row[2] = max(row[2], event.msg_length)
    return {
        "num_ranks": len(rank_of),
        "sent": [[src, dst, *row] for (src, dst), row in sent.items()],
        "lost_messages": lost[0],
        "lost_bytes": lost[1],
        "num_collective_calls": collectives,
    }


def _ranks(trace: Any, otf2: Any) -> dict[Any, int]:
    """World rank of each process: its place among the locations of MPI."""
    for group in trace.definitions.groups:
        is_mpi = group.paradigm == otf2.Paradigm.MPI
        if is_mpi and group.group_type == otf2.GroupType.COMM_LOCATIONS:
            return {location.group: rank for rank, location in enumerate(group.members)}
    return {}


def _receiver(event: Any, rank_of: dict[Any, int], otf2: Any) -> int | None:
    """World rank that a message goes to; None for a process of another world."""
    if not isinstance(event.communicator, otf2.definitions.Comm):
        return None
    members = event.communicator.group.members
    if event.receiver >= len(members):
        return None
    return rank_of.get(members[event.receiver].group)


def main() -> int:
    """Print what a trace adds up to; 3 where there is no module, 1 for what is no trace."""
    try:
        import otf2  # type: ignore[import-not-found]  # noqa: PLC0415  It may be missing.
    except ImportError as error:
        print(error, file=sys.stderr)
        return 3
    try:
        with otf2.reader.open(sys.argv[1]) as trace:
            json.dump(added_up(trace, otf2), sys.stdout)
    except Exception as error:  # The module raises exceptions of its own, and of many kinds.
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
