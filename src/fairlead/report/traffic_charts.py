# SPDX-License-Identifier: Apache-2.0
"""Charts of an application's traffic: in rank order, and regrouped by host before and after."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.placement import Placement
from fairlead.report.blocks import Blocks, split_evenly, sum_blocks
from fairlead.report.charts import Chart, ColorRange, harmless, heatmap, short_names
from fairlead.report.placement_view import rank_ranges
from fairlead.report.scales import BYTES, common_scale
from fairlead.traffic import Traffic

Matrix = npt.NDArray[np.float64]

MAX_CELLS = 128
"""Most rows of a heatmap; beyond it neighbouring ranks, or hosts, share a row and their bytes add
up."""
MAX_COARSE_CELLS = 64
MAX_BOLD_BORDERS = 24
"""Most borders that are drawn boldly; more of them would hide the cells."""


class _Grouped(NamedTuple):
    title: str
    note: str
    cells: Matrix
    labels: list[str]
    hosts: list[str]
    """Host of each row, or empty in rank order."""


def traffic_charts(
    traffic: Traffic, before: Placement | None, after: Placement | None
) -> list[Chart]:
    """Heatmaps that share one colour scale.

    Args:
        traffic: What the ranks sent one another.
        before: The launcher's placement, where it is known.
        after: The chosen placement, where it is known.
    """
    sent = traffic.total().bytes
    shown = [_in_rank_order(sent)]
    if before is not None:
        shown.append(_by_host(sent, before, f"Before: by host, placed by {before.method}"))
    if after is not None and (before is None or after.method != before.method):
        shown.append(_by_host(sent, after, f"After: by host, placed by {after.method}"))
    matrices = [group.cells for group in shown]
    colors = ColorRange.of(matrices, common_scale(np.concatenate(matrices, axis=None), BYTES))
    return [_chart(group, colors) for group in shown]


def inside_ratio(traffic: Traffic, placement: Placement) -> float:
    """Fraction of all bytes between different ranks that stays inside hosts; `nan` without any."""
    coo = traffic.total().bytes.tocoo()
    apart = coo.row != coo.col
    host = placement.host_of_rank
    inside = coo.data[apart & (host[coo.row] == host[coo.col])].sum()
    total = coo.data[apart].sum()
    return float(inside / total) if total > 0 else float("nan")


def _in_rank_order(sent: sp.csr_array) -> _Grouped:
    blocks = split_evenly(sent.shape[0], MAX_CELLS)
    return _Grouped(
        "Traffic in rank order",
        "What each rank sent each other; empty cells sent nothing.",
        sum_blocks(sent, blocks),
        [_ranks(block) for block in blocks],
        [],
    )


def _by_host(sent: sp.csr_array, placement: Placement, title: str) -> _Grouped:
    names = short_names(list(placement.hosts))
    # Ranks by host; of one host they ascend.
    order = np.argsort(placement.host_of_rank, kind="stable")
    used, first = np.unique(placement.host_of_rank[order], return_index=True)
    ranks_of_host = np.split(order, first[1:])
    per_host = max(1, MAX_CELLS // len(used))
    blocks: Blocks = []
    hosts: list[str] = []
    for together in split_evenly(len(used), MAX_CELLS):
        ranks = np.concatenate([ranks_of_host[index] for index in together])
        parts = [ranks[part] for part in split_evenly(len(ranks), per_host)]
        blocks += parts
        hosts += [_span([names[used[index]] for index in together])] * len(parts)
    labels = [f"{_ranks(block)} on {host}" for block, host in zip(blocks, hosts, strict=True)]
    note = "Lines are the borders of hosts; what lies in the blocks on the diagonal stays inside."
    if len(used) > MAX_CELLS:
        note = "Neighbouring hosts share a row; what stays inside a host is on the diagonal."
    return _Grouped(title, note, sum_blocks(sent, blocks), labels, hosts)


def _span(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"


def _ranks(block: npt.NDArray[np.int64]) -> str:
    word = "rank" if len(block) == 1 else "ranks"
    return f"{word} {rank_ranges(block.tolist())}"


def _chart(group: _Grouped, colors: ColorRange) -> Chart:
    axis = "rank, grouped by host" if group.hosts else "rank"
    figure = heatmap(
        group.cells, group.labels, colors, quantity="Traffic", axis=axis, empty="nothing sent"
    )
    ticks = _host_ticks(group.hosts) if group.hosts else _rank_ticks(group.labels)
    for side in ("xaxis", "yaxis"):
        figure["layout"][side].update(ticks)
    figure["layout"]["shapes"] = _borders(group.hosts)
    return Chart(
        f"{group.title} ({colors.scale.unit})",
        group.note,
        figure,
        is_coarse=len(group.labels) <= MAX_COARSE_CELLS,
    )


def _rank_ticks(labels: list[str]) -> dict[str, Any]:
    step = max(1, -(-len(labels) // 8))
    rows = list(range(0, len(labels), step))
    # "rank 12" and "ranks 12-15" both read as 12 beside the chart.
    first = [labels[row].split()[1].split("-")[0].rstrip(",") for row in rows]
    return {"tickvals": rows, "ticktext": first}


def _host_ticks(hosts: list[str]) -> dict[str, Any]:
    names = list(dict.fromkeys(hosts))
    step = max(1, -(-len(names) // 16))
    shown = names[::step]
    middles = [
        float(np.mean([row for row, host in enumerate(hosts) if host == name])) for name in shown
    ]
    return {"tickvals": middles, "ticktext": [harmless(name) for name in shown], "ticks": ""}


def _borders(hosts: list[str]) -> list[dict[str, Any]]:
    """Lines between hosts, a dark core in a light rim, so that they show on every colour."""
    cuts = [row - 0.5 for row in range(1, len(hosts)) if hosts[row] != hosts[row - 1]]
    ends = {"0": -0.5, "1": len(hosts) - 0.5}
    rim_and_core = (("rgba(255,255,255,.9)", 2.4), ("rgba(0,0,0,.85)", 0.9))
    strokes = rim_and_core if len(cuts) < MAX_BOLD_BORDERS else (("rgba(0,0,0,.3)", 0.5),)
    lines = []
    for cut in cuts:
        for color, width in strokes:
            line = {"type": "line", "line": {"color": color, "width": width}}
            lines.append({**line, "x0": cut, "x1": cut, "y0": ends["0"], "y1": ends["1"]})
            lines.append({**line, "y0": cut, "y1": cut, "x0": ends["0"], "x1": ends["1"]})
    return lines
