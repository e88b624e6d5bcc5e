# SPDX-License-Identifier: Apache-2.0
"""Rates of invented hosts, and of equal hosts as a probe measures them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairlead.model.host_rates import HostRates

NUM_PASSES = 6
STUDENT = 2.5706
"""97.5 % quantile for six passes, as the probe has it."""


def rates_of(
    values: Sequence[float], error: float = 0.01, num_cores: Sequence[int] | None = None
) -> HostRates:
    """Hosts with these rates of every kind, each within +- 1.96 of this relative error."""
    ends = np.exp(1.96 * error * np.array([0.0, -1.0, 1.0]))
    all_values = np.array(values)[:, None, None] * np.ones((1, 4, 1)) * ends
    return HostRates(all_values, np.array(num_cores or [2] * len(values)))


def measured_equal_hosts(
    rng: np.random.Generator, num_hosts: int, spread: float, noise: float
) -> HostRates:
    """Equal hosts whose rates a probe measures.

    Args:
        rng: Where the numbers come from.
        num_hosts: How many.
        spread: Standard deviation of the logarithms from a host to another, the same in all passes.
        noise: That from a pass to another.
    """
    passes = noise * rng.standard_normal((num_hosts, 4, NUM_PASSES))
    middle = spread * rng.standard_normal((num_hosts, 4)) + passes.mean(axis=-1)
    half = STUDENT * passes.std(axis=-1, ddof=1) / np.sqrt(NUM_PASSES)
    values = np.exp(np.stack([middle, middle - half, middle + half], axis=-1))
    return HostRates(values, np.full(num_hosts, 2))
