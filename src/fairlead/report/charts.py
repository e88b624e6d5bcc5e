# SPDX-License-Identifier: Apache-2.0
"""Common parts of all charts of the page: title, drawing, escaped names."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.report.palette import VIRIDIS
from fairlead.report.scales import BYTES, Scale, round_text

Matrix = npt.NDArray[np.float64]

MAX_LABELED_CELLS = 12
"""Most rows with numbers in the cells."""
LOG_FROM_RATIO = 30
"""From this ratio of largest to smallest value on, colours follow the logarithm."""
DECIMAL_BASE, BINARY_BASE = 10, 32
"""Steps of the ticks on a logarithmic colour bar; two binary ones lead to the next unit of size."""
MOST_TICKS = 5
NOISY = "~"
"""Mark of a value that is only roughly known."""
COLORS = [[index / (len(VIRIDIS) - 1), color] for index, color in enumerate(VIRIDIS)]


class ChartTable(NamedTuple):
    """Values of a chart as text, for readers who cannot see it: a column of names, then numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Chart(NamedTuple):
    """One drawing of the page.

    Attributes:
        title: Heading above it, plain text.
        note: How to read it, plain text.
        figure: `data` and `layout` for Plotly.
        summary: What it shows, plain text, instead of the drawing.
        table: Its values, or the most important ones; None if another table has them.
        height_px: Fixed height; None for a square.
        is_coarse: Whether a third of the page's width is enough.
    """

    title: str
    note: str
    figure: dict[str, Any]
    summary: str
    table: ChartTable | None = None
    height_px: int | None = None
    is_coarse: bool = False


class ColorRange(NamedTuple):
    """One colour scale for all values that readers compare.

    Attributes:
        low, high: Ends of the scale, in the unit of `scale`.
        is_log: Whether colours follow the logarithm.
        scale: Unit of the values.
    """

    low: float
    high: float
    is_log: bool
    scale: Scale

    @classmethod
    def of(cls, matrices: Sequence[Matrix], scale: Scale) -> ColorRange:
        """The range of all finite, positive values of the matrices (in base units)."""
        flat = np.concatenate([np.ravel(matrix) for matrix in matrices]) / scale.factor
        usable = flat[np.isfinite(flat) & (flat > 0)]
        if usable.size == 0:
            return cls(0.0, 1.0, False, scale)
        low, high = float(usable.min()), float(usable.max())
        is_log = high / low >= LOG_FROM_RATIO
        # Starting at zero, an even network looks even: its noise does not fill the whole scale.
        return cls(low if is_log else 0.0, high, is_log, scale)

    def positions(self, matrix: Matrix) -> Matrix:
        """Where each value (base units) lies on the scale's axis; `nan` where it has no colour."""
        values = np.where(np.isfinite(matrix) & (matrix > 0), matrix, np.nan) / self.scale.factor
        return np.asarray(np.log10(values) if self.is_log else values)

    def ends(self) -> tuple[float, float]:
        """`low` and `high` as positions."""
        return (np.log10(self.low), np.log10(self.high)) if self.is_log else (self.low, self.high)

    def ticks(self) -> dict[str, Any]:
        """Ticks of the colour bar: round values, named in the unit."""
        if not self.is_log:
            return {"nticks": 5, "ticksuffix": f" {self.scale.unit}"}
        base = BINARY_BASE if self.scale in BYTES else DECIMAL_BASE
        ends = np.log([self.low, self.high]) + np.log(self.scale.factor)
        # A round end is a tick, too, whatever its logarithm is rounded to.
        first, last = (
            np.ceil(ends[0] / np.log(base) - 1e-9),
            np.floor(ends[1] / np.log(base) + 1e-9),
        )
        step = max(1, int(np.ceil((last - first + 1) / MOST_TICKS)))
        values = [float(base) ** power for power in np.arange(first, last + 1, step)]
        return {
            "tickvals": [float(np.log10(value / self.scale.factor)) for value in values],
            "ticktext": [round_text(value, self.scale) for value in values],
        }


def escape(name: str) -> str:
    """A name escaped for Plotly, so that mark-up in it (`<b>`, `<a href>`) is shown as text."""
    return html.escape(name, quote=False)


