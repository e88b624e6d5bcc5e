# SPDX-License-Identifier: Apache-2.0
"""Chart of measured times: every run of every method, with mean and interval."""

from __future__ import annotations

import math
from typing import Any

from fairlead.flows.compare.comparison import Comparison
from fairlead.report.charts import Chart, escape
from fairlead.report.comparison_tables import method_title
from fairlead.report.palette import BLUE, ORANGE
from fairlead.report.scales import SECONDS, Scale, common_scale

ROW_PX = 52


def time_charts(comparison: Comparison) -> list[Chart]:
    """The measured times, methods in the order of the comparison."""
    methods = list(comparison.distinct())
    means = [comparison.time_s(method).value for method in methods]
    scale = common_scale(means, SECONDS)
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": f"Measured time ({scale.unit})"},
            **{"rangemode": "tozero", "automargin": True, "nticks": 8},
        },
        "yaxis": {
            "tickvals": list(range(len(methods))),
            "ticktext": [escape(method_title(comparison, method)) for method in methods],
            **{
                "range": [len(methods) - 0.5, -0.6],
                "automargin": True,
                "showgrid": False,
                "zeroline": False,
            },
        },
        "shapes": [_baseline_line(comparison, scale)],
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 10, "r": 20, "t": 40, "b": 10},
    }
    return [
        Chart(
            "Measured time of each method",
            f"The {comparison.time_source()}; shorter is better. Means are geometric. The dashed "
            f"line is that of {comparison.baseline}.",
            {"data": [_runs(comparison, scale), _means(comparison, scale)], "layout": layout},
            f"The {len(methods)} methods with every run and its mean; the table below has them.",
            None,
            120 + ROW_PX * len(methods),
        )
    ]


def _runs(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    times, rows, texts = [], [], []
    for row, method in enumerate(comparison.distinct()):
        runs = comparison.methods[method]
        for repeat, time_s in enumerate(runs.times_s):
            times.append(time_s / scale.factor)
            # A fixed pattern instead of random positions, so that the page of a run is always the
            # same.
            rows.append(row + 0.12 + 0.08 * (repeat % 3 - 1))
            texts.append(f"{escape(method)}, run {repeat + 1}")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "single run",
        **{"x": times, "y": rows, "text": texts},
        "hovertemplate": f"%{{text}}<br>%{{x:.3r}} {scale.unit}<extra></extra>",
        "marker": {"color": BLUE, "size": 7, "opacity": 0.7},
    }


def _means(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    means = [comparison.time_s(method) for method in comparison.distinct()]
    ends = [
        [0.0 if math.isnan(end) else abs(end - mean.value) / scale.factor for mean, end in side]
        for side in (
            [(mean, mean.high) for mean in means],
            [(mean, mean.low) for mean in means],
        )
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "mean, 95 % interval",
        "x": [m.value / scale.factor for m in means],
        "y": [row - 0.2 for row in range(len(means))],
        "text": [escape(method) for method in comparison.distinct()],
        "hovertemplate": f"%{{text}}, mean<br>%{{x:.3r}} {scale.unit}<extra></extra>",
        "error_x": {
            **{"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1]},
            **{"color": ORANGE, "thickness": 2, "width": 6},
        },
        "marker": {"color": ORANGE, "size": 9, "symbol": "diamond"},
    }


def _baseline_line(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    mean = comparison.time_s(comparison.baseline).value / scale.factor
    return {
        "type": "line",
        **{"x0": mean, "x1": mean, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"},
        "line": {"color": "rgba(128,128,128,.9)", "width": 1.2, "dash": "dash"},
    }
