# SPDX-License-Identifier: Apache-2.0
"""SPREAD's tables, number by number: the machine (table 1) and the workloads (tables 2 to 9)."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.simulation import PATTERNS

KB, MB = 2**10, 2**20
FOUR_PATTERNS = ("all_to_all", "bcast", "gather", "linear")


def sent_once(size: int, dst_core: int) -> fl.SimulationResult:
    """One message from core 0 of the default machine, alone."""
    job = fl.Job.from_pattern("linear", 2, message_bytes=size, rate_per_s=1, num_messages=1)
    placement = fl.JobsPlacement(fl.Machine(), [np.array([0, dst_core])])
    return fl.simulate(fl.Workload("one message", [job], fl.Machine()), placement)


def duration_s(size: int, dst_core: int) -> float:
    return sent_once(size, dst_core).finish_time_s


def users(size: int, dst_core: int) -> list[str]:
    """Interfaces and memories that the message passes."""
    return [server.name for server in sent_once(size, dst_core).servers if server.num_messages]


SAME_SOCKET, OTHER_SOCKET, OTHER_NODE = 3, 4, 16


def test_the_cluster_has_16_nodes_of_4_sockets_of_4_cores() -> None:
    # Section 5.1.
    machine = fl.Machine()
    assert (machine.nodes, machine.sockets, machine.cores, machine.num_cores) == (16, 4, 4, 256)


def test_memory_carries_4_gb_a_second() -> None:
    assert duration_s(8_000_000, SAME_SOCKET) == pytest.approx(0.002)
    assert users(8_000_000, SAME_SOCKET) == ["node0.socket0.memory"]


@pytest.mark.parametrize("size", [4_000, 8_000_000])
def test_another_sockets_memory_takes_10_percent_longer(size: int) -> None:
    assert duration_s(size, OTHER_SOCKET) == pytest.approx(1.1 * size / 4e9)


def test_a_socket_shares_its_cache_for_messages_up_to_1_mb() -> None:
    assert users(MB, SAME_SOCKET) == []
    assert users(MB + 1, SAME_SOCKET) == ["node0.socket0.memory"]
    assert users(1, OTHER_SOCKET) == ["node0.socket0.memory"]


def test_the_cache_is_assumed_as_fast_as_the_memory() -> None:
    # Table 1 names a chip instead of a rate; messages never wait for a cache.
    assert duration_s(1_000_000, SAME_SOCKET) == pytest.approx(1_000_000 / 4e9)


@pytest.mark.parametrize("size", [1, 1_000, 1_000_000])
def test_an_interface_carries_1_gb_a_second_and_the_switch_takes_100_ns(size: int) -> None:
    # Whatever the size of the message: sent, passed on, received.
    assert duration_s(size, OTHER_NODE) == pytest.approx(2 * size / 1e9 + 100e-9, abs=1e-12)
    assert users(size, OTHER_NODE) == ["node0.nic.send", "node1.nic.receive"]


@pytest.mark.parametrize(("nic", "waiting_s"), [("shared", 3.6e-6), ("separate", 0)])
def test_a_shared_interface_serves_one_request_at_a_time(nic: str, waiting_s: float) -> None:
    # Section 1. Two nodes send 2 messages of 1 us to each other, at 0 and at 1 us. What arrives at
    # 1.1 us waits 0.9 us for the second one that is being sent, and what arrives at 2.1 us for it.
    job = fl.Job.from_pattern("all_to_all", 2, message_bytes=1000, rate_per_s=1e6, num_messages=2)
    workload = fl.Workload("both ways", [job], fl.Machine())
    placement = fl.JobsPlacement(fl.Machine(), [np.array([0, OTHER_NODE])])
    result = fl.simulate(workload, placement, fl.SimulationOptions(nic=nic))
    assert result.waiting_time_s == pytest.approx(waiting_s)


@pytest.mark.parametrize(
    ("number", "processes", "lengths", "rate"),
    [
        (1, 64, [64 * KB], 100),
        (2, 64, [2 * MB], 10),
        (3, 32, [2 * MB, 64 * KB], 10),
        (4, 24, [2 * MB, 64 * KB], 10),
    ],
    ids=["table-2", "table-3", "table-4", "table-5"],
)
def test_tables_2_to_5_are_the_synthetic_workloads(
    number: int, processes: int, lengths: list[int], rate: float
) -> None:
    workload = fl.Workload.load(f"Synt_workload_{number}", rate_per="process")
    expected = [(pattern, length) for length in lengths for pattern in FOUR_PATTERNS]
    assert len(workload.jobs) == len(expected)
    for job, (pattern, length) in zip(workload.jobs, expected, strict=True):
        assert job.num_ranks == processes
        pairs = np.column_stack([job.src, job.dst])
        assert np.array_equal(pairs, PATTERNS[pattern].pairs(processes))
        assert set(job.message_bytes) == {length}
        # Below table 2: each process sends at this rate, this many messages.
        senders = np.unique(job.src)
        for values, total in ((job.rate_per_s, rate), (job.num_messages, 2000)):
            of_sender = [values[job.src == sender].sum() for sender in senders]
            assert of_sender == pytest.approx([total] * len(senders))


@pytest.mark.parametrize(
    ("number", "jobs"),
    [
        (1, "sp.C.25 is.C.32 ft.B.32 ft.B.16 is.C.16 cg.C.32 is.B.8 bt.C.25 cg.B.16"),
        (2, "is.B.8 ft.B.32 is.C.32 mg.C.32 cg.C.32 is.B.32 mg.B.32 cg.B.32 bt.C.16"),
        (3, "bt.B.25 cg.B.32 ep.B.32 ft.B.32 is.B.32 lu.B.25 mg.B.32 sp.B.25"),
        (4, "sp.C.25 cg.C.32 ep.C.32 mg.C.32"),
    ],
    ids=["table-6", "table-7", "table-8", "table-9"],
)
def test_tables_6_to_9_are_the_real_workloads(number: int, jobs: str) -> None:
    workload = fl.Workload.load(f"Real_workload_{number}")
    assert [job.name for job in workload.jobs] == jobs.split()
    assert [job.num_ranks for job in workload.jobs] == [
        int(name.rsplit(".", 1)[1]) for name in jobs.split()
    ]
