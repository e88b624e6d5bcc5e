# SPDX-License-Identifier: Apache-2.0
"""Results of a simulation in the terminal, and as facts for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.report.terminal_table import table
from fairlead.simulation import RATE_PER, Machine, SimulationResult
from fairlead.units import format_duration, format_rate, format_size


def facts(results: Sequence[SimulationResult]) -> list[dict[str, Any]]:
    """All results of each method or placement, as plain values."""
    return [result.as_dict() for result in results]


def view(results: Sequence[SimulationResult], num_servers: int = 0) -> RenderableType:
    """The results of each method or placement.

    Args:
        results: Results of the same workload.
        num_servers: How many servers of each are shown, those with the most waiting first.
    """
    tables = [result_table(results)]
    if num_servers:
        tables.append(servers_table(results, num_servers))
    return Group(*tables)


def lines(results: Sequence[SimulationResult]) -> list[str]:
    """For each the server with the most waiting, and what was simulated."""
    return [*map(busiest, results), describe(results[0])]


def result_table(results: Sequence[SimulationResult]) -> Table:
    """A row for each method or placement, however many there are, a column for each metric."""
    shown = table(("method", "waiting time", "finish time", "total finish time"))
    for result in results:
        times_s = (result.waiting_time_s, result.finish_time_s, result.total_finish_time_s)
        shown.add_row(Text(result.method), *map(format_duration, times_s))
    return shown


def servers_table(results: Sequence[SimulationResult], num_servers: int) -> Table:
    """A row for each server with the most waiting, at most this many of each placement."""
    names = ("method", "server", "messages", "offered", "busy", "longest\nqueue", "waiting")
    shown = table(names, texts=("method", "server"))
    for result in results:
        used = [server for server in result.servers if server.num_messages]
        used.sort(key=lambda server: (-server.waiting_time_s, -server.utilisation_ratio))
        for server in used[:num_servers]:
            shown.add_row(
                Text(result.method),
                server.name,
                str(server.num_messages),
                _share(server.offered_ratio),
                f"{server.utilisation_ratio:.0%}",
                str(server.longest_queue),
                format_duration(server.waiting_time_s),
            )
    return shown


def busiest(result: SimulationResult) -> str:
    """One line: the server with the most waiting of a placement's messages in total."""
    if result.waiting_time_s == 0:
        return f"{result.method}: no message waits"
    server = max(result.servers, key=lambda server: server.waiting_time_s)
    return (
        f"{result.method}: most waiting at {server.name}, busy {server.utilisation_ratio:.0%} "
        f"of the time, at most {server.longest_queue} waiting in its queue"
    )


def describe(result: SimulationResult) -> str:
    """One line: what was simulated, which part of it, and which options are not the default."""
    options = result.options
    line = (
        f"{result.workload}: {result.num_messages} messages, scale {result.scale:g}; "
        f"nic {options.nic}, {options.forwarding}, arrivals {options.arrivals}, loop {options.loop}"
    )
    if options.seed:
        line += f", seed {options.seed}"
    if result.rate_per not in (None, RATE_PER[0]):
        line += f", rate per {result.rate_per}"
    changed = ", ".join(_changes_of_machine(result.machine))
    return f"{line}; {changed}" if changed else line


def _changes_of_machine(machine: Machine) -> Iterator[str]:
    """Differences of a machine from SPREAD's table 1."""
    for field in dataclasses.fields(machine):
        value = getattr(machine, field.name)
        name, _, unit = field.name.rpartition("_")
        if value == field.default or (field.name == "node_speeds" and not value):
            continue
        if field.name == "taken":
            yield f"{len(value)} cores taken"
        elif field.name == "node_speeds":
            yield f"{len(value)} nodes of another speed"
        elif unit in _SHOWN:
            yield f"{name.replace('_', ' ')} {_SHOWN[unit](value)}"
        else:
            yield f"{field.name} {value}"


_SHOWN: dict[str, Callable[[float], str]] = {
    "Bps": format_rate,
    "bytes": format_size,
    "s": format_duration,
    "Mops": lambda speed_Mops: f"{speed_Mops:g} Mop/s",
    "ratio": lambda ratio: f"+{ratio:.3g}",
}


def overload_lines(results: Sequence[SimulationResult]) -> list[str]:
    """Which servers are offered more than they can do; their waiting shows little else."""
    lines = []
    for result in results:
        if over := result.overloaded:
            others = f", and {len(over) - 1} others" if len(over) > 1 else ""
            share = _share(over[0].offered_ratio)
            lines.append(
                f"{result.method}: {over[0].name} is overloaded: offered {share} of its capacity"
                f"{others}"
            )
    return lines


def _share(ratio: float) -> str:
    """A ratio with few digits."""
    return f"{ratio:.0%}" if ratio < 1000 else "over 1000 times"
