# SPDX-License-Identifier: Apache-2.0
"""Where two hosts have slow interfaces, the schedule taken waits for them and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl

RATE_Bps, SLOW_Bps, LATENCY_S = 125e6, 125e6 / 20, 50e-6
SLOW_HOSTS = (5, 11)
MIB = 1 << 20
ROOTED = ("bcast", "reduce", "scatter", "gather")
BLOCKS_OF_ALL = ("allgather", "reduce_scatter", "alltoall")


def closed_form_s(operation: str, num_hosts: int, size: int) -> float:
    """What the interfaces of the slow hosts and of the root take; no schedule takes less."""
    others = (num_hosts - 1) * size
    if operation in ("scatter", "gather"):
        return max(size / SLOW_Bps, others / RATE_Bps)
    return (others if operation in BLOCKS_OF_ALL else size) / SLOW_Bps


def network_of(num_hosts: int) -> fl.Network:
    """As a probe of pairs sees it: no interface was measured for itself."""
    rate_Bps = np.full(num_hosts, RATE_Bps)
    rate_Bps[list(SLOW_HOSTS)] = SLOW_Bps
    bandwidth_Bps = np.minimum(rate_Bps[:, None], rate_Bps[None, :])
    latency_s = np.full(bandwidth_Bps.shape, LATENCY_S)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    np.fill_diagonal(latency_s, 0.0)
    hosts = [f"h{index}" for index in range(num_hosts)]
    return fl.Network(hosts=hosts, latency_s=latency_s, bandwidth_Bps=bandwidth_Bps)


@pytest.mark.parametrize("num_hosts", [16, 32])
@pytest.mark.parametrize("operation", [*ROOTED, *BLOCKS_OF_ALL, "allreduce"])
def test_the_schedule_taken_keeps_slow_hosts_busy_all_the_time(
    operation: str, num_hosts: int
) -> None:
    root = 0 if operation in ROOTED else None

    schedule = fl.collectives.plan(operation, network_of(num_hosts), MIB, root)

    least_s = closed_form_s(operation, num_hosts, MIB)
    assert least_s < schedule.predicted_s < 1.03 * least_s


@pytest.mark.parametrize("operation", ["bcast", "reduce"])
def test_groups_of_cmpi_are_not_taken_where_the_leader_would_send_through_slow_hosts(
    operation: str,
) -> None:
    network = network_of(32)

    taken = fl.collectives.plan(operation, network, MIB, 0)
    groups = fl.collectives.plan(operation, network, MIB, 0, method="cmpi")

    assert taken.method != "cmpi"
    assert groups.predicted_s > 1.05 * taken.predicted_s