def short_names(names: Sequence[str], max_length: int = 18) -> list[str]:
    """Names that fit next to a chart: without a shared domain, shortened while still distinct."""
    domains = {name.partition(".")[2] for name in names}
    bare = [name.partition(".")[0] for name in names]
    if (
        len(domains) > 1
        or len(set(bare)) < len(names)
        or any(re.fullmatch(r"\d+", b) for b in bare)
    ):
        bare = list(names)
    half = (max_length - 1) // 2
    cut = [b if len(b) <= max_length else f"{b[:half]}…{b[-half:]}" for b in bare]
    return cut if len(set(cut)) == len(names) else bare


def heatmap(
    matrix: Matrix,
    labels: Sequence[str],
    colors: ColorRange,
    *,
    quantity: str,
    axis: str,
    empty: str,
    is_low_bright: bool = False,
    is_noisy: npt.NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    """Data and layout of a square heatmap.

    Args:
        matrix: Values in base units, shape (n, n), [src, dst].
        labels: Name of each row and column, length n, all distinct.
        colors: The colour scale, shared by all heatmaps of the quantity.
        quantity: Name of the value under the pointer.
        axis: What rows and columns are, for example "host".
        empty: Shown where a cell has no value.
        is_low_bright: Draw small values bright.
        is_noisy: Cells to mark as uncertain, shape (n, n).
    """
    marked = np.zeros(matrix.shape, dtype=bool) if is_noisy is None else is_noisy
    names = [escape(label) for label in labels]
    hover = [
        [
            colors.scale.with_unit(value) if np.isfinite(value) and value > 0 else empty
            for value in row
        ]
        for row in matrix
    ]
    low, high = colors.ends()
    trace = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": _plain(colors.positions(matrix)),
        "zmin": low,
        "zmax": high,
        "customdata": hover,
        "hovertemplate": f"%{{y}} → %{{x}}<br>{quantity}: %{{customdata}}<extra></extra>",
        "colorscale": COLORS,
        "reversescale": is_low_bright,
        "colorbar": {
            "orientation": "h",
            **{"x": 0.5, "y": 1.0, "yref": "container", "yanchor": "top"},
            **{"thickness": 10, "len": 1.0},
            "outlinewidth": 0,
            **colors.ticks(),
        },
    }
    traces = [trace]
    if len(names) <= MAX_LABELED_CELLS:
        trace["text"] = [
            [_cell_text(value, mark, colors.scale) for value, mark in zip(row, marks, strict=True)]
            for row, marks in zip(matrix, marked, strict=True)
        ]
        trace["texttemplate"] = "%{text}"
    elif marked.any():
        traces.append(_marks(marked, names))
    side = {"type": "category", "constrain": "domain", "showgrid": False, "automargin": True}
    return {
        "data": traces,
        "layout": {
            "xaxis": {**side, "title": {"text": f"to {axis}", "standoff": 12}},
            "yaxis": {
                **side,
                **{"title": {"text": f"from {axis}", "standoff": 12}, "autorange": "reversed"},
                **{"scaleanchor": "x", "constraintoward": "top"},
            },
            "margin": {"l": 10, "r": 10, "t": 38, "b": 10},
        },
    }


def _cell_text(value: float, is_noisy: bool, scale: Scale) -> str:
    if not (np.isfinite(value) and value > 0):
        return ""
    return f"{NOISY}{scale.text(value)}" if is_noisy else scale.text(value)


def _marks(marked: npt.NDArray[np.bool_], names: Sequence[str]) -> dict[str, Any]:
    """Dots on the uncertain cells, light in a dark rim, visible on every colour."""
    rows, columns = np.nonzero(marked)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [names[int(column)] for column in columns],
        "y": [names[int(row)] for row in rows],
        "hoverinfo": "skip",
        "showlegend": False,
        "marker": {
            **{"symbol": "circle", "size": 4, "color": "#ffffff"},
            "line": {"color": "#000000", "width": 1},
        },
    }


def as_script_data(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(matrix: Matrix) -> list[list[float | None]]:
    return [[round(float(v), 6) if np.isfinite(v) else None for v in row] for row in matrix]
