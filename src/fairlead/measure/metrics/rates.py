# SPDX-License-Identifier: Apache-2.0
"""From samples of counters to rates over a time window.

What engines for time series call a rate differs in how they extrapolate to the ends of a window and
in what a restart counts; here nothing is extrapolated, and what is left out is counted.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

__all__ = ["GAP_INTERVALS", "Faults", "Rates", "means", "rates"]

GAP_INTERVALS = 5
"""Median intervals; what is further apart is a gap, of which nothing is known."""

WRAP_SHARE = 0.5
"""A counter wraps round only from above this share of its range; from below it was set back."""

Matrix = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Faults:
    """How often samples were not what they should be.

    Attributes:
        wrapped: A counter began again after its largest value; counted on.
        restarted: A counter was set back; that interval is left out.
        gaps: Intervals of more than GAP_INTERVALS usual ones; left out.
        duplicates: Samples of one time; the first counts.
        clock_jumps: Samples before an earlier one, or from the future; left out.
        negative: Values below 0, which no rate, share or counter has; left out.
        impossible: Intervals faster than the link; left out.
    """

    wrapped: int = 0
    restarted: int = 0
    gaps: int = 0
    duplicates: int = 0
    clock_jumps: int = 0
    negative: int = 0
    impossible: int = 0

    def __add__(self, other: Faults) -> Faults:
        return Faults(
            **{
                field.name: getattr(self, field.name) + getattr(other, field.name)
                for field in dataclasses.fields(self)
            }
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Rates:
    """What came of series.

    Attributes:
        values: One for each series, shape (S,); `nan` where nothing is known.
        newest_s: Time of the newest sample that counted, shape (S,); `nan` without one.
        faults: What was wrong, over all series.
    """

    values: npt.NDArray[np.float64]
    newest_s: npt.NDArray[np.float64]
    faults: Faults


def rates(
    times_s: Matrix,
    values: Matrix,
    now_s: float,
    window_s: float,
    *,
    largest: npt.NDArray[np.float64],
    fastest: npt.NDArray[np.float64],
    most_ahead_s: float = 5.0,
) -> Rates:
    """Growth a second of counters over a window.

    Where it holds one sample alone, as with Prometheus' usual scrapes of once a minute, the one
    before it counts, too, if that is no further away than the window is long.

    Args:
        times_s: Seconds, shape (S, K), in the order in which samples came; `nan` for none.
        values: Counters, shape (S, K).
        now_s: End of the window.
        window_s: Its length.
        largest: What each counter holds before it begins again, shape (S,).
        fastest: What each can grow in a second, shape (S,); `nan` where unknown.
        most_ahead_s: How far a clock may be ahead of ours.

    Returns:
        Units a second; `nan` where fewer than two samples fit together.
    """
    times_s, values, faults = _sort(
        times_s, values, now_s, window_s, most_ahead_s, with_one_before=True
    )
    span_s, growth = np.diff(times_s, axis=1), np.diff(values, axis=1)
    is_interval = np.isfinite(span_s) & np.isfinite(growth)
    is_back = is_interval & (growth < 0)
    wrapped_growth = growth + largest[:, None]
    limit = np.where(np.isnan(fastest), np.inf, fastest * 2)[:, None]
    with np.errstate(invalid="ignore"):
        is_wrap = is_back & (values[:, :-1] > WRAP_SHARE * largest[:, None])
        is_wrap &= wrapped_growth <= limit * span_s
        growth = np.where(is_wrap, wrapped_growth, growth)
        usual_s = _median(span_s, is_interval)
        is_gap = is_interval & (span_s > GAP_INTERVALS * usual_s)
        is_impossible = is_interval & (growth > limit * span_s)
    is_restart = is_back & ~is_wrap
    is_counted = is_interval & ~is_restart & ~is_gap & ~is_impossible
    seconds = np.where(is_counted, span_s, 0.0).sum(axis=1)
    total = np.where(is_counted, growth, 0.0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(seconds > 0, total / seconds, np.nan)
    ends_s = np.where(is_counted, times_s[:, 1:], -np.inf).max(axis=1, initial=-np.inf)
    return Rates(
        result,
        np.where(np.isfinite(ends_s), ends_s, np.nan),
        faults
        + Faults(
            wrapped=int(is_wrap.sum()),
            restarted=int(is_restart.sum()),
            gaps=int(is_gap.sum()),
            impossible=int((is_impossible & ~is_gap).sum()),
        ),
    )


def means(
    times_s: Matrix, values: Matrix, now_s: float, window_s: float, *, most_ahead_s: float = 5.0
) -> Rates:
    """Means of values that are no counters over a window; arguments as of `rates`."""
    times_s, values, faults = _sort(times_s, values, now_s, window_s, most_ahead_s)
    is_counted = np.isfinite(times_s) & np.isfinite(values)
    count = is_counted.sum(axis=1)
    total = np.where(is_counted, values, 0.0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(count > 0, total / count, np.nan)
    newest_s = np.where(is_counted, times_s, -np.inf).max(axis=1, initial=-np.inf)
    return Rates(result, np.where(np.isfinite(newest_s), newest_s, np.nan), faults)


def _median(span_s: Matrix, is_interval: npt.NDArray[np.bool_]) -> Matrix:
    """Median of each row over its intervals, shape (S, 1); infinite for a row without one."""
    count = is_interval.sum(axis=1)
    ordered = np.sort(np.where(is_interval, span_s, np.inf), axis=1)
    if not ordered.shape[1]:
        return np.full((len(span_s), 1), np.inf)
    middle: Matrix = ordered[np.arange(len(span_s)), np.maximum(count - 1, 0) // 2]
    return middle[:, None]


def _latest(times_s: Matrix, is_chosen: npt.NDArray[np.bool_]) -> Matrix:
    """The latest of the chosen times of each row, shape (S, 1)."""
    latest: Matrix = np.where(is_chosen, times_s, -np.inf).max(axis=1, initial=-np.inf)
    return latest[:, None]


def _sort(
    times_s: Matrix,
    values: Matrix,
    now_s: float,
    window_s: float,
    most_ahead_s: float,
    *,
    with_one_before: bool = False,
) -> tuple[Matrix, Matrix, Faults]:
    """The samples inside the window, the first of each time, none of those out of order.

    Gaps of `nan` are moved to the front, so that neighbours in a row are neighbours in time.
    """
    is_there = np.isfinite(times_s) & np.isfinite(values)
    is_ahead = is_there & (times_s > now_s + most_ahead_s)
    is_negative = is_there & (values < 0)
    kept = is_there & ~is_ahead & ~is_negative
    # Before what came earlier: the clock was set back, or the time is false.
    so_far_s = np.maximum.accumulate(np.where(kept, times_s, -np.inf), axis=1)
    before_s = np.concatenate([np.full((len(times_s), 1), -np.inf), so_far_s[:, :-1]], axis=1)
    is_late = kept & (times_s < before_s)
    is_same = kept & (times_s == before_s)
    kept &= ~is_late & ~is_same
    is_inside = kept & (times_s >= now_s - window_s)
    if with_one_before:
        is_before = kept & ~is_inside & (times_s >= now_s - 2 * window_s)
        is_before &= is_inside.sum(axis=1, keepdims=True) == 1
        is_inside |= is_before & (times_s == _latest(times_s, is_before))
    kept = is_inside
    order = np.argsort(kept, axis=1, kind="stable")
    faults = Faults(
        duplicates=int(is_same.sum()),
        clock_jumps=int(is_ahead.sum() + is_late.sum()),
        negative=int((is_negative & ~is_ahead).sum()),
    )
    return (
        np.take_along_axis(np.where(kept, times_s, np.nan), order, axis=1),
        np.take_along_axis(np.where(kept, values, np.nan), order, axis=1),
        faults,
    )
