# SPDX-License-Identifier: Apache-2.0
"""An application's traffic in the terminal, and as facts for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.model.collective_call import CollectiveCall
from fairlead.model.coverage import Coverage
from fairlead.model.sparse_cells import cells
from fairlead.model.traffic import Traffic, sum_over_communicators
from fairlead.report.origin import traffic_lines
from fairlead.report.plain import plain
from fairlead.report.scales import BYTES, SECONDS, human
from fairlead.report.terminal_heatmap import heatmap
from fairlead.report.terminal_table import table
from fairlead.units import format_duration, format_size

MAX_BUSIEST = 8
MAX_CELLS = 16
MAX_COLLECTIVES = 5
"""Collective calls of a summary, those that took longest."""


class BusyPair(NamedTuple):
    """Traffic from one rank to another; the largest message is of those outside collectives."""

    src: int
    dst: int
    bytes: float
    messages: float
    max_message_bytes: float


def busiest_pairs(traffic: Traffic, max_pairs: int = MAX_BUSIEST) -> list[BusyPair]:
    """The ordered pairs that carry most bytes, most first; self-messages are left out."""
    carried = traffic.carried
    # Traffic always makes it a matrix; only its constructor takes None.
    largest: Any = carried.max_message_bytes
    coo = carried.bytes.tocoo()
    apart = np.flatnonzero((coo.row != coo.col) & (coo.data > 0))
    order = apart[np.argsort(-coo.data[apart], kind="stable")][:max_pairs]
    return [
        BusyPair(
            int(src),
            int(dst),
            float(carried.bytes[src, dst]),
            float(carried.messages[src, dst]),
            float(largest[src, dst]),
        )
        for src, dst in zip(coo.row[order], coo.col[order], strict=True)
    ]


def by_time(calls: Sequence[CollectiveCall]) -> list[CollectiveCall]:
    """Collective calls, the longest time first."""
    return sorted(calls, key=lambda call: -call.seconds)


def facts(traffic: Traffic) -> dict[str, Any]:
    """Everything `view` shows, as plain values; pairs as [src, dst, bytes, messages]."""
    carried = traffic.carried
    coo = carried.bytes.tocoo()
    messages = cells(carried.messages, coo.row, coo.col)
    columns = (part.tolist() for part in (coo.row, coo.col, coo.data, messages))
    return {
        **summary_facts(traffic),
        "busiest_pairs": [pair._asdict() for pair in busiest_pairs(traffic)],
        "pairs": [list(pair) for pair in zip(*columns, strict=True)],
    }


def summary_facts(traffic: Traffic) -> dict[str, Any]:
    """What `summary_lines` shows, as plain values."""
    return {
        "kind": "traffic",
        "num_ranks": traffic.num_ranks,
        "origin": traffic.origin,
        "uncounted": traffic.untraced._asdict(),
        "run_time_s": None if math.isnan(traffic.run_time_s) else traffic.run_time_s,
        "compute_s": None if traffic.compute_s is None else plain(traffic.compute_s),
        "compute_hosts": list(traffic.compute_hosts),
        "point_to_point": _totals(traffic.bytes, traffic.messages),
        "exchange": _totals(traffic.exchange_bytes, traffic.exchange_messages),
        "inside_collectives": _inside(traffic),
        "collectives": [call._asdict() for call in by_time(traffic.collectives)],
        "communicators": [ranks.tolist() for ranks in traffic.communicators],
    }


def _lines_of_computing(traffic: Traffic) -> list[str]:
    """How long ranks compute between calls of MPI; none where that is unknown."""
    if traffic.compute_s is None or not np.isfinite(traffic.compute_s).any():
        return []
    low, high = np.nanmin(traffic.compute_s), np.nanmax(traffic.compute_s)
    return [
        f"computing between calls: {format_duration(low)} to {format_duration(high)} a rank, "
        f"median {format_duration(float(np.nanmedian(traffic.compute_s)))}"
    ]


def summary_lines(traffic: Traffic) -> list[str]:
    """A traced run in a few lines: how long it took, how much was sent, what took longest."""
    lines = [
        f"{traffic.num_ranks} ranks ran for {format_duration(traffic.run_time_s)}",
        *_lines_of_computing(traffic),
        *_total_lines(traffic),
        *(
            f"{call.operation} of {format_size(call.message_bytes)} on {call.communicator_size} "
            f"ranks: {call.calls:,} calls, {format_duration(call.seconds)} over all ranks"
            for call in _by_kind(traffic)[:MAX_COLLECTIVES]
        ),
    ]
    if coverage := Coverage.of_origin(traffic.origin, traffic.num_ranks):
        lines.append(coverage.line())
    if lost := traffic.untraced.line():
        lines.append(f"not in the file: {lost}")
    return lines


def view(traffic: Traffic, width: int) -> RenderableType:
    """The traffic for a terminal of `width` columns."""
    ranks = [str(rank) for rank in range(traffic.num_ranks)]
    parts: list[RenderableType] = [
        Text(f"Traffic of {traffic.num_ranks} ranks, {_run_time(traffic)}"),
        *(Text(f"{name}: {value}", style="dim") for name, value in traffic_lines(traffic)),
        *map(Text, _total_lines(traffic)),
        Text(),
        heatmap(
            traffic.carried.bytes,
            ranks,
            title="Bytes from rank to rank",
            family=BYTES,
            width=width,
            max_blocks=MAX_CELLS,
        ),
    ]
    if pairs := busiest_pairs(traffic):
        parts += [Text(), _busiest_table(pairs)]
    if traffic.collectives:
        parts += [Text(), _collectives_table(traffic)]
    return Group(*parts)


def _by_kind(traffic: Traffic) -> list[CollectiveCall]:
    """Collective calls without root and communicator, the longest time first."""
    return by_time(sum_over_communicators(traffic.collectives))


def _totals(sent: Any, messages: Any) -> dict[str, float]:
    return {"bytes": float(sent.sum()), "messages": float(messages.sum())}


def _inside(traffic: Traffic) -> dict[str, float]:
    """What collectives without exchanges are expected to have sent."""
    carried, counted = traffic.carried, traffic.total
    return _totals(carried.bytes - counted.bytes, carried.messages - counted.messages)


def _total_lines(traffic: Traffic) -> list[str]:
    """Everything that was sent; collectives only if there were any."""
    lines = [_sent_line("point to point", _totals(traffic.bytes, traffic.messages))]
    exchange = _totals(traffic.exchange_bytes, traffic.exchange_messages)
    if exchange["messages"]:
        lines.append(_sent_line("alltoall, neighbours", exchange))
    inside = _inside(traffic)
    if inside["messages"]:
        lines.append(f"{_sent_line('inside other collectives', inside)}, estimated")
    return lines


def _sent_line(name: str, totals: Mapping[str, float]) -> str:
    return f"{name}: {format_size(totals['bytes'])} in {totals['messages']:,.0f} messages"


def _run_time(traffic: Traffic) -> str:
    known = not math.isnan(traffic.run_time_s)
    return f"run time {human(traffic.run_time_s, SECONDS)}" if known else "run time unknown"


def _busiest_table(pairs: list[BusyPair]) -> Table:
    shown = table(("ranks", "bytes", "messages", "largest"), texts=(), title="Busiest pairs")
    for pair in pairs:
        shown.add_row(
            f"{pair.src} → {pair.dst}",
            format_size(pair.bytes),
            f"{pair.messages:,.0f}",
            format_size(pair.max_message_bytes) if pair.max_message_bytes else "",
        )
    return shown


def _collectives_table(traffic: Traffic) -> Table:
    names = ("operation", "ranks", "message", "calls", "time, all ranks")
    shown = table(names, title="Collectives")
    for call in _by_kind(traffic):
        shown.add_row(
            Text(call.operation),
            str(call.communicator_size),
            format_size(call.message_bytes),
            f"{call.calls:,}",
            human(call.seconds, SECONDS),
        )
    return shown
