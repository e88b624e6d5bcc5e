# SPDX-License-Identifier: Apache-2.0
"""What the comparison with others is to reach."""

from __future__ import annotations

from simulating import Call

MAX_SLOWER_RATIO = 1.02
"""Ratio of our time to that of the best selector, in any cell."""

SAME_RATIO = 1e-5
"""Times this near are equal: six digits of them are recorded."""

KIB, MIB = 2**10, 2**20

FASTER_RATIOS = {
    ("bcast", "racks"): {8 * MIB: 5.0, MIB: 4.0, 64 * KIB: 1.7},
    ("bcast", "mesh"): {8 * MIB: 4.5, MIB: 3.0, 64 * KIB: 1.7},
    ("reduce", "racks"): {8 * MIB: 4.5, MIB: 4.0, 64 * KIB: 1.7},
    ("reduce", "mesh"): {8 * MIB: 3.5, MIB: 3.0, 64 * KIB: 1.7},
    ("allreduce", "racks"): {8 * MIB: 5.0, 64 * KIB: 1.0},
    ("allreduce", "mesh"): {8 * MIB: 2.7, 64 * KIB: 1.0},
    ("allgather", "racks"): {8 * MIB: 5.5, 64 * KIB: 1.0},
    ("allgather", "mesh"): {8 * MIB: 2.4, 64 * KIB: 1.0},
} | {
    (operation, cloud): {8 * MIB: 1.0, MIB: 1.0, 64 * KIB: 1.0}
    for operation in ("scatter", "gather", "alltoall")
    for cloud in ("racks", "mesh")
}
"""Time of the best of all others over ours, on 64 hosts."""


def faster_ratio(call: Call, cloud: str, num_hosts: int) -> float | None:
    """What the best other's time over ours should be at least."""
    of_size = FASTER_RATIOS.get((call.operation, cloud), {})
    return of_size.get(call.size_bytes) if num_hosts == 64 else None


BOUND_RATIOS = {
    "bcast": {8 * MIB: 1.2, MIB: 1.8},
    "reduce": {8 * MIB: 1.25, MIB: 1.8},
    "allreduce": {8 * MIB: 1.3, MIB: 1.8},
    "allgather": {8 * MIB: 1.3, MIB: 1.8},
    "reduce_scatter": {8 * MIB: 1.3, MIB: 1.8},
    "scatter": {8 * MIB: 1.02},
    "gather": {8 * MIB: 1.02},
    "alltoall": {8 * MIB: 1.05},
}
"""Our time over the lower bound, on 64 hosts."""

BOUND_RATIO_OF_BCAST_IN_MESH = 1.25
BOUND_RATIO_OF_BCAST_ON_256_HOSTS = 1.6


def bound_ratio(call: Call, cloud: str, num_hosts: int) -> float | None:
    """What our time over the lower bound should be at most."""
    if call.operation == "bcast" and call.size_bytes == 8 * MIB:
        if num_hosts == 256:
            return BOUND_RATIO_OF_BCAST_ON_256_HOSTS
        if num_hosts == 64 and cloud == "mesh":
            return BOUND_RATIO_OF_BCAST_IN_MESH
    return BOUND_RATIOS.get(call.operation, {}).get(call.size_bytes) if num_hosts == 64 else None
