# SPDX-License-Identifier: Apache-2.0
"""Charts of a measured network: a heatmap and the pairs of each quantity."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairlead.model.network import Network
from fairlead.report.blocks import Blocks, block_labels, reduce_blocks, split_evenly
from fairlead.report.charts import (
    MAX_LABELED_CELLS,
    NOISY,
    Chart,
    ChartTable,
    ColorRange,
    escape,
    heatmap,
    short_names,
)
from fairlead.report.contention_view import blocks as group_blocks
from fairlead.report.contention_view import title
from fairlead.report.host_order import HostOrder
from fairlead.report.network_view import between_hosts, spread
from fairlead.report.noise import NOISY_RATIO
from fairlead.report.pair_charts import box_chart, interval_chart
from fairlead.report.quantities import Quantity, quantities

MAX_CELLS = 128
"""Most rows of a heatmap; beyond it neighbouring hosts share a row, which shows their median."""
MAX_TABLE_HOSTS = 12
"""Most hosts whose matrix is also shown as a table; with more, each host has one line."""
BLOCK_COLORS = ("#e4572e", "#ff4fd8", "#17becf", "#f2f2f2")
"""Colours of frames that are visible on every colour of the heatmap."""


def network_charts(network: Network) -> list[Chart]:
    """All charts of the network, in the order of the page."""
    names = short_names(list(network.hosts))
    shown = quantities(network)
    order = HostOrder.of(network)
    charts = [_heatmap(quantity, names, network, order) for quantity in shown]
    if network.num_hosts > 2:
        charts += [box_chart(quantity, names, order.hosts) for quantity in shown]
    charts += [
        interval_chart(quantity, names, network.is_estimated())
        for quantity in shown
        if quantity.low is not None and quantity.high is not None
    ]
    return charts


def _heatmap(quantity: Quantity, names: list[str], network: Network, order: HostOrder) -> Chart:
    hosts = order.hosts
    ordered = [names[host] for host in hosts]
    grid = np.ix_(hosts, hosts)
    rows = _rows(order)
    is_whole = len(rows) == len(hosts)
    values = between_hosts(quantity.values)
    colors = ColorRange.of([values], quantity.scale())
    noisy = quantity.is_noisy()
    figure = heatmap(
        reduce_blocks((quantity.values if is_whole else values)[grid], rows, np.nanmedian),
        block_labels(ordered, rows),
        colors,
        quantity=quantity.name if is_whole else f"{quantity.name}, median",
        axis="host",
        empty="not measured",
        is_low_bright=quantity.is_low_bright,
        is_noisy=reduce_blocks(noisy[grid].astype(float), rows, np.mean) > 0.5,
    )
    frames = _rack_frames(order, rows)
    notes = ["Bright is fast. Grey was not measured, or is the host itself."]
    if order.racks:
        notes.append("Framed hosts are near one another: racks, as far as the measurement shows.")
    if not is_whole:
        notes.append(f"Each cell is the median of up to {len(rows[0])} by {len(rows[0])} hosts.")
    if network.groups and is_whole:
        frames += _group_frames(network, hosts)
        notes.append("Each coloured outline is a group of pairs that share one bottleneck.")
    if noisy.any():
        notes.append(_noise_note(noisy, len(rows)))
    estimated = network.is_estimated()
    if estimated.any() and is_whole:
        notes.append("The pointer shows which pairs are estimates.")
        hover = figure["data"][0]["customdata"]
        for row, column in np.argwhere(estimated[grid]):
            hover[row][column] += _error_bar(quantity, hosts[row], hosts[column])
    figure["layout"]["shapes"] = frames
    return Chart(
        f"{quantity.name} from host to host ({colors.scale.unit})",
        " ".join(notes),
        figure,
        _summary(quantity, names, order),
        _table(quantity, names, hosts),
    )


def _rows(order: HostOrder) -> Blocks:
    """Places of `order.hosts` that share a row: each its own where they are few."""
    num_hosts = len(order.hosts)
    if num_hosts <= MAX_CELLS:
        return split_evenly(num_hosts, num_hosts)
    rows: Blocks = []
    for first, last in order.parts():
        length = last - first + 1
        share = max(1, MAX_CELLS * length // num_hosts)
        rows += [first + block for block in split_evenly(length, share)]
    return rows


def _rack_frames(order: HostOrder, rows: Blocks) -> list[dict[str, Any]]:
    """A frame around each rack's own block, a light line in a dark rim."""
    row_of = {int(place): row for row, places in enumerate(rows) for place in places}
    return [
        _frame((row_of[first], row_of[last]), (row_of[first], row_of[last]), color, width)
        for first, last in order.rack_runs()
        for color, width in (("rgba(0,0,0,.85)", 4.5), ("#ffffff", 2))
    ]


