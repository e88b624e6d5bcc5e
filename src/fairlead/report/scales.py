# SPDX-License-Identifier: Apache-2.0
"""Units for display: one scale for all values that are shown together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead import units

Values = npt.NDArray[np.float64]


class Scale(NamedTuple):
    """A unit and its size in base units."""

    factor: float
    unit: str

    def text(self, value: float) -> str:
        """The value in this unit with three significant digits, without the unit."""
        if self.factor == 1 and self.unit == "B" and float(value).is_integer():
            return f"{value:.0f}"
        return three_digits(value / self.factor)

    def with_unit(self, value: float) -> str:
        """The value in this unit with three significant digits and the unit."""
        return f"{self.text(value)} {self.unit}" if math.isfinite(value) else self.text(value)


SECONDS = tuple(Scale(units.DURATIONS[unit], unit) for unit in units.DURATION_UNITS[:4])
# Sizes are binary and rates decimal, as everywhere: one ladder of units for text and charts.
BYTES = tuple(Scale(float(units.SIZES[unit]), unit) for unit in units.SIZE_UNITS)
BYTES_PER_SECOND = tuple(Scale(units.RATES[unit], unit) for unit in units.RATE_UNITS)
BITS_PER_SECOND = tuple(Scale(units.RATES[unit], unit) for unit in units.BIT_RATE_UNITS)


def common_scale(values: Iterable[float] | Values, family: tuple[Scale, ...]) -> Scale:
    """The largest unit in which the median of the finite, positive values is at least 1."""
    array = np.asarray(list(np.ravel(values)), dtype=np.float64)  # type: ignore[arg-type]
    usable = array[np.isfinite(array) & (array > 0)]
    if usable.size == 0:
        return family[0]
    middle = float(np.median(usable))
    return family[units.suited_unit(middle, [scale.factor for scale in family])]


def human(value: float, family: tuple[Scale, ...]) -> str:
    """One measured value in the unit that suits it, for example "3.40 ms".

    Sizes are counted, not measured: `units.format_size` prints them.
    """
    return common_scale([value], family).with_unit(value).strip()


def round_text(value: float, scale: Scale) -> str:
    """A round value in the unit that suits it, of the ladder that the scale belongs to."""
    ladders = (SECONDS, BYTES, BYTES_PER_SECOND, BITS_PER_SECOND)
    ladder = next((each for each in ladders if scale in each), (scale,))
    # A power that was computed may be just below its unit.
    fitting = [unit for unit in ladder if unit.factor <= value * (1 + 1e-9)] or ladder[:1]
    unit = max(fitting, key=lambda each: each.factor)
    return f"{value / unit.factor:.6g} {unit.unit}"


def three_digits(value: float) -> str:
    """Three significant digits without an exponent; "–" for an unknown value."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return units.three_digits(value)
