# SPDX-License-Identifier: Apache-2.0
"""Charts of a network's pairs: their spread for each host, and every pair with its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.report.blocks import block_labels, split_evenly
from fairlead.report.charts import Chart, ChartTable, escape
from fairlead.report.network_view import between_hosts
from fairlead.report.palette import BLUE
from fairlead.report.quantities import Quantity
from fairlead.report.scales import Scale, human, three_digits
from fairlead.report.value_axis import ValueAxis

Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MAX_HOSTS_WITH_POINTS = 16
MAX_BOXES = 64
MAX_POINTS = 600
"""Most pairs that are drawn; of more, as many are taken evenly in order of their value."""
TABLE_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
HEIGHT_PX = 360
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}


def box_chart(quantity: Quantity, names: list[str], order: list[int]) -> Chart:
    """One box for the pairs from each host, or from each block of neighbours where they are many.

    Args:
        quantity: What to show.
        names: Host names, in the order of the network.
        order: Positions of the hosts as the heatmap shows them.
    """
    scale = quantity.scale()
    values = between_hosts(quantity.values)[order] / scale.factor
    blocks = split_evenly(len(order), MAX_BOXES)
    labels = block_labels([names[host] for host in order], blocks)
    of_block = [part[np.isfinite(part)] for part in (values[block].ravel() for block in blocks)]
    axis = ValueAxis.of(np.concatenate(of_block), np.empty(0), scale)
    shown = [(label, part) for label, part in zip(labels, of_block, strict=True) if part.size]
    if len(names) <= MAX_HOSTS_WITH_POINTS:
        traces = [_box_of_points(quantity, names, order, scale)]
        ends = ""
    else:
        traces = [_box_of_quartiles(shown, scale)]
        ends = " Whiskers end at the smallest and the largest value."
    layout: dict[str, Any] = {
        "xaxis": {"type": "category", "title": {"text": "from host"}, "automargin": True},
        "yaxis": axis.layout(quantity.name),
        **{"margin": MARGIN, "showlegend": False},
    }
    return Chart(
        f"{quantity.name} of the pairs of each host",
        "Each box holds the middle half of the pairs from that host; its line is the median."
        + ends,
        {"data": traces, "layout": layout},
        f"Box plot of the {quantity.name.lower()} from each host to the others; the table has its "
        "values.",
        ChartTable(
            ["from host", *(f"{text} ({scale.unit})" for text in ("least", "median", "most"))],
            [
                [label, *(_number(q) for q in np.quantile(part, [0, 0.5, 1]))]
                for label, part in shown
            ],
        ),
        HEIGHT_PX,
    )


def _box_of_points(
    quantity: Quantity, names: list[str], order: list[int], scale: Scale
) -> dict[str, Any]:
    values = between_hosts(quantity.values) / scale.factor
    pairs = [
        (src, dst) for src in order for dst in range(len(names)) if np.isfinite(values[src, dst])
    ]
    return {
        **_BOX,
        "x": [escape(names[src]) for src, _ in pairs],
        "y": [float(values[pair]) for pair in pairs],
        "text": [_pair(names, *pair) for pair in pairs],
        "hovertemplate": f"%{{text}}<br>%{{y:.3r}} {scale.unit}<extra></extra>",
        **{"hoveron": "points", "boxpoints": "all", "jitter": 0.5, "pointpos": 0},
    }


def _box_of_quartiles(shown: list[tuple[str, Vector]], scale: Scale) -> dict[str, Any]:
    """A few numbers instead of every pair, so that a page of a thousand hosts opens fast."""
    quartiles = [np.quantile(part, [0, 0.25, 0.5, 0.75, 1]).tolist() for _, part in shown]
    names = ("lowerfence", "q1", "median", "q3", "upperfence")
    return {
        **_BOX,
        "x": [escape(label) for label, _ in shown],
        **{name: [row[index] for row in quartiles] for index, name in enumerate(names)},
        "yhoverformat": ".3g",
        "hoverlabel": {"namelength": 0},
        "name": scale.unit,
    }


_BOX: dict[str, Any] = {
    "type": "box",
    "line": {"width": 1.5},
    "fillcolor": "rgba(47,143,206,.16)",
    "marker": {"color": BLUE, "size": 4, "opacity": 0.75},
}


def interval_chart(quantity: Quantity, names: list[str], estimated: npt.NDArray[np.bool_]) -> Chart:
    """Every pair in the order of its value, with its interval.

    Args:
        quantity: What to show; its intervals are known.
        names: Host names, in the order of the network.
        estimated: Pairs that were not measured, shape (H, H).
    """
    scale = quantity.scale()
    values, low, high = (
        np.asarray(part) / scale.factor for part in (quantity.values, quantity.low, quantity.high)
    )
    src, dst = np.nonzero(np.isfinite(between_hosts(values)))
    order = np.argsort(values[src, dst], kind="stable")
    src, dst = src[order], dst[order]
    num_pairs = len(order)
    drawn = np.unique(np.linspace(0, max(0, num_pairs - 1), MAX_POINTS).astype(np.int64))
    drawn = drawn[drawn < num_pairs]
    cells = src[drawn], dst[drawn]
    axis = ValueAxis.of(values[cells], high[cells], scale)
    notes = ["Bars are the 95 % intervals of the measurement; steps show groups of like pairs."]
    if len(drawn) < num_pairs:
        notes.append(f"{len(drawn)} of {num_pairs} pairs are drawn, evenly in order.")
    is_cut = np.nan_to_num(high[cells]) > axis.high
    if is_cut.any():
        longest = human(float(np.nanmax(high[cells])) * scale.factor, quantity.family)
        notes.append(
            f"Arrow heads: {np.count_nonzero(is_cut)} "
            f"{'interval goes' if is_cut.sum() == 1 else 'intervals go'} on, up to {longest}."
        )
    if estimated[cells].any():
        notes.append("Rings are estimates with their error bars.")
    dots = _dots(drawn, values[cells], low[cells], high[cells], axis)
    dots["text"] = [
        f"{_pair(names, a, b)}<br>{_interval(values[a, b], low[a, b], high[a, b], scale)}"
        for a, b in zip(*cells, strict=True)
    ]
    # An estimate is an open ring.
    dots["marker"]["symbol"] = ["circle-open" if ring else "circle" for ring in estimated[cells]]
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": "pair, in order of its value"},
            "automargin": True,
            "nticks": 8,
        },
        "yaxis": axis.layout(quantity.name),
        **{"margin": MARGIN, "showlegend": False},
    }
    traces = [dots] + ([_arrow_heads(drawn[is_cut], axis)] if is_cut.any() else [])
    return Chart(
        f"{quantity.name} of every pair",
        " ".join(notes),
        {"data": traces, "layout": layout},
        f"The {quantity.name.lower()} of {num_pairs} pairs in order of its value, with intervals; "
        "the table has the pairs at some places of that order.",
        _quantile_table(names, (values, low, high), (src, dst), scale),
        HEIGHT_PX,
    )


def _dots(
    places: Indices, middle: Vector, low: Vector, high: Vector, axis: ValueAxis
) -> dict[str, Any]:
    above = axis.cut(np.where(np.isfinite(high), high, middle)) - middle
    below = middle - axis.cut(np.where(np.isfinite(low), low, middle))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": (places + 1).tolist(),
        "y": middle.tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "error_y": {
            "type": "data",
            "array": np.maximum(above, 0).tolist(),
            "arrayminus": np.maximum(below, 0).tolist(),
            **{"symmetric": False, "width": 0, "thickness": 1.5, "color": "rgba(47,143,206,.45)"},
        },
        "marker": {"color": BLUE, "size": 5},
    }


def _arrow_heads(places: Indices, axis: ValueAxis) -> dict[str, Any]:
    """Marks where an interval continues beyond the axis."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": (places + 1).tolist(),
        "y": [axis.high] * len(places),
        "hoverinfo": "skip",
        "cliponaxis": False,
        "marker": {"symbol": "triangle-up", "size": 7, "color": BLUE},
    }


def _quantile_table(
    names: list[str],
    measured: tuple[Vector, Vector, Vector],
    cells: tuple[Indices, Indices],
    scale: Scale,
) -> ChartTable:
    """The pairs at some places of the order, from the smallest to the largest value."""
    values, low, high = measured
    last = len(cells[0]) - 1
    places = sorted({round(last * part) for part in TABLE_QUANTILES}) if last >= 0 else []
    return ChartTable(
        ["pair", "place", f"value ({scale.unit})", f"95 % interval ({scale.unit})"],
        [
            [
                f"{names[src]} → {names[dst]}",
                f"{place + 1} of {last + 1}",
                _number(values[src, dst]),
                f"{_number(low[src, dst])} to {_number(high[src, dst])}",
            ]
            for place in places
            for src, dst in [(cells[0][place], cells[1][place])]
        ],
    )


def _pair(names: list[str], src: int, dst: int) -> str:
    return f"{escape(names[src])} → {escape(names[dst])}"


def _interval(value: float, low: float, high: float, scale: Scale) -> str:
    return f"{_number(value)} {scale.unit} ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    return three_digits(float(value))
