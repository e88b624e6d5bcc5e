# SPDX-License-Identifier: Apache-2.0
"""Adds up the events of an OTF2 trace; run as a program by a Python that has the module otf2.

It imports nothing of this package: OTF2's module comes with the system's Python, which may be
another one. It prints a JSON document, whose size does not grow with the length of the trace.
"""

from __future__ import annotations

import functools
import json
import math
import re
import sys
from collections.abc import Hashable
from typing import Any

MOST_ROWS = 2**18
"""Kinds of collective calls: a program whose sizes all differ must not fill the memory."""

ROOTED = frozenset({"bcast", "gather", "gatherv", "reduce", "scatter", "scatterv"})
BY_POSITION = frozenset({"exscan", "scan"})
EXCHANGES = frozenset({"alltoallv", "alltoallw"})
"""Their sizes differ in each call, so that only the sums of each rank are kept."""

_NEIGHBOURHOOD = re.compile(
    r"mpi_(i?neighbor_(?:allgatherv?|alltoall[vw]?))(?:_c)?(?:\(\))?", re.IGNORECASE
)
"""Score-P writes these calls as if they went to all ranks, so their function names them."""
_PERSISTENT = re.compile(
    r"mpi_((?:(?:neighbor_)?(?:allgatherv?|alltoall[vw]?)|allreduce|barrier|bcast|exscan|gatherv?|"
    r"psend|reduce(?:_scatter(?:_block)?)?|scan|scatterv?)_init)(?:_c)?(?:\(\))?",
    re.IGNORECASE,
)
"""Score-P has no event where such a request is started."""
PARTNERS_UNKNOWN = "whose partners are unknown"
_OF_HANDLES = ("handle", "allocate")


@functools.cache
def _kind_without_event(function: str) -> tuple[str, str] | None:
    """The operation of a function that may have no event, and why it is not counted then."""
    for pattern, reason in (
        (_NEIGHBOURHOOD, "of which only the time is recorded"),
        (_PERSISTENT, "whose starts are not recorded"),
    ):
        if found := pattern.fullmatch(function):
            return found[1].lower(), reason
    return None


class Communicator:
    """The processes of a communicator, or of each of two groups.

    Attributes:
        groups: The group, or both.
        ranks: World ranks by position; None where one is missing or comes twice.
        position_of: Position of each process.
    """

    def __init__(self, groups: list[list[Any]], rank_of: dict[Any, int]) -> None:
        self.groups = groups
        ranks = [rank_of[process] for process in groups[0] if process in rank_of]
        self.ranks = tuple(ranks) if len(set(ranks)) == len(groups[0]) else None
        self.position_of = {process: position for position, process in enumerate(groups[0])}

    def receiver(self, sender: Any, position: int) -> Any:
        """The process that a message goes to, from a process; None for one of another trace."""
        group = self.groups[-1] if sender in self.position_of else self.groups[0]
        return group[position] if position < len(group) else None


class BetweenGroups:
    """A communicator between two groups. The module's class for it (3.0) cannot be made."""

    def __init__(self, reference: int, groups: list[Any]) -> None:
        self._ref = reference
        self._key = (type(self), reference)
        self.groups = groups

    @classmethod
    def _construct(cls, registry: Any, ref: int, _name: Any, *rest: Any) -> BetweenGroups:
        return cls(ref, [registry.groups[group] for group in rest[:2]])


