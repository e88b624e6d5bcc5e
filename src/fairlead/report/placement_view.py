# SPDX-License-Identifier: Apache-2.0
"""A placement in the terminal, and as facts for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.model.placement import Placement
from fairlead.report.origin import origin_lines
from fairlead.report.terminal_table import table


def facts(placement: Placement) -> dict[str, Any]:
    """Everything `view` shows, as plain values."""
    return {
        "kind": "placement",
        "method": placement.method,
        "num_ranks": placement.num_ranks,
        "origin": dict(placement.origin),
        "ranks_of_host": {
            host: ranks.tolist()
            for host, ranks in zip(placement.hosts, ranks_by_host(placement), strict=True)
        },
    }


def view(placement: Placement, width: int) -> RenderableType:
    """The placement for a terminal of `width` columns."""
    title = f"Placement of {placement.num_ranks} ranks on {len(placement.hosts)} hosts"
    return Group(
        Text(f"{title} by {placement.method}"),
        *(Text(f"{name}: {value}", style="dim") for name, value in origin_lines(placement.origin)),
        Text(),
        hosts_table(placement, width),
    )


def hosts_table(placement: Placement, width: int) -> Table:
    """A row for each host with its ranks."""
    shown = table(("host", "count", "ranks"), texts=("host", "ranks"), width=width)
    for host, ranks in zip(placement.hosts, ranks_by_host(placement), strict=True):
        shown.add_row(Text(host), str(len(ranks)), rank_ranges(ranks.tolist()))
    return shown


def ranks_by_host(placement: Placement) -> list[npt.NDArray[np.int64]]:
    """Ranks of each host, ascending, in the order of `placement.hosts`, in one pass over them."""
    order = np.argsort(placement.host_of_rank, kind="stable")
    counts = np.bincount(placement.host_of_rank, minlength=len(placement.hosts))
    return list(np.split(order, np.cumsum(counts)[:-1]))


def rank_ranges(ranks: list[int]) -> str:
    """Ascending ranks with runs of three or more shortened, for example "0-3, 8, 9"."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )
