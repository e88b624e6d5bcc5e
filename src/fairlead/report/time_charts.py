# SPDX-License-Identifier: Apache-2.0
"""Chart of measured times: every run of every method, with mean and interval."""

from __future__ import annotations

import math
from typing import Any

from fairlead.flows.compare.comparison import Comparison
from fairlead.report.charts import Chart, escaped
from fairlead.report.palette import BLUE, ORANGE
from fairlead.report.scales import SECONDS, Scale, common_scale

ROW_PX = 52


def time_charts(comparison: Comparison) -> list[Chart]:
    """The measured times, methods in the order of the comparison."""
    methods = list(comparison.methods)
    means = [comparison.time_s(method).value for method in methods]
    scale = common_scale(means, SECONDS)
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": f"Measured time ({scale.unit})"},
            **{"rangemode": "tozero", "automargin": True, "nticks": 8},
        },
        "yaxis": {
            "tickvals": list(range(len(methods))),
            "ticktext": [escaped(method) for method in methods],
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
            f"The {comparison.time_source()}; shorter is better. The dashed line is the mean of "
            f"{comparison.baseline}.",
            {"data": [_runs(comparison, scale), _means(comparison, scale)], "layout": layout},
            f"The {len(methods)} methods with every run and its mean; the table below has them.",
            None,
            120 + ROW_PX * len(methods),
        )
    ]


def _runs(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    times, rows, texts = [], [], []
    for row, (method, runs) in enumerate(comparison.methods.items()):
        for repeat, time_s in enumerate(runs.times_s):
            times.append(time_s / scale.factor)
            # A fixed pattern instead of random positions, so that the page of a run is always the
            # same.
            rows.append(row + 0.12 + 0.08 * (repeat % 3 - 1))
            texts.append(f"{escaped(method)}, run {repeat + 1}")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "single run",
        **{"x": times, "y": rows, "text": texts},
        "hovertemplate": f"%{{text}}<br>%{{x:.3r}} {scale.unit}<extra></extra>",
        "marker": {"color": BLUE, "size": 7, "opacity": 0.7},
    }


def _means(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    means = [comparison.time_s(method) for method in comparison.methods]
    half = [0.0 if math.isnan(m.high) else (m.high - m.value) / scale.factor for m in means]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "mean, 95 % interval",
        "x": [m.value / scale.factor for m in means],
        "y": [row - 0.2 for row in range(len(means))],
        "text": [escaped(method) for method in comparison.methods],
        "hovertemplate": f"%{{text}}, mean<br>%{{x:.3r}} {scale.unit}<extra></extra>",
        "error_x": {"type": "data", "array": half, "color": ORANGE, "thickness": 2, "width": 6},
        "marker": {"color": ORANGE, "size": 9, "symbol": "diamond"},
    }


def _baseline_line(comparison: Comparison, scale: Scale) -> dict[str, Any]:
    mean = comparison.time_s(comparison.baseline).value / scale.factor
    return {
        "type": "line",
        **{"x0": mean, "x1": mean, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"},
        "line": {"color": "rgba(128,128,128,.9)", "width": 1.2, "dash": "dash"},
    }
