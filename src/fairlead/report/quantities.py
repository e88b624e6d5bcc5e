# SPDX-License-Identifier: Apache-2.0
"""The two measured quantities of a network, in one form for all charts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.model.network import Network
from fairlead.report.network_view import between_hosts
from fairlead.report.noise import is_noisy
from fairlead.report.scales import BYTES_PER_SECOND, SECONDS, Scale, common_scale

Matrix = npt.NDArray[np.float64]


class Quantity(NamedTuple):
    """One measured quantity of the network.

    Attributes:
        name: As a title starts.
        values: Shape (H, H), [src, dst].
        low, high: Ends of the 95 % intervals, of the same shape, or None.
        family: Units to choose one from.
        is_low_bright: Whether less is better.
    """

    name: str
    values: Matrix
    low: Matrix | None
    high: Matrix | None
    family: tuple[Scale, ...]
    is_low_bright: bool

    def scale(self) -> Scale:
        """The unit of every chart of this quantity."""
        return common_scale(between_hosts(self.values), self.family)

    def is_noisy(self) -> npt.NDArray[np.bool_]:
        """Pairs of different hosts that are only roughly known, shape (H, H)."""
        noisy = is_noisy(self.low, self.high)
        if noisy is None:
            return np.zeros(self.values.shape, dtype=bool)
        return np.asarray(noisy & ~np.eye(len(noisy), dtype=bool) & np.isfinite(self.values))


def quantities(network: Network) -> list[Quantity]:
    """Latency and bandwidth."""
    return [
        Quantity(
            "Latency",
            network.latency_s,
            network.latency_low_s,
            network.latency_high_s,
            SECONDS,
            True,
        ),
        Quantity(
            "Bandwidth",
            network.bandwidth_Bps,
            network.bandwidth_low_Bps,
            network.bandwidth_high_Bps,
            BYTES_PER_SECOND,
            False,
        ),
    ]