def _group_frames(network: Network, hosts: list[int]) -> list[dict[str, Any]]:
    """A frame around the cells of each shared bottleneck, in the order of the heatmap."""
    return [
        {
            **_frame(
                (block.first_row, block.last_row),
                (block.first_column, block.last_column),
                BLOCK_COLORS[block.group % len(BLOCK_COLORS)],
                3,
            ),
            "name": escape(title(network, network.groups[block.group])),
        }
        for block in group_blocks(network, hosts)
    ]


def _frame(
    rows: tuple[int, int], columns: tuple[int, int], color: str, width: float
) -> dict[str, Any]:
    """Around the cells from the first to the last of both, included."""
    return {
        "type": "rect",
        **{"x0": columns[0] - 0.5, "x1": columns[1] + 0.5},
        **{"y0": rows[0] - 0.5, "y1": rows[1] + 0.5},
        "line": {"color": color, "width": width},
    }


def _noise_note(noisy: Any, num_rows: int) -> str:
    pairs = f"{np.count_nonzero(noisy)} of {noisy.size - len(noisy)} pairs"
    mark = f"{NOISY} marks" if num_rows <= MAX_LABELED_CELLS else "Dots mark"
    return f"{mark} what is uncertain ({pairs}): 95 % intervals over a factor of {NOISY_RATIO:.0f}."


def _error_bar(quantity: Quantity, src: int, dst: int) -> str:
    """Text under the pointer for an estimated pair, after its value."""
    if quantity.low is None or quantity.high is None:
        return ", estimated"
    low, high = (float(side[src, dst]) for side in (quantity.low, quantity.high))
    scale = quantity.scale()
    return f", estimated, 95 % error bar {scale.with_unit(low)} to {scale.with_unit(high)}"


def _summary(quantity: Quantity, names: list[str], order: HostOrder) -> str:
    """The heatmap as text."""
    found, scale = spread(quantity.values), quantity.scale()
    text = f"Heatmap of the {quantity.name.lower()} between {len(names)} hosts"
    if not np.isfinite(found.median):
        return f"{text}; nothing was measured."
    text += (
        f": {scale.with_unit(found.min)} to {scale.with_unit(found.max)}, median "
        f"{scale.with_unit(found.median)}."
    )
    if order.racks:
        racks = "; ".join(", ".join(names[host] for host in rack) for rack in order.racks)
        text += f" Hosts near one another: {racks}."
    return text


def _table(quantity: Quantity, names: list[str], hosts: list[int]) -> ChartTable:
    """The whole matrix of few hosts, or what each of many sends and receives in the median."""
    scale, noisy = quantity.scale(), quantity.is_noisy()
    values = between_hosts(quantity.values)
    if len(hosts) <= MAX_TABLE_HOSTS:
        return ChartTable(
            ["from \\ to", *(names[host] for host in hosts)],
            [
                [
                    names[src],
                    *(
                        NOISY * bool(noisy[src, dst]) + scale.text(values[src, dst])
                        for dst in hosts
                    ),
                ]
                for src in hosts
            ],
        )
    sent, received = _medians(values), _medians(values.T)
    return ChartTable(
        ["host", f"to others, median ({scale.unit})", f"from others, median ({scale.unit})"],
        [[names[host], scale.text(sent[host]), scale.text(received[host])] for host in hosts],
    )


def _medians(values: Any) -> list[float]:
    known = [row[np.isfinite(row)] for row in values]
    return [float(np.median(row)) if row.size else float("nan") for row in known]
