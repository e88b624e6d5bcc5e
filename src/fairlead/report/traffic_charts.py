# SPDX-License-Identifier: Apache-2.0
"""Charts of an application's traffic: in rank order, and regrouped by host before and after."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.report.blocks import Blocks, block_labels, split_evenly, sum_blocks
from fairlead.report.charts import Chart, ChartTable, ColorRange, escape, heatmap, short_names
from fairlead.report.placement_view import rank_ranges, ranks_by_host
from fairlead.report.scales import BYTES, common_scale
from fairlead.report.traffic_view import busiest_pairs
from fairlead.units import format_size

Matrix = npt.NDArray[np.float64]

MAX_CELLS = 128
"""Most rows of a heatmap; beyond it neighbouring ranks share a row and their bytes add up."""
MAX_COARSE_CELLS = 64
MAX_RANKS_TEXT = 60
"""Longest list of ranks next to a row, in letters."""
MAX_BOLD_BORDERS = 24
"""Most borders that are drawn boldly; more of them would hide the cells."""


class _Grouped(NamedTuple):
    title: str
    note: str
    cells: Matrix
    labels: list[str]
    hosts: list[str]
    """Host of each row, or empty in rank order."""
    summary: str
    table: ChartTable


def traffic_charts(
    traffic: Traffic, before: Placement | None, after: Placement | None
) -> list[Chart]:
    """Heatmaps that share one colour scale.

    Args:
        traffic: What the ranks sent one another; sparse traffic stays so, however many ranks.
        before: The launcher's placement, where it is known.
        after: The chosen placement, where it is known.
    """
    sent = traffic.carried.bytes
    shown = [_in_rank_order(traffic, sent)]
    if before is not None:
        shown.append(_by_host(sent, before, f"Before: by host, placed by {before.method}"))
    if after is not None and (before is None or after.method != before.method):
        shown.append(_by_host(sent, after, f"After: by host, placed by {after.method}"))
    matrices = [group.cells for group in shown]
    colors = ColorRange.of(matrices, common_scale(np.concatenate(matrices, axis=None), BYTES))
    return [_chart(group, colors) for group in shown]


def inside_ratio(traffic: Traffic, placement: Placement) -> float:
    """Fraction of the bytes between different ranks that stays inside hosts; `nan` without any."""
    coo = traffic.carried.bytes.tocoo()
    apart = coo.row != coo.col
    host = placement.host_of_rank
    inside = coo.data[apart & (host[coo.row] == host[coo.col])].sum()
    total = coo.data[apart].sum()
    return float(inside / total) if total > 0 else float("nan")


def _in_rank_order(traffic: Traffic, sent: sp.csr_array) -> _Grouped:
    blocks = split_evenly(traffic.num_ranks, MAX_CELLS)
    note = "What each rank sent each other; empty cells sent nothing."
    if traffic.carried is not traffic.total:
        note += " What collectives send is estimated."
    if len(blocks) < traffic.num_ranks:
        note += f" A row holds {len(blocks[0]):,} neighbouring ranks, and adds their bytes up."
    busiest = busiest_pairs(traffic)
    return _Grouped(
        "Traffic in rank order",
        note,
        sum_blocks(sent, blocks),
        [_ranks(block) for block in blocks],
        [],
        f"Heatmap of the bytes that {traffic.num_ranks} ranks sent one another, "
        f"{format_size(float(sent.sum()))} in all; the table has the busiest pairs.",
        ChartTable(
            ["busiest pairs of ranks", "bytes", "messages"],
            [
                [f"{pair.src} → {pair.dst}", format_size(pair.bytes), f"{pair.messages:,.0f}"]
                for pair in busiest
            ],
        ),
    )


def _by_host(sent: sp.csr_array, placement: Placement, title: str) -> _Grouped:
    names = short_names(list(placement.hosts))
    ranks_of = ranks_by_host(placement)
    used = [host for host, ranks in enumerate(ranks_of) if ranks.size]
    blocks: Blocks = []
    hosts: list[str] = []
    # Neighbours share a row where hosts are many; few hosts have a row for each rank, or nearly.
    for group in split_evenly(len(used), MAX_CELLS):
        members = [used[place] for place in group]
        ranks = np.concatenate([ranks_of[host] for host in members])
        per_group = max(1, MAX_CELLS // len(used)) if len(members) == 1 else 1
        parts = [ranks[part] for part in split_evenly(len(ranks), per_group)]
        blocks += parts
        hosts += [block_labels(names, [np.array(members)])[0]] * len(parts)
    labels = [f"{_ranks(block)} on {host}" for block, host in zip(blocks, hosts, strict=True)]
    cells = sum_blocks(sent, blocks)
    note = "Lines are the borders of hosts; what lies in the blocks on the diagonal stays inside."
    if len(used) > MAX_CELLS:
        note = "A row holds neighbouring hosts; what lies on the diagonal stays among them."
    return _Grouped(
        title,
        note,
        cells,
        labels,
        hosts,
        f"Heatmap of the same bytes with the ranks in the order of the {len(used)} hosts that "
        f"{placement.method} places them on; the table has what stays inside.",
        _table_of_hosts(cells, hosts),
    )


def _table_of_hosts(cells: Matrix, hosts: list[str]) -> ChartTable:
    """What stays inside each host, leaves it and comes to it."""
    names = list(dict.fromkeys(hosts))
    place = {name: index for index, name in enumerate(names)}
    of_row = np.array([place[host] for host in hosts])
    total = np.zeros((len(names), len(names)))
    np.add.at(total, (of_row[:, None], of_row[None]), cells)
    inside = np.diag(total)
    columns = inside, total.sum(axis=1) - inside, total.sum(axis=0) - inside
    return ChartTable(
        ["host", "stays inside", "sent to others", "received from others"],
        [
            [name, *(format_size(float(column[row])) for column in columns)]
            for row, name in enumerate(names)
        ],
    )


def _ranks(block: npt.NDArray[np.int64]) -> str:
    if len(block) == 1:
        return f"rank {block[0]}"
    text = rank_ranges(sorted(block.tolist()))
    if len(text) > MAX_RANKS_TEXT:
        return f"ranks {block.min()} … {block.max()} ({len(block)})"
    return f"ranks {text}"


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
        group.summary,
        group.table,
        is_coarse=len(group.labels) <= MAX_COARSE_CELLS,
    )


def _rank_ticks(labels: list[str]) -> dict[str, Any]:
    step = max(1, -(-len(labels) // 8))
    rows = list(range(0, len(labels), step))
    # "rank 12" and "ranks 12-15" both read as 12 next to the chart.
    first = [labels[row].split()[1].split("-")[0].rstrip(",") for row in rows]
    return {"tickvals": rows, "ticktext": first}


def _host_ticks(hosts: list[str]) -> dict[str, Any]:
    names = list(dict.fromkeys(hosts))
    step = max(1, -(-len(names) // 16))
    shown = names[::step]
    middles = [
        float(np.mean([row for row, host in enumerate(hosts) if host == name])) for name in shown
    ]
    return {"tickvals": middles, "ticktext": [escape(name) for name in shown], "ticks": ""}


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
