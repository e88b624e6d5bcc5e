# SPDX-License-Identifier: Apache-2.0
"""The tables of a comparison on the page: measured times and predicted costs."""

from __future__ import annotations

import math

from fairlead.flows.compare.comparison import Comparison, RankAgreement
from fairlead.flows.compare.statistics import Interval
from fairlead.model.cost_names import COST_NAMES, PREDICTED_TIMES
from fairlead.report.cost_view import cost_text
from fairlead.report.page_table import table
from fairlead.report.scales import SECONDS, human, three_digits

MAX_INVERSIONS = 3


def table_of_runs(comparison: Comparison) -> str:
    """HTML: runs, times and relative speed of each method."""
    base = comparison.baseline
    columns = [
        *("method", "runs", "mean", "95 % interval", "standard deviation"),
        *(f"times as fast as {base}", "95 % interval"),
    ]
    rows = []
    for method in comparison.distinct():
        runs = comparison.methods[method]
        time_s, speed = comparison.time_s(method), speed_ratio(comparison, method)
        is_base = method == base
        rows.append(
            [
                *(
                    method_title(comparison, method),
                    str(len(runs.times_s)),
                    human(time_s.value, SECONDS),
                ),
                _interval(time_s, " s"),
                human(comparison.standard_deviation_s(method), SECONDS),
                "1" if is_base else f"{speed.value:.2f}",
                "" if is_base else _interval(speed),
            ]
        )
    fastest = list(comparison.distinct()).index(comparison.fastest())
    return table("Measured times of each method", columns, rows, fastest)


def table_of_predictions(comparison: Comparison) -> str:
    """HTML: predicted costs of each placement."""
    fields = [field for field in COST_NAMES if comparison.knows(field)]
    columns = ["method", *(COST_NAMES[field] for field in fields), "time to compute the placement"]
    rows = []
    for method in comparison.distinct():
        runs = comparison.methods[method]
        costs = [cost_text(field, getattr(runs.predicted, field)) for field in fields]
        rows.append(
            [method_title(comparison, method), *costs, cost_text("mapping_s", runs.mapping_s)]
        )
    return table("Predicted costs of each method", columns, rows)


def prediction_sentences(comparison: Comparison) -> list[str]:
    """Whether the predicted times order the methods as the measured ones do, in plain words."""
    return [
        text
        for name in PREDICTED_TIMES
        if comparison.knows(name)
        and (text := _prediction_sentence(comparison.agreement(name))) is not None
    ]


def _prediction_sentence(found: RankAgreement) -> str | None:
    if len(found.methods) < 2:
        return None
    name = COST_NAMES[found.prediction].capitalize()
    if len(found.ties) == math.comb(len(found.methods), 2):
        return f"{name}: no two methods differ by more than the noise, so none can be ranked."
    if not found.inversions:
        return f"{name}: orders the methods as measured, where they differ beyond the noise."
    wrong = [f"{fast} was faster than {slow}" for fast, slow in found.inversions[:MAX_INVERSIONS]]
    more = len(found.inversions) - MAX_INVERSIONS
    rest = f", and {more} more" if more > 0 else ""
    return f"{name}: is wrong on the order: {'; '.join(wrong)}{rest}."


def method_title(comparison: Comparison, method: str) -> str:
    """The method with those that place alike, such as "launcher, blocked"."""
    return ", ".join([method, *comparison.distinct().get(method, ())])


def speed_ratio(comparison: Comparison, method: str) -> Interval:
    """How many times as fast as the baseline, with its interval: the inverse of the time ratio."""
    ratio = comparison.time_ratio(method)
    return Interval(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)


def speed_words(speed: Interval) -> str:
    """Such as "1.50 times as fast (95 % interval 1.31 to 1.72)"."""
    text = f"{speed.value:.2f} times as fast"
    return text if math.isnan(speed.low) else f"{text} (95 % interval {_interval(speed)})"


def _interval(interval: Interval, unit: str = "") -> str:
    if math.isnan(interval.low):
        return "–"
    return f"{three_digits(interval.low)} to {three_digits(interval.high)}{unit}"
