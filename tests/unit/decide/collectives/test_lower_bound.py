# SPDX-License-Identifier: Apache-2.0
"""Lower bounds against the exact linear program on small networks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from fluid import fluid_s

import fairlead as fl
from fairlead.decide.collectives import OPERATIONS, lower_bound_s

MESSAGE_BYTES = 10**6
MOVING = [operation for operation in OPERATIONS if operation != "barrier"]


def drawn(num_hosts: int, seed: int, *, has_nics: bool) -> fl.Network:
    """Pairs from 10 to 100 MB/s, NICs from 30 to 90; no latency."""
    random = np.random.default_rng(seed)
    bandwidth_Bps = random.uniform(10e6, 100e6, (num_hosts, num_hosts))
    np.fill_diagonal(bandwidth_Bps, np.inf)
    nics = {
        name: random.uniform(30e6, 90e6, num_hosts) if has_nics else None
        for name in ("nic_out_Bps", "nic_in_Bps")
    }
    return fl.Network(
        hosts=[f"n{host}" for host in range(num_hosts)],
        latency_s=np.zeros((num_hosts, num_hosts)),
        bandwidth_Bps=bandwidth_Bps,
        **nics,
    )


@pytest.mark.parametrize("operation", MOVING)
@pytest.mark.parametrize("has_nics", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_bound_is_never_above_what_the_linear_program_reaches(
    operation: str, has_nics: bool, seed: int
) -> None:
    network = drawn(4, seed, has_nics=has_nics)

    bound_s = lower_bound_s(operation, network, MESSAGE_BYTES)

    assert bound_s <= fluid_s(operation, network, MESSAGE_BYTES) * (1 + 1e-9)


@pytest.mark.parametrize("operation", MOVING)
@pytest.mark.parametrize("seed", range(3))
def test_bound_is_what_the_linear_program_reaches_where_nics_decide(
    operation: str, seed: int
) -> None:
    network = drawn(4, seed, has_nics=True)
    fast = np.where(np.eye(4, dtype=bool), np.inf, 1e9)
    network = dataclasses.replace(network, bandwidth_Bps=fast)

    bound_s = lower_bound_s(operation, network, MESSAGE_BYTES)

    assert bound_s == pytest.approx(fluid_s(operation, network, MESSAGE_BYTES), rel=1e-6)


@pytest.mark.parametrize("operation", MOVING)
def test_bound_counts_a_shared_group_that_all_must_cross(operation: str) -> None:
    network = drawn(4, 1, has_nics=True)
    pairs = np.array([(src, dst) for src in (0, 1) for dst in (2, 3)])
    groups = [
        fl.BottleneckGroup(pairs=pairs, capacity_Bps=5e6),
        fl.BottleneckGroup(pairs=pairs[:, ::-1], capacity_Bps=5e6),
    ]
    shared = dataclasses.replace(network, groups=groups)

    bound_s = lower_bound_s(operation, shared, MESSAGE_BYTES)

    assert bound_s > lower_bound_s(operation, network, MESSAGE_BYTES)
    assert bound_s <= fluid_s(operation, shared, MESSAGE_BYTES) * (1 + 1e-9)


@pytest.mark.parametrize("operation", MOVING)
def test_bound_of_equal_hosts_is_the_textbook_one(operation: str) -> None:
    num_hosts, rate_Bps, latency_s = 8, 100e6, 1e-4
    shape = (num_hosts, num_hosts)
    is_self = np.eye(num_hosts, dtype=bool)
    network = fl.Network(
        hosts=[f"n{host}" for host in range(num_hosts)],
        latency_s=np.where(is_self, 0.0, latency_s),
        bandwidth_Bps=np.where(is_self, np.inf, np.full(shape, rate_Bps)),
    )
    times_bytes = {
        "bcast": 1,
        "reduce": 1,
        "allreduce": 2 * (num_hosts - 1) / num_hosts,
    }.get(operation, num_hosts - 1)

    bound_s = lower_bound_s(operation, network, MESSAGE_BYTES)

    assert bound_s == pytest.approx(latency_s + times_bytes * MESSAGE_BYTES / rate_Bps)


def test_barrier_takes_the_least_latency_of_the_farthest_host() -> None:
    latency_s = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]]) * 1e-3
    network = fl.Network(["a", "b", "c"], latency_s, np.where(np.eye(3) > 0, np.inf, 1e8))

    # Host b sends after 3 ms at the earliest and c after 5; c hears after 2.
    assert lower_bound_s("barrier", network, 0) == pytest.approx(5e-3)


def test_blocks_that_differ_add_up() -> None:
    network = drawn(3, 1, has_nics=True)
    assert network.nic_in_Bps is not None

    bound_s = lower_bound_s("gather", network, [0, 10**6, 3 * 10**6])

    assert bound_s >= 4e6 / network.nic_in_Bps[0] * (1 - 1e-9)
