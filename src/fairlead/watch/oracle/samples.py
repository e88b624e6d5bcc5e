# SPDX-License-Identifier: Apache-2.0
"""The latest samples of every series, in bounded memory."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics import Quantity, Series

__all__ = ["MOST_SAMPLES", "SampleStore", "Samples"]

MOST_SAMPLES = 64
"""Of one series: ten minutes at one every ten seconds."""


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one quantity at many links.

    Attributes:
        links: Link of each series, shape (S,); those of receiving ends come first.
        times_s: Shape (S, MOST_SAMPLES), in the order they came; `nan` for none.
        values: Shape (S, MOST_SAMPLES).
        largest: What each counter holds before it begins again, shape (S,).
    """

    links: npt.NDArray[np.int64]
    times_s: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    largest: npt.NDArray[np.float64]


class SampleStore:
    """Samples of the links of a topology. To be used by one thread at a time."""

    def __init__(self, into: dict[str, int], out_of: dict[str, int]):
        """An empty store.

        Args:
            into: Link that each port receives.
            out_of: Link that each port sends.
        """
        self._links = {True: into, False: out_of}
        self._row_of: dict[Quantity, dict[tuple[str, bool], int]] = {}
        self._samples: dict[Quantity, Samples] = {}
        self._newest_s = float("nan")

    def newest_s(self) -> float:
        """Time of the newest sample of all; `nan` without any."""
        return self._newest_s

    def add(self, series: list[Series], *, is_whole: bool) -> int:
        """Take what a source gave.

        Args:
            series: Of one read.
            is_whole: Whether they hold the whole window, and nothing earlier counts any more.

        Returns:
            How many series are of no link of the topology.
        """
        num_unknown = 0
        for one in series:
            link = self._links[one.is_into].get(one.port)
            if link is None or not len(one.times_s):
                num_unknown += link is None
                continue
            row, samples = self._row(one, link)
            times_s, values = samples.times_s[row], samples.values[row]
            new_s, new = one.times_s[-MOST_SAMPLES:], one.values[-MOST_SAMPLES:]
            self._newest_s = float(np.fmax(self._newest_s, np.fmax.reduce(new_s)))
            if is_whole:
                times_s[:] = np.nan
            elif times_s[-1] == new_s[-1] and values[-1] == new[-1]:
                continue  # the source was read again before it changed
            kept = MOST_SAMPLES - len(new_s)
            for row_of, newer in ((times_s, new_s), (values, new)):
                row_of[:kept] = row_of[len(newer) :].copy()
                row_of[kept:] = newer
            samples.largest[row] = one.largest
        return num_unknown

    def of(self, quantity: Quantity) -> Samples | None:
        """All samples of a quantity; None where no source has it."""
        samples = self._samples.get(quantity)
        if samples is None:
            return None
        num_rows = len(self._row_of[quantity])
        return Samples(
            *(getattr(samples, field.name)[:num_rows] for field in dataclasses.fields(samples))
        )

    def _row(self, series: Series, link: int) -> tuple[int, Samples]:
        """Row of a series; twice as many rows where they are full: at most two for each link."""
        rows = self._row_of.setdefault(series.quantity, {})
        key = (series.port, series.is_into)
        samples = self._samples.get(series.quantity)
        row = rows.setdefault(key, len(rows))
        if samples is None or row >= len(samples.links):
            samples = _grown(samples)
            self._samples[series.quantity] = samples
        samples.links[row] = link
        return row, samples


def _grown(samples: Samples | None) -> Samples:
    """Room for twice as many series."""
    old = 0 if samples is None else len(samples.links)
    new = max(16, old)
    empty = Samples(
        np.zeros(new, dtype=np.int64),
        np.full((new, MOST_SAMPLES), np.nan),
        np.full((new, MOST_SAMPLES), np.nan),
        np.zeros(new),
    )
    if samples is None:
        return empty
    return Samples(
        *(
            np.concatenate([getattr(samples, field.name), getattr(empty, field.name)])
            for field in dataclasses.fields(samples)
        )
    )
