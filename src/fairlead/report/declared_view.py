# SPDX-License-Identifier: Apache-2.0
"""How a declared topology and a measured network agree: in the terminal, and as facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.report.plain import plain
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, human
from fairlead.report.terminal_table import table
from fairlead.watch.declared_distances import Agreement, Misplaced

__all__ = ["facts", "lines", "view"]

MOST_NAMED_PEERS = 4
MOST_LINES = 32

_FAMILY = {"latency_s": SECONDS, "bandwidth_Bps": BYTES_PER_SECOND}
_WORD = {"latency_s": "latency", "bandwidth_Bps": "bandwidth"}


def facts(agreement: Agreement) -> dict[str, Any]:
    """Everything `view` shows, as plain values; None where unmeasured."""
    return {
        "kind": "declared-and-measured",
        "hosts": list(agreement.hosts),
        "missing": list(agreement.missing),
        "classes": [plain(each._asdict()) for each in agreement.classes],
        "fits": {name: fit._asdict() for name, fit in agreement.fits.items()},
        "misplaced": [
            {**each._asdict(), "peers": list(each.peers)} for each in agreement.misplaced
        ],
    }


def view(agreement: Agreement) -> RenderableType:
    """The comparison for a terminal."""
    classes = table(("links apart by the declaration", "pairs", "latency", "bandwidth"))
    for each in agreement.classes:
        classes.add_row(
            f"{each.hops:g}",
            str(each.num_pairs),
            human(each.latency_s, SECONDS),
            human(each.bandwidth_Bps, BYTES_PER_SECOND),
        )
    return Group(
        Text(f"Declared topology and measured network of {len(agreement.hosts)} hosts"),
        Text(),
        classes,
        Text(),
        *(Text(line) for line in lines(agreement)),
    )


def lines(agreement: Agreement) -> Iterator[str]:
    """The findings, a sentence each."""
    if agreement.missing:
        yield f"Not in the topology: {', '.join(agreement.missing)}."
    if len(agreement.classes) < 2:
        yield "By the declaration all pairs are equally far: there is nothing to compare."
        return
    for name, fit in agreement.fits.items():
        yield (
            f"Declared distance and measured {_WORD[name]}: rank correlation "
            f"{fit.correlation:.2f}; hosts at random places reach that with probability "
            f"{_probability(fit.chance)}."
        )
    if not agreement.misplaced:
        yield "No host measures otherwise than it is declared, beyond chance."
    for each in agreement.misplaced[:MOST_LINES]:
        yield _sentence(each)
    if len(agreement.misplaced) > MOST_LINES:
        yield f"... and {len(agreement.misplaced) - MOST_LINES} more; --json lists all."


def _sentence(each: Misplaced) -> str:
    declared, measured = ("near", "far") if each.like_hops > each.hops else ("far from", "near")
    named = ", ".join(each.peers[:MOST_NAMED_PEERS])
    more = len(each.peers) - MOST_NAMED_PEERS
    named += f" and {more} more" if more > 0 else ""
    family = _FAMILY[each.quantity]
    return (
        f"{each.host} is declared {declared} {named} ({each.hops:g} links) and measures {measured} "
        f"(as {each.like_hops:g} links): {_WORD[each.quantity]} {human(each.value, family)}, "
        f"{human(each.typical, family)} between others declared so; by chance with probability "
        f"{_probability(each.chance)}."
    )


def _probability(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-6 else "below 0.000001"
