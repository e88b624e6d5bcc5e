# SPDX-License-Identifier: Apache-2.0
"""Directed links: what they carry at most, and which counters describe them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError

__all__ = ["Links"]


@dataclasses.dataclass(frozen=True, eq=False)
class Links:
    """The directed links of a network.

    Attributes:
        in_ports: Port at the receiving end of each link, length L; each port receives one link.
        out_ports: Port at the sending end of each link, length L; each port sends one link.
        capacity_Bps: What each carries at most, shape (L,); `nan` where unknown.
        num_lanes: Lanes whose stall times one counter adds up, shape (L,).
    """

    in_ports: Sequence[str]
    out_ports: Sequence[str]
    capacity_Bps: npt.NDArray[np.float64]
    num_lanes: npt.NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name in ("in_ports", "out_ports"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        lanes = np.ones(len(self.in_ports)) if self.num_lanes is None else self.num_lanes
        object.__setattr__(self, "num_lanes", np.ascontiguousarray(lanes, dtype=np.int64))
        capacity_Bps = np.ascontiguousarray(self.capacity_Bps, dtype=np.float64)
        object.__setattr__(self, "capacity_Bps", capacity_Bps)
        shape = (len(self.in_ports),)
        if len(self.out_ports) != shape[0] or capacity_Bps.shape != shape or lanes.shape != shape:
            raise ShapeError(
                f"links: {shape[0]} receiving ports, but {len(self.out_ports)} sending ones, "
                f"{len(capacity_Bps)} capacities and {len(lanes)} numbers of lanes"
            )
        if np.any(capacity_Bps <= 0) or np.any(lanes < 1):
            raise InputError("links: each capacity must be > 0 or nan, each number of lanes >= 1")

    @property
    def num_links(self) -> int:
        """Number of links L."""
        return len(self.in_ports)

    def into(self) -> dict[str, int]:
        """Link that each port receives."""
        return {port: link for link, port in enumerate(self.in_ports)}

    def out_of(self) -> dict[str, int]:
        """Link that each port sends."""
        return {port: link for link, port in enumerate(self.out_ports)}
