# SPDX-License-Identifier: Apache-2.0
"""Writes a trace by OTF2's own module, from the calls that come in as JSON (otf2_calls.py).

The system's Python runs it, which has the module; it imports nothing else.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import otf2

Call = dict[str, Any]


def _define_communicator(define: Any, name: str, ranks: Any) -> Any:
    paradigm = otf2.Paradigm.CUDA if name == "device" else otf2.Paradigm.MPI

    def group(kind: Any, members: list[int]) -> Any:
        label = f"{name} {members}"
        return define.group(label, group_type=kind, paradigm=paradigm, members=members)

    if ranks == "self":
        return define.comm(name, group=group(otf2.GroupType.COMM_SELF, []))
    if ranks and isinstance(ranks[0], list):
        groups = [group(otf2.GroupType.COMM_GROUP, part) for part in ranks]
        return _define_between_groups(define, name, groups)
    return define.comm(name, group=group(otf2.GroupType.COMM_GROUP, ranks))


def _define_between_groups(define: Any, name: str, groups: list[Any]) -> Any:
    """The module's own class cannot be made: it asks for the one group of an ordinary one."""

    class BetweenGroups:
        _ref = 1000
        _key = ("between groups", name)

        def write(self, writer: Any, registry: Any) -> None:
            label = registry.strings.get_ref(name, writer)
            refs = (group._ref for group in groups)
            undefined = otf2.definitions.Comm.undefined_ref
            writer.write_inter_comm(1000, label, *refs, undefined, otf2.CommFlag.NONE)

    communicator = BetweenGroups()
    define._comms._register(communicator)
    return communicator


def _define_grid(define: Any, number: int, communicator: Any, sides: Any) -> None:
    """A Cartesian topology as Score-P names it; a negative side is not periodic."""
    periodic = otf2.CartPeriodicity
    dimensions = tuple(
        define.cart_dimension(
            f"{number}.{axis}", abs(side), periodic.TRUE if side > 0 else periodic.FALSE
        )
        for axis, side in enumerate(sides)
    )
    define.cart_topology(f"MPI_Cartesian {number}", communicator, dimensions)


def _write_one_sided(writer: Any, time: int, event: Call, communicator: Any, define: Any) -> None:
    window = define.rma_win(f"window of {communicator.name}", communicator)
    if event["one_sided"] == "collective":
        writer.rma_collective_begin(time)
        number = getattr(otf2.CollectiveOp, event["operation"].upper()).value
        what = otf2.CollectiveOp(number), otf2.RmaSyncLevel.NONE, window, 2**32 - 1, 0, 0
        writer.rma_collective_end(time, *what)
    elif event["one_sided"] == "atomic":
        kind = otf2.RmaAtomicType.ACCUMULATE
        writer.rma_atomic(time, window, event["remote"], kind, *event["sizes"], time)
    else:
        write = {"put": writer.rma_put, "get": writer.rma_get}[event["one_sided"]]
        write(time, window, event["remote"], event["bytes"], time)


def _write_event(writer: Any, time: int, event: Call, communicator: Any, define: Any) -> None:
    if "receiver" in event:
        writer.mpi_send(time, event["receiver"], communicator, 0, event["bytes"])
        return
    if "one_sided" in event:
        _write_one_sided(writer, time, event, communicator, define)
        return
    if event["is_region_only"]:
        writer.enter(time, define.region(event["region"]))
        writer.leave(time + 2, define.region(event["region"]))
        return
    number = event["operation"]
    if isinstance(number, str):
        number = getattr(otf2.CollectiveOp, number.upper()).value
    what = (otf2.CollectiveOp(number), communicator, event["root"], *event["sizes"])
    region = define.region(event["region"]) if event["region"] else None
    if region and event["is_unwound"]:
        context = define.calling_context(region, parent=None)
        writer.calling_context_enter(time, context, 1)
    elif region:
        writer.enter(time, region)
    if event["is_blocking"]:
        writer.mpi_collective_begin(time)
        writer.mpi_collective_end(time + 2, *what)
    else:
        writer.non_blocking_collective_request(time, time)
    if region and event["is_unwound"]:
        writer.calling_context_leave(time + 2, context)
    elif region:
        writer.leave(time + 2, region)
    if not event["is_blocking"]:
        writer.non_blocking_collective_complete(time + 3, *what, time)


def main() -> None:
    """Write the trace that comes in as JSON to the folder that is named."""
    content = json.load(sys.stdin)
    with otf2.writer.open(sys.argv[1], timer_resolution=4) as trace:
        if content["creator"]:
            trace.creator = content["creator"]
        define = trace.definitions
        node = define.system_tree_node("node")
        threads = []
        for rank in range(content["num_ranks"]):
            process = define.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            threads.append(define.location("Master thread", group=process))
        for paradigm in (otf2.Paradigm.MPI, otf2.Paradigm.CUDA):
            define.group(
                str(paradigm),
                group_type=otf2.GroupType.COMM_LOCATIONS,
                paradigm=paradigm,
                members=threads,
            )
        communicators = {
            name: _define_communicator(define, name, ranks)
            for name, ranks in content["communicators"].items()
        }
        for number, (name, sides) in enumerate(content["grids"]):
            _define_grid(define, number, communicators[name], sides)
        for number, event in enumerate(content["events"]):
            writer = trace.event_writer_from_location(threads[event["rank"]])
            communicator = communicators[event["communicator"]]
            _write_event(writer, 10 * number, event, communicator, define)


if __name__ == "__main__":
    main()
