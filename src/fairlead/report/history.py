# SPDX-License-Identifier: Apache-2.0
"""The past runs of a program on the page: predicted and measured times by placement."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairlead.errors import InputError
from fairlead.files.run_directory import HISTORY
from fairlead.report.charts import Chart, escape
from fairlead.report.page_table import table
from fairlead.report.palette import BLUE, ORANGE
from fairlead.report.scales import SECONDS, common_scale, human
from fairlead.watch.history import History, RunTime

MAX_RUNS = 200
"""Most runs that are shown, the latest ones."""
COLUMNS = ("run", "placement", "predicted", "measured", "measured / predicted", "afterwards")


class RunRecord(NamedTuple):
    """One run of the program with the same arguments, ranks and hosts.

    Attributes:
        when: Its start, with time zone.
        placement: Name of its placement, such as "launcher" or "optimize", "optimize 2" for the
            second that this method found; with ", tuned" where collectives followed schedules, and
            ", relayed" where messages could be relayed.
        predicted_s: Predicted time; None without a prediction.
        measured_s: Measured time.
        outcome: Result for the placement: "kept", "dropped", "in turns" while it looks slower in
            too few runs, "traced" for the traced run, "shared" where another run had its hosts,
            or empty.
    """

    when: datetime.datetime
    placement: str
    predicted_s: float | None
    measured_s: float
    outcome: str = ""


def history_of(run: Path) -> Sequence[RunRecord]:
    """Runs of the program of this run folder up to that run, in order of time.

    A folder whose history is missing or damaged has none; the page shows the rest.
    """
    try:
        return records(History.load(run / HISTORY))
    except InputError:
        return ()


def records(history: History) -> list[RunRecord]:
    """Each run with the result for its placement."""
    dropped = history.find_dropped()
    placed = zip(history.runs, _names(history.runs), strict=True)
    return [
        RunRecord(
            one.when,
            _combination(name, one),
            one.predicted_s,
            one.seconds,
            _outcome(one, history, dropped),
        )
        for one, name in placed
    ]


def _combination(name: str, run: RunTime) -> str:
    levers = {"tuned": run.is_tuned, "relayed": run.is_relayed, "other CPUs": run.is_inside}
    return ", ".join([name, *(lever for lever, is_used in levers.items() if is_used)])


def _names(runs: Sequence[RunTime]) -> list[str]:
    """Name of each run's placement: its method, with a number from its second placement on."""
    found: dict[str, list[tuple[str, ...] | None]] = {}
    names = []
    for run in runs:
        same_method = found.setdefault(run.method, [])
        if run.host_of_rank not in same_method:
            same_method.append(run.host_of_rank)
        number = same_method.index(run.host_of_rank) + 1
        names.append(run.method if number == 1 else f"{run.method} {number}")
    return names


def _outcome(run: RunTime, history: History, dropped: Collection[tuple[str, ...]]) -> str:
    if run.is_shared:
        return "shared"
    if run.is_relayed:
        return "dropped" if history.is_relaying_dropped(run.host_of_rank) else "kept"
    if run.is_inside:
        return "dropped" if history.is_inside_dropped(run.host_of_rank) else "kept"
    if run.host_of_rank is None:
        return "traced" if run.is_traced else ""
    if run.host_of_rank in dropped:
        return "dropped"
    return "in turns" if history.compare_placement(run.host_of_rank).is_suspect else "kept"


def history_sentences(runs: Sequence[RunRecord]) -> list[str]:
    """How the placements compare, in the median of their runs; the most used first."""
    times: dict[str, list[float]] = {}
    for run in runs:
        times.setdefault(run.placement, []).append(run.measured_s)
    middle = {placement: statistics.median(measured) for placement, measured in times.items()}
    found = [
        f"{placement}: {human(middle[placement], SECONDS)} in the median of {_count(measured)}"
        for placement, measured in sorted(times.items(), key=lambda item: -len(item[1]))
    ]
    sentences = [f"{'; '.join(found)}."]
    base = middle.get("launcher")
    if base is not None:
        sentences += [
            f"With {placement} the program was {base / time_s:.2f} times as fast as with launcher."
            for placement, time_s in middle.items()
            if placement != "launcher"
        ]
    dropped = sorted({run.placement for run in runs if run.outcome == "dropped"})
    if dropped:
        named = ", ".join(dropped)
        sentences.append(f"Proved slower, and left out until network or load change: {named}.")
    return sentences