class Sums:
    """What the events add up to, by what they have in common."""

    def __init__(self, trace: Any, otf2: Any) -> None:
        self._otf2 = otf2
        self._rank_of = _ranks(trace, otf2)
        operations = {
            getattr(otf2.CollectiveOp, name).value: name.lower()
            for name in dir(otf2.CollectiveOp)
            if name.isupper()
        }
        self._operations: dict[int, str] = operations
        self._ticks_per_s = trace.definitions.clock_properties.timer_resolution
        self._communicators: dict[Hashable, Communicator | None] = {}
        self._number_of: dict[tuple[int, ...], int] = {}
        self._function_of: dict[Any, str] = {}
        self._begun: dict[Any, tuple[int, str]] = {}
        self._requests: dict[Any, str] = {}
        self._without_event: dict[tuple[str, str], int] = {}
        self._grid_of = _grids(trace)
        self._sent: dict[tuple[int, int], list[int]] = {}
        self._lost = [0, 0]
        self._collectives: dict[tuple[Any, ...], list[float]] = {}
        self._exchanges: dict[tuple[Any, ...], list[float]] = {}
        self._neighbourhoods: dict[tuple[Any, ...], list[float]] = {}
        self._unplaced: dict[tuple[str, str], int] = {}
        self._num_beyond = 0

    def result(self) -> dict[str, Any]:
        """What is printed."""
        unplaced = [*self._unplaced.items(), *self._without_event.items()]
        return {
            "num_ranks": len(self._rank_of),
            "sent": [[*pair, *row] for pair, row in self._sent.items()],
            "lost_messages": self._lost[0],
            "lost_bytes": self._lost[1],
            "communicators": list(self._number_of),
            "collectives": [[*kind, *row] for kind, row in self._collectives.items()],
            "exchanges": [[*kind, *row] for kind, row in self._exchanges.items()],
            "neighbourhoods": [[*kind, *row] for kind, row in self._neighbourhoods.items()],
            "unplaced": [[*kind, calls] for kind, calls in unplaced if calls],
            "calls_beyond_table": self._num_beyond,
        }

    def add(self, location: Any, event: Any) -> None:
        """Add one event of a process' thread."""
        kind = type(event).__name__
        if kind == "Enter":
            self._enter(location, event.region)
        elif kind == "CallingContextEnter":
            self._enter(location, event.calling_context and event.calling_context.region)
        elif kind in {"Leave", "CallingContextLeave"}:
            self._function_of.pop(location, None)
        elif kind in {"MpiSend", "MpiIsend"}:
            self._add_message(location.group, event)
        elif kind == "MpiCollectiveBegin":
            self._begun[location] = event.time, self._function_with_event(location)
        elif kind == "MpiCollectiveEnd":
            begun, function = self._begun.pop(location, (event.time, ""))
            seconds = (event.time - begun) / self._ticks_per_s
            self._add_call(location.group, event, function, "", seconds)
        elif kind == "NonBlockingCollectiveRequest":
            function = self._function_with_event(location)
            if _NEIGHBOURHOOD.fullmatch(function):
                self._requests[location.group, event.request_id] = function
        elif kind == "NonBlockingCollectiveComplete":
            function = self._requests.pop((location.group, event.request_id), "")
            self._add_call(location.group, event, function, "i", 0.0)
        elif kind in {"RmaPut", "RmaGet", "RmaAtomic"}:
            self._add_one_sided(location.group, event)
        elif kind == "RmaCollectiveEnd":
            operation = self._name(event, "", "")
            if not any(word in operation for word in _OF_HANDLES):
                self._leave_out(operation, "recorded as one-sided")

    def _enter(self, location: Any, region: Any) -> None:
        """Count a call that may have no event."""
        function = str(region.name) if region else ""
        self._function_of[location] = function
        self._count_without_event(function, 1)

    def _function_with_event(self, location: Any) -> str:
        """The function in which a call's event is, which is no longer counted as one without."""
        function = self._function_of.get(location, "")
        self._count_without_event(function, -1)
        return function

    def _count_without_event(self, function: str, calls: int) -> None:
        if kind := _kind_without_event(function):
            self._without_event[kind] = self._without_event.get(kind, 0) + calls

    def _add_message(self, process: Any, event: Any) -> None:
        communicator = self._communicator(event.communicator, process)
        receiver = communicator and communicator.receiver(process, event.receiver)
        self._add_bytes(process, receiver, event.msg_length)

    def _add_one_sided(self, process: Any, event: Any) -> None:
        """What goes to a window's rank, and what comes from there; no copies of a device."""
        definition = event.win and event.win.comm
        if definition is None or isinstance(definition, BetweenGroups):
            return
        if definition.group.paradigm != self._otf2.Paradigm.MPI:
            return
        communicator = self._communicator(definition, process)
        remote = communicator and communicator.receiver(process, event.remote)
        kind = type(event).__name__
        if kind == "RmaAtomic":
            if event.bytes_sent:
                self._add_bytes(process, remote, event.bytes_sent)
            if event.bytes_received:
                self._add_bytes(remote, process, event.bytes_received)
        elif kind == "RmaPut":
            self._add_bytes(process, remote, event.bytes)
        else:
            self._add_bytes(remote, process, event.bytes)

    def _add_bytes(self, sender: Any, receiver: Any, size: int) -> None:
        src, dst = self._rank_of.get(sender), self._rank_of.get(receiver)
        if src is None or dst is None:
            self._lost = [self._lost[0] + 1, self._lost[1] + size]
            return
        row = self._sent.setdefault((src, dst), [0, 0, 0])
        row[0] += size
        row[1] += 1
        row[2] = max(row[2], size)

    def _add_call(
        self, process: Any, event: Any, function: str, prefix: str, seconds: float
    ) -> None:
        operation = self._name(event, function, prefix)
        if any(word in operation for word in _OF_HANDLES):
            return
        base = operation.removeprefix("i")
        communicator = self._communicator(event.communicator, process)
        reason = self._obstacle(base, communicator, process, event)
        if reason or communicator is None or communicator.ranks is None:
            self._leave_out(operation, reason)
            return
        number = self._number_of.setdefault(communicator.ranks, len(self._number_of))
        position = communicator.position_of[process]
        sizes = event.size_sent, event.size_received
        if base.startswith("neighbor_"):
            of_rank = (operation, number, *self._grid_of[event.communicator], position)
            _add_exchange(self._neighbourhoods, of_rank, sizes, seconds)
            return
        if base in EXCHANGES:
            _add_exchange(self._exchanges, (operation, number, position), sizes, seconds)
            return
        root = event.root if base in ROOTED else -1
        place = position if base in BY_POSITION else -1
        kind = (operation, number, root, position == root, place, *sizes)
        if kind not in self._collectives and len(self._collectives) >= MOST_ROWS:
            self._num_beyond += 1
            return
        row = self._collectives.setdefault(kind, [0, 0.0])
        row[0] += 1
        row[1] += seconds

    def _name(self, event: Any, function: str, prefix: str) -> str:
        found = _NEIGHBOURHOOD.fullmatch(function)
        if found:
            return found[1].lower()
        value = event.collective_op.value
        known = self._operations.get(value)
        return f"operation {value}" if known is None else prefix + known

    def _obstacle(
        self, base: str, communicator: Communicator | None, process: Any, event: Any
    ) -> str:
        """Why a call has no place in the table; empty where it has."""
        if base.startswith("operation "):
            return "unknown"
        if communicator is not None and len(communicator.groups) > 1:
            return "between two groups of ranks"
        if (
            communicator is None
            or communicator.ranks is None
            or process not in communicator.position_of
        ):
            return "among ranks that the trace does not name"
        if base in ROOTED and event.root >= len(communicator.ranks):
            return "whose root is unknown"
        if base.startswith("neighbor_"):
            sides = self._grid_of.get(event.communicator, ((0,), ()))[0]
            if math.prod(sides) != len(communicator.ranks):
                return PARTNERS_UNKNOWN
        return ""

    def _leave_out(self, operation: str, reason: str) -> None:
        kind = operation, reason
        self._unplaced[kind] = self._unplaced.get(kind, 0) + 1

    def _communicator(self, definition: Any, process: Any) -> Communicator | None:
        """The communicator of a definition; that of one rank is the process' own."""
        types = self._otf2.GroupType
        if definition is None:
            return None
        is_self = (
            not isinstance(definition, BetweenGroups)
            and definition.group.group_type == types.COMM_SELF
        )
        key = (definition, process) if is_self else definition
        if key not in self._communicators:
            self._communicators[key] = self._read_communicator(definition, process, is_self)
        return self._communicators[key]

    def _read_communicator(
        self, definition: Any, process: Any, is_self: bool
    ) -> Communicator | None:
        if is_self:
            return Communicator([[process]], self._rank_of)
        is_inter = isinstance(definition, BetweenGroups)
        groups = definition.groups if is_inter else [definition.group]
        members = [[member.group for member in group.members] for group in groups]
        return Communicator(members, self._rank_of)


