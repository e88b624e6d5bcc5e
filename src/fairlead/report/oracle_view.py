# SPDX-License-Identifier: Apache-2.0
"""What an oracle answers, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from fairlead.report.terminal_table import table
from fairlead.watch.oracle import METRICS
from fairlead.watch.oracle.source_check import SourceCheck

MOST_SHOWN = 16
"""Nodes of a table; of more --json."""


def view(nodes: Sequence[str], answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A table of pairs for each metric, with how much of it is known."""
    for name, part in answer["metrics"].items():
        yield Text(f"{name}: {METRICS.get(name, '')}")
        if len(nodes) > MOST_SHOWN:
            yield Text(f"{len(nodes)} nodes; --json gives the values")
        else:
            shown = table(["", *nodes])
            for node, row in zip(nodes, part["values"], strict=True):
                values = ("-" if value is None else f"{value:.3g}" for value in row)
                shown.add_row(Text(node), *values)
            yield shown
        share = f"{100 * part['coverage_ratio']:.0f} % of the links on routes are known"
        age_s = answer.get("age_s")
        yield Text(share if age_s is None else f"{share}; data of {age_s:.0f} s ago")
    unmatched = answer.get("unmatched")
    if unmatched:
        yield Text(f"reported, but not in the topology: {', '.join(map(str, unmatched))}")
    without_link = answer.get("without_link")
    if without_link:
        yield Text(f"adapters without a link: {', '.join(map(str, without_link))}")


def check_lines(check: SourceCheck) -> Iterator[str]:
    """What a source has for a topology, for a dry run."""
    if check.problem is not None:
        yield f"{check.name}: cannot be read: {check.problem}"
        return
    yield f"{check.name}:" if check.quantities else f"{check.name}: has nothing"
    for each in check.quantities:
        way = "into" if each.is_into else "out of"
        matched = f" ({_names(each.ports)})" if each.ports else ""
        yield (
            f"  {each.quantity.value} {way} {len(each.ports)} ports{matched}, "
            f"{each.num_samples} samples"
        )
        if each.unmatched:
            yield f"    not in the topology: {_names(each.unmatched)}"
    if check.without_link:
        yield f"  adapters without a link: {_names(check.without_link)}"
    for line in check.warnings:
        yield f"  {line}"
    for line in check.skipped:
        yield f"  left out: {line}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
