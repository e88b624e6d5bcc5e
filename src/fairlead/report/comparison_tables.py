# SPDX-License-Identifier: Apache-2.0
"""The tables of a comparison on the page: what was measured, and what the model said of it."""

from __future__ import annotations

import math

from fairlead.comparison import Comparison, RankAgreement
from fairlead.report.page_table import table
from fairlead.report.scales import BYTES, SECONDS, human, three_digits
from fairlead.statistics import Interval

PREDICTIONS = {
    "comm_time_s": "The time on the network by bytes alone",
    "serial_time_s": "The time on the network with latencies",
    "bottleneck_s": "The time of the busiest link",
    "bottleneck_and_mean_s": "The time of the busiest link with the mean one",
}
MAX_INVERSIONS = 3


def measured_table(comparison: Comparison) -> str:
    """HTML: runs, times and how fast each method was."""
    base = comparison.baseline
    columns = [
        *("method", "runs", "mean", "95 % interval", "standard deviation"),
        *(f"times as fast as {base}", "95 % interval"),
    ]
    rows = []
    for method, runs in comparison.methods.items():
        time_s, speed = comparison.time_s(method), speed_ratio(comparison, method)
        is_base = method == base
        rows.append(
            [
                *(method, str(len(runs.times_s)), human(time_s.value, SECONDS)),
                _interval(time_s, " s"),
                human(comparison.standard_deviation_s(method), SECONDS),
                "1" if is_base else f"{speed.value:.2f}",
                "" if is_base else _interval(speed),
            ]
        )
    fastest = list(comparison.methods).index(comparison.fastest())
    return table("Measured times of each method", columns, rows, fastest)


def predicted_table(comparison: Comparison) -> str:
    """HTML: what the model said of each placement before it ran."""
    columns = [
        *("method", "bytes between hosts", "inside hosts"),
        *("time on the network: bytes only", "with latencies", "of the busiest link"),
        *("of busiest and mean", "time to compute the placement"),
    ]
    rows = []
    for method, runs in comparison.methods.items():
        cost = runs.predicted
        amounts = (cost.inter_bytes, cost.intra_bytes)
        times = (
            *(cost.comm_time_s, cost.serial_time_s, cost.bottleneck_s),
            *(cost.bottleneck_and_mean_s, runs.mapping_s),
        )
        rows.append(
            [
                method,
                *("–" if amount is None else human(amount, BYTES) for amount in amounts),
                *("–" if time_s is None else human(time_s, SECONDS) for time_s in times),
            ]
        )
    return table("Predicted costs of each method", columns, rows)


def prediction_sentences(comparison: Comparison) -> list[str]:
    """Whether the predicted times order the methods as the measured ones do, in plain words."""
    return [
        text
        for name, words in PREDICTIONS.items()
        if (text := _prediction_sentence(comparison.agreement(name), words)) is not None
    ]


def _prediction_sentence(found: RankAgreement, words: str) -> str | None:
    if len(found.methods) < 2:
        return None
    if len(found.ties) == math.comb(len(found.methods), 2):
        return f"{words}: no two methods differ by more than the noise, so none can be ranked."
    if not found.inversions:
        return f"{words} orders the methods as measured, where they differ beyond the noise."
    wrong = [f"{fast} was faster than {slow}" for fast, slow in found.inversions[:MAX_INVERSIONS]]
    more = len(found.inversions) - MAX_INVERSIONS
    rest = f", and {more} more" if more > 0 else ""
    return f"{words} is wrong on the order: {'; '.join(wrong)}{rest}."


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