def history_table(runs: Sequence[RunRecord]) -> str:
    """HTML: one line per run, the latest first."""
    rows = []
    for run in list(reversed(runs))[:MAX_RUNS]:
        predicted_s = run.predicted_s
        rows.append(
            [
                run.when.isoformat(sep=" ", timespec="minutes"),
                run.placement,
                "–" if predicted_s is None else human(predicted_s, SECONDS),
                human(run.measured_s, SECONDS),
                f"{run.measured_s / predicted_s:.2f}" if predicted_s else "–",
                run.outcome,
            ]
        )
    return table("Past runs of this program, the latest first", COLUMNS, rows)


def history_chart(runs: Sequence[RunRecord]) -> Chart:
    """Measured times in order, one colour per placement, with the predicted times."""
    shown = list(runs)[-MAX_RUNS:]
    scale = common_scale([run.measured_s for run in shown], SECONDS)
    placements = list(dict.fromkeys(run.placement for run in shown))
    traces = [
        _trace(shown, placement, symbol, color, scale.factor)
        for placement, (symbol, color) in zip(placements, _styles(len(placements)), strict=True)
    ]
    predicted = [
        (number, run.predicted_s / scale.factor)
        for number, run in enumerate(shown, 1)
        if run.predicted_s is not None
    ]
    if predicted:
        traces.append(
            {
                **{"type": "scatter", "mode": "markers", "name": "predicted"},
                "x": [number for number, _ in predicted],
                "y": [time for _, time in predicted],
                "hovertemplate": f"predicted<br>%{{y:.3r}} {scale.unit}<extra></extra>",
                "marker": {"symbol": "line-ew-open", "size": 14, "color": "#808890"},
            }
        )
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": "run, in order of time"}, "automargin": True, "nticks": 8},
        "yaxis": {
            "title": {"text": f"Time ({scale.unit})"},
            **{"rangemode": "tozero", "automargin": True, "nticks": 7},
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        "showlegend": True,
    }
    return Chart(
        "Times of past runs",
        "Each dot is a run; a dash is what was predicted for it.",
        {"data": traces, "layout": layout},
        f"The times of {len(shown)} runs in order; the table below has them all.",
        height_px=320,
    )


def _trace(
    runs: Sequence[RunRecord], placement: str, symbol: str, color: str, factor: float
) -> dict[str, Any]:
    own = [(number, run) for number, run in enumerate(runs, 1) if run.placement == placement]
    return {
        **{"type": "scatter", "mode": "markers", "name": escape(placement)},
        "x": [number for number, _ in own],
        "y": [run.measured_s / factor for _, run in own],
        "text": [f"{escape(placement)}, {run.when:%Y-%m-%d %H:%M}" for _, run in own],
        "hovertemplate": "%{text}<br>%{y:.3r}<extra></extra>",
        "marker": {"symbol": symbol, "color": color, "size": 9},
    }


def _styles(count: int) -> list[tuple[str, str]]:
    """Colours and symbols; a colour repeats only with another symbol."""
    colors = (BLUE, ORANGE, "#1f9e89", "#cc79a7")
    symbols = ("circle", "diamond", "square", "cross", "triangle-up", "star")
    return [
        (symbols[(index // len(colors)) % len(symbols)], colors[index % len(colors)])
        for index in range(count)
    ]


def _count(measured: Sequence[float]) -> str:
    return "1 run" if len(measured) == 1 else f"{len(measured)} runs"
