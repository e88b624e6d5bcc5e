# SPDX-License-Identifier: Apache-2.0
"""Charts of a measured network: heatmaps, spread per host, and every pair with its interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.network import Network
from fairlead.report.charts import Chart, ColorRange, harmless, heatmap, short_names
from fairlead.report.contention_view import blocks, host_order, title
from fairlead.report.network_view import between_hosts
from fairlead.report.palette import BLUE
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, Scale, common_scale

Matrix = npt.NDArray[np.float64]

MAX_HOSTS_WITH_POINTS = 16
BLOCK_COLORS = ("#e4572e", "#ff4fd8", "#17becf", "#f2f2f2")
"""Frames that stand out from every colour of the heatmap."""


class Quantity(NamedTuple):
    """One measured quantity of the network."""

    name: str
    values: Matrix
    low: Matrix | None
    high: Matrix | None
    family: tuple[Scale, ...]
    is_low_bright: bool

    def scale(self) -> Scale:
        """The unit of every chart of this quantity."""
        return common_scale(between_hosts(self.values), self.family)


def quantities(network: Network) -> list[Quantity]:
    """Latency and bandwidth."""
    return [
        Quantity(
            "Latency",
            network.latency_s,
            network.latency_low_s,
            network.latency_high_s,
            SECONDS,
            True,
        ),
        Quantity(
            "Bandwidth",
            network.bandwidth_Bps,
            network.bandwidth_low_Bps,
            network.bandwidth_high_Bps,
            BYTES_PER_SECOND,
            False,
        ),
    ]


def network_charts(network: Network) -> list[Chart]:
    """All charts of the network, in the order of the page."""
    names = short_names(list(network.hosts))
    shown = quantities(network)
    charts = [_heatmap(quantity, names, network) for quantity in shown]
    charts += [_boxes(quantity, names) for quantity in shown if network.num_hosts > 2]
    charts += [
        _intervals(q, names, network.is_estimated())
        for q in shown
        if q.low is not None and q.high is not None
    ]
    return charts


def _heatmap(quantity: Quantity, names: list[str], network: Network) -> Chart:
    colors = ColorRange.of([between_hosts(quantity.values)], quantity.scale())
    order = host_order(network)
    figure = heatmap(
        quantity.values[np.ix_(order, order)],
        [names[host] for host in order],
        colors,
        quantity=quantity.name,
        axis="host",
        empty="not measured",
        is_low_bright=quantity.is_low_bright,
    )
    note = "Bright is fast. Grey was not measured, or is the host itself."
    if network.groups:
        figure["layout"]["shapes"] = _outlines(network, order)
        note += " Each outlined block is a group of pairs that share one bottleneck; hosts are in "
        note += "the order of the groups."
    estimated = network.is_estimated()
    if estimated.any():
        note += " The pointer tells which pairs are estimates."
        hover = figure["data"][0]["customdata"]
        for row, column in np.argwhere(estimated[np.ix_(order, order)]):
            hover[row][column] += _error_bar(quantity, order[row], order[column])
    return Chart(f"{quantity.name} from host to host ({colors.scale.unit})", note, figure)


def _outlines(network: Network, order: list[int]) -> list[dict[str, Any]]:
    """A frame around the cells of each group, in the order of the heatmap."""
    return [
        {
            "type": "rect",
            **{"x0": block.first_column - 0.5, "x1": block.last_column + 0.5},
            **{"y0": block.first_row - 0.5, "y1": block.last_row + 0.5},
            "line": {"color": BLOCK_COLORS[block.group % len(BLOCK_COLORS)], "width": 3},
            "name": harmless(title(network, network.groups[block.group])),
        }
        for block in blocks(network, order)
    ]


def _error_bar(quantity: Quantity, src: int, dst: int) -> str:
    """What the pointer tells of an estimated pair, after its value."""
    if quantity.low is None or quantity.high is None:
        return ", estimated"
    scale = quantity.scale()
    low, high = (scale.with_unit(float(side[src, dst])) for side in (quantity.low, quantity.high))
    return f", estimated, 95 % error bar {low} to {high}"


def _boxes(quantity: Quantity, names: list[str]) -> Chart:
    scale = quantity.scale()
    src, dst = np.nonzero(np.isfinite(between_hosts(quantity.values)))
    few = len(names) <= MAX_HOSTS_WITH_POINTS
    box = {
        "type": "box",
        "x": [harmless(names[host]) for host in src],
        "y": (quantity.values[src, dst] / scale.factor).tolist(),
        "text": [
            f"{harmless(names[a])} → {harmless(names[b])}" for a, b in zip(src, dst, strict=True)
        ],
        "hovertemplate": f"%{{text}}<br>%{{y:.3g}} {scale.unit}<extra></extra>",
        "hoveron": "points" if few else "boxes+points",
        "boxpoints": "all" if few else "outliers",
        **{
            "jitter": 0.5,
            "pointpos": 0,
            "line": {"width": 1.5},
            "fillcolor": "rgba(47,143,206,.16)",
        },
        "marker": {"color": BLUE, "size": 4, "opacity": 0.75},
    }
    layout: dict[str, Any] = {
        "xaxis": {"type": "category", "title": {"text": "from host"}, "automargin": True},
        "yaxis": _value_axis(quantity.name, scale),
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "showlegend": False,
    }
    return Chart(
        f"{quantity.name} of the pairs of each host",
        "Each box holds the middle half of the pairs from that host; its line is the median.",
        {"data": [box], "layout": layout},
        360,
    )


def _intervals(quantity: Quantity, names: list[str], estimated: npt.NDArray[np.bool_]) -> Chart:
    scale = quantity.scale()
    values, low, high = (
        np.asarray(part) / scale.factor for part in (quantity.values, quantity.low, quantity.high)
    )
    src, dst = np.nonzero(np.isfinite(between_hosts(values)))
    order = np.argsort(values[src, dst], kind="stable")
    src, dst = src[order], dst[order]
    middle = values[src, dst]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": list(range(1, len(middle) + 1)),
        "y": middle.tolist(),
        "text": [
            f"{harmless(names[a])} → {harmless(names[b])}" for a, b in zip(src, dst, strict=True)
        ],
        "hovertemplate": f"%{{text}}<br>%{{y:.3g}} {scale.unit}<extra></extra>",
        "error_y": {
            "type": "data",
            "array": np.nan_to_num(high[src, dst] - middle).tolist(),
            "arrayminus": np.nan_to_num(middle - low[src, dst]).tolist(),
            **{"symmetric": False, "width": 0, "thickness": 1.5, "color": "rgba(47,143,206,.45)"},
        },
        # An estimate is an open ring.
        "marker": {
            "color": BLUE,
            "size": 5,
            "symbol": ["circle-open" if is_open else "circle" for is_open in estimated[src, dst]],
        },
    }
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": "pair, in order of its value"},
            "automargin": True,
            "nticks": 8,
        },
        "yaxis": _value_axis(quantity.name, scale),
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "showlegend": False,
    }
    return Chart(
        f"{quantity.name} of every pair",
        "Bars are the confidence intervals of the measurement; steps show groups of like pairs."
        + (" Rings are estimates with their error bars." if estimated.any() else ""),
        {"data": [dots], "layout": layout},
        360,
    )


def _value_axis(name: str, scale: Scale) -> dict[str, Any]:
    return {
        "title": {"text": f"{name} ({scale.unit})"},
        **{"rangemode": "tozero", "automargin": True, "nticks": 7},
    }
