# SPDX-License-Identifier: Apache-2.0
"""How much of an item is run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np


@dataclasses.dataclass(frozen=True)
class Options:
    """Sizes of a run; the defaults are the paper's.

    Attributes:
        is_short: Seconds only, to see that it works.
        folder: For the simulator's files.
        num_draws: Clouds to draw, where the paper rents one.
        measured: Where single measurements are kept; None: nowhere.
    """

    is_short: bool
    folder: Path
    num_clusters: int = 100
    num_trees: int = 10_000_000
    num_hours: int = 48
    most_ranks: int = 2048
    num_draws: int = 1
    measured: Path | None = None

    @property
    def num_hosts(self) -> int:
        return 6 if self.is_short else 64

    @property
    def num_ranks(self) -> int:
        return 15 if self.is_short else 200

    @property
    def draws(self) -> range:
        """Seeds of the clouds."""
        return range(1 if self.is_short else self.num_draws)

    def root(self, seed: int) -> int:
        """Chosen at random (section 5.1), another one for each cluster."""
        return int(np.random.default_rng(1000 + seed).integers(self.num_ranks))
