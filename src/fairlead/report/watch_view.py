# SPDX-License-Identifier: Apache-2.0
"""What `fairlead watch` sees: pairs, links, hot spots, and whether the plan still holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.text import Text

from fairlead.flows.watch import Observation
from fairlead.report.terminal_table import table
from fairlead.units import format_rate
from fairlead.watch.drift import DRIFT_RATIO
from fairlead.watch.plan_watch import DriftedPair

MOST_SHOWN = 8
"""Rows of each table: all of them fit a small terminal."""

DRIFTED = "bold red"


def facts(now: Observation) -> dict[str, Any]:
    """What is known, JSON-serialisable."""
    return {
        "run": str(now.run.folder),
        "observations": now.watcher.num_rounds,
        "is_stale": now.is_stale,
        "problem": now.problem,
        "drifted": [pair._asdict() for pair in now.watcher.drifted()],
        "pairs": [pair._asdict() for pair in now.watcher.changed(MOST_SHOWN)],
        "hot_hosts": [
            {"host": host, "left_ratio": left_ratio} for host, left_ratio in now.watcher.hot_hosts()
        ],
        "links": [link._asdict() for link in now.links],
    }


def line(now: Observation) -> str:
    """What is known, in one line."""
    if now.problem is not None:
        return f"not observed: {now.problem}"
    drifted = now.watcher.drifted()
    if not drifted:
        held = "is marked as stale" if now.is_stale else "holds"
        return f"observation {now.watcher.num_rounds}: the plan {held}; {_most_changed(now)}"
    more = f", {len(drifted) - 1} more" if len(drifted) > 1 else ""
    return f"the plan is stale: {_rates(drifted[0])}{more}: the next fairlead run measures anew"


def _most_changed(now: Observation) -> str:
    pairs = now.watcher.changed(1)
    return f"most changed: {_rates(pairs[0])}" if pairs else "no pair was measured"


def _rates(pair: DriftedPair) -> str:
    return (
        f"{pair.src} to {pair.dst} has {format_rate(pair.now_Bps)}, "
        f"was {format_rate(pair.planned_Bps)}"
    )


def view(now: Observation) -> Group:
    """Tables for a terminal."""
    return Group(*_parts(now))


def _parts(now: Observation) -> Iterator[Any]:
    yield Text(line(now), style=DRIFTED if now.is_stale or now.problem else "bold")
    drifted = {(pair.src, pair.dst) for pair in now.watcher.drifted()}
    # The title of a table breaks at the table's width, which short names make narrow.
    yield Text("Pairs that changed most", style="bold")
    pairs = table(["pair", "planned", "now", "change"])
    for pair in now.watcher.changed(MOST_SHOWN):
        change = pair.now_Bps / pair.planned_Bps - 1
        pairs.add_row(
            Text(f"{pair.src} to {pair.dst}"),
            format_rate(pair.planned_Bps),
            format_rate(pair.now_Bps),
            Text(f"{100 * change:+.0f} %", style=DRIFTED if pair[:2] in drifted else ""),
        )
    yield pairs
    hosts = now.watcher.hot_hosts()
    if hosts:
        yield Text("Hosts with the least bandwidth left", style="bold")
        shown = table(["host", "bandwidth left"])
        for host, left_ratio in hosts[:MOST_SHOWN]:
            style = DRIFTED if left_ratio < 1 - DRIFT_RATIO else ""
            shown.add_row(Text(host), Text(f"{100 * left_ratio:.0f} %", style=style))
        yield shown
    if now.links:
        yield Text("Links that messages wait for longest", style="bold")
        shown = table(["link", "stalled", "used"])
        for link in now.links[:MOST_SHOWN]:
            name = f"{link.src} to {link.dst}"
            shown.add_row(Text(name), _share(link.stalled_ratio), _share(link.used_ratio))
        yield shown


def _share(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:.0f} %"
