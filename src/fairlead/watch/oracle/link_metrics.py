# SPDX-License-Identifier: Apache-2.0
"""From samples to what each link does in a time window."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics import Quantity
from fairlead.measure.metrics.rates import Faults, Rates, means, rates
from fairlead.model.topology import Links
from fairlead.watch.oracle.samples import Samples, SampleStore

__all__ = ["LinkMetrics", "link_metrics"]

Values = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class LinkMetrics:
    """What links do.

    Attributes:
        used_ratio: Share of the bandwidth that is used, shape (L,), 0 to 1; `nan` where unknown.
        stalled_ratio: Share of the time that packets waited for the link, shape (L,), 0 to 1.
        free_Bps: Bandwidth that is left, shape (L,).
        capacity_Bps: All of it, shape (L,).
        newest_s: Time of the newest sample that counted, shape (L,).
        faults: What was wrong with samples.
    """

    used_ratio: Values
    stalled_ratio: Values
    free_Bps: Values
    capacity_Bps: Values
    newest_s: Values
    faults: Faults


def link_metrics(
    store: SampleStore, links: Links, now_s: float, window_s: float, stale_s: float
) -> LinkMetrics:
    """What links do in the window that ends now.

    What has no sample within `stale_s` is unknown: the last that was known is no value for now.
    """
    faults = Faults()
    newest_s = np.full(links.num_links, np.nan)
    nothing = np.full(links.num_links, np.nan)

    def of(quantity: Quantity, fastest: Values) -> Values:
        nonlocal faults, newest_s
        samples = store.of(quantity)
        if samples is None:
            return nothing
        if quantity.is_counter:
            found = rates(
                samples.times_s,
                samples.values,
                now_s,
                window_s,
                largest=samples.largest,
                fastest=fastest[samples.links],
            )
        else:
            found = means(samples.times_s, samples.values, now_s, window_s)
        faults = faults + found.faults
        values, reported_s = _by_link(samples, found, links.num_links, now_s - stale_s)
        newest_s = np.fmax(newest_s, reported_s)
        return values

    assert links.num_lanes is not None  # set when it was made
    reported_capacity_Bps = of(Quantity.capacity_Bps, nothing)
    # A device that does not know its speed reports 0.
    reported_capacity_Bps = np.where(reported_capacity_Bps > 0, reported_capacity_Bps, np.nan)
    capacity_Bps = np.where(np.isnan(links.capacity_Bps), reported_capacity_Bps, links.capacity_Bps)
    carried_Bps = _first(
        of(Quantity.carried_bytes, capacity_Bps), of(Quantity.carried_Bps, nothing)
    )
    stalled = of(Quantity.stalled_s, links.num_lanes.astype(np.float64)) / links.num_lanes
    with np.errstate(divide="ignore", invalid="ignore"):
        shaped = of(Quantity.shaped_packets, nothing) / of(Quantity.packets, nothing)
    # Counters come before shares that a source computed over windows of its own.
    used = _first(carried_Bps / capacity_Bps, of(Quantity.used_ratio, nothing))
    stalled = _first(stalled, of(Quantity.stalled_ratio, nothing), shaped)
    used, stalled = np.clip(used, 0, 1), np.clip(stalled, 0, 1)
    return LinkMetrics(used, stalled, capacity_Bps * (1 - used), capacity_Bps, newest_s, faults)


def _by_link(
    samples: Samples, found: Rates, num_links: int, oldest_s: float
) -> tuple[Values, Values]:
    """Values of links and their times.

    If several sources report one device, the newest counts. The devices of an end are added
    up, and if both ends report a link, the newer counts.
    """
    is_known = np.isfinite(found.values) & (found.newest_s >= oldest_s)
    # By age, so that what is put down last, the newest, stays.
    rows = np.flatnonzero(is_known)[np.argsort(found.newest_s[is_known], kind="stable")]
    newest_of_device = np.full(int(samples.devices.max(initial=0)) + 1, -1)
    newest_of_device[samples.devices[rows]] = rows
    rows = rows[newest_of_device[samples.devices[rows]] == rows]
    sums = np.zeros(int(samples.ends.max(initial=0)) + 1)
    np.add.at(sums, samples.ends[rows], found.values[rows])
    values, newest_s = np.full(num_links, np.nan), np.full(num_links, np.nan)
    values[samples.links[rows]] = sums[samples.ends[rows]]
    newest_s[samples.links[rows]] = found.newest_s[rows]
    return values, newest_s


def _first(*choices: Values) -> Values:
    """The first of each that is known."""
    result = choices[0]
    for other in choices[1:]:
        result = np.where(np.isfinite(result), result, other)
    return result