def _add_exchange(
    table: dict[tuple[Any, ...], list[float]],
    kind: tuple[Any, ...],
    sizes: tuple[int, int],
    seconds: float,
) -> None:
    sent, received = sizes
    row = table.setdefault(kind, [0, 0.0, 0, 0, 0, 0])
    row[0] += 1
    row[1] += seconds
    row[2] += sent
    row[3] += received
    row[4] += sent > 0
    row[5] = max(row[5], sent)


Grid = tuple[tuple[int, ...], tuple[bool, ...]]
"""Ranks in each dimension, and whether it is periodic."""


def _grids(trace: Any) -> dict[Any, Grid]:
    """The Cartesian topology of each communicator that has one, and no other."""
    found: dict[Any, set[Grid]] = {}
    for topology in trace.definitions.cart_topologies:
        sides = tuple(dimension.size for dimension in topology.dimensions)
        wraps = tuple(bool(dimension.cart_periodicity.value) for dimension in topology.dimensions)
        found.setdefault(topology.communicator, set()).add((sides, wraps))
    return {communicator: min(grids) for communicator, grids in found.items() if len(grids) == 1}


def _ranks(trace: Any, otf2: Any) -> dict[Any, int]:
    """World rank of each process: its place among the locations of MPI."""
    for group in trace.definitions.groups:
        is_mpi = group.paradigm == otf2.Paradigm.MPI
        if is_mpi and group.group_type == otf2.GroupType.COMM_LOCATIONS:
            return {location.group: rank for rank, location in enumerate(group.members)}
    return {}


def _read(path: str, otf2: Any) -> dict[str, Any]:
    """What the trace adds up to, and the name of its writer."""
    if hasattr(otf2.definitions, "InterComm"):
        otf2.definitions.InterComm._construct = BetweenGroups._construct
    with otf2.reader.open(path) as trace:
        sums = Sums(trace, otf2)
        for location, event in trace.events:
            sums.add(location, event)
        return {**sums.result(), "creator": _creator(trace)}


def _creator(trace: Any) -> str:
    """What the tool that wrote the trace calls itself; the module has no public name for it."""
    import _otf2  # type: ignore[import-not-found]  # noqa: PLC0415

    return str(_otf2.Reader_GetCreator(trace._handle) or "")


def main() -> int:
    """Print what a trace adds up to; 3 where there is no module, 1 for what is no trace."""
    try:
        import otf2  # type: ignore[import-not-found]  # noqa: PLC0415  It may be missing.
    except ImportError as error:
        print(error, file=sys.stderr)
        return 3
    try:
        json.dump(_read(sys.argv[1], otf2), sys.stdout)
    except Exception as error:  # The module raises exceptions of its own, and of many kinds.
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
