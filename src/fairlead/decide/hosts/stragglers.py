# SPDX-License-Identifier: Apache-2.0
"""Hosts that compute slower than the others, in words."""

from __future__ import annotations

from fairlead.model.network import Network
from fairlead.model.straggler_rule import stragglers

__all__ = ["straggler_lines"]

_WORDS = {
    "one_core_multiply_adds": "multiply-adds of one core",
    "all_cores_multiply_adds": "multiply-adds of all cores",
    "one_core_memory_Bps": "memory bandwidth of one core",
    "all_cores_memory_Bps": "memory bandwidth of all cores",
}


def straggler_lines(network: Network) -> list[str]:
    """A line for each straggler, the slowest first; none where hosts were not measured."""
    if network.host_rates is None:
        return []
    return [
        f"{network.hosts[one.host]} is slow: {one.ratio:.2f} of the others' {_WORDS[one.rate]}, "
        f"{one.score:.1f} standard deviations below them"
        for one in stragglers(network.host_rates)
    ]
