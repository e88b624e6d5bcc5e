# SPDX-License-Identifier: Apache-2.0
"""What every source of metrics gives: samples of one counter or gauge of one port."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fairlead.errors import Error

__all__ = ["MetricError", "MetricSource", "Quantity", "Series"]


class MetricError(Error):
    """A source could not be read, or its values make no sense; the message names it."""


class Quantity(Enum):
    """What is reported of a link.

    The first four are counters, of which only growth means something; the others are values.
    """

    carried_bytes = "carried_bytes"
    stalled_s = "stalled_s"
    packets = "packets"
    shaped_packets = "shaped_packets"
    carried_Bps = "carried_Bps"
    used_ratio = "used_ratio"
    stalled_ratio = "stalled_ratio"
    capacity_Bps = "capacity_Bps"

    @property
    def is_counter(self) -> bool:
        """Whether it only grows, but for wrap-around and restarts."""
        return self in _COUNTERS


_COUNTERS = frozenset(
    {Quantity.carried_bytes, Quantity.stalled_s, Quantity.packets, Quantity.shaped_packets}
)


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """Samples of one quantity at one port.

    Attributes:
        port: The port, named as in the topology's links.
        is_into: Whether it describes the link that the port receives; else of the one it sends.
        quantity: What is reported.
        times_s: Seconds since 1970 by the clock of who counted, in the order they came, shape (N,).
        values: In the quantity's unit, shape (N,); `nan` where a sample has none.
        largest: What a counter holds before it begins again at 0, in the quantity's unit.
        device: Which part of the port counts, where it has several: their rates are added up.
        host_names: What the host that reports it may be called, the likeliest first; the port's
            name begins with that. Empty where the port is named by its hardware.
        or_ports: What the port may be called otherwise.
        adapter: Which of a host's adapters counts it, `mlx5_0:1`; empty for other parts of a port.
    """

    port: str
    is_into: bool
    quantity: Quantity
    times_s: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    largest: float = 2.0**64
    device: str = ""
    host_names: tuple[str, ...] = ()
    or_ports: tuple[str, ...] = ()
    adapter: str = ""

    @property
    def key(self) -> tuple[str, bool, Quantity]:
        """What it describes."""
        return self.port, self.is_into, self.quantity

    @property
    def owner(self) -> str:
        """Who reports it: a host, or the hardware that the port is a part of."""
        return self.host_names[0] if self.host_names else self.port.partition(":")[0]


class MetricSource(abc.ABC):
    """Where counters are read.

    Attributes:
        name: As the user wrote it; errors and reports name it so.
        has_history: Each read gives the whole window anew, and nothing kept counts any more.
        skipped: What the last read held and could not be understood, one line each.
        without_link: Ports of adapters that the last read showed to be down, `n1 mlx5_1:1`.
        warnings: What the source says of the last read and of the network, one line each.
    """

    name: str
    has_history: ClassVar[bool] = False
    skipped: Sequence[str] = ()
    without_link: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @abc.abstractmethod
    def read(self, now_s: float, window_s: float) -> list[Series]:
        """What it has for the time window that ends now; at least the newest samples.

        A series that is not given has no sample. Nothing is ever made up.

        Raises:
            Error: The source is gone, too slow, or returns nonsense; the message names it.
        """
