# SPDX-License-Identifier: Apache-2.0
"""The messages by which transfers are rehearsed, and what the measuring program says of TCP."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.measure.probe_result import sends_by_tcp
from fairlead.measure.transfer_rehearsal import (
    Combination,
    large_messages,
    step_messages,
    without_warm_up,
)

HOSTS = ("a", "b")
APART = fl.Placement(HOSTS, np.array([0, 1]))
TOGETHER = fl.Placement(HOSTS, np.array([0, 0]))
SAME = np.array([0, 1])


def traffic(total: float, count: float, largest: float) -> fl.Traffic:
    """From rank 0 to rank 1."""
    return fl.Traffic(*([[0, value], [0, 0]] for value in (total, count, largest)))


def step(sent: fl.Traffic, *, is_relayed: bool = True, part: float = 1.0) -> list[list[int]]:
    return step_messages(Combination(APART, is_relayed), SAME, sent, 65536, part)


def test_messages_of_the_program_go_as_long_as_they_are() -> None:
    assert step(traffic(10 * 2e6, 10, 2e6)) == [[0, 1, 2_000_000, 1]]


def test_without_relays_no_library_sees_them() -> None:
    assert step(traffic(10 * 2e6, 10, 2e6), is_relayed=False) == [[0, 1, 2_000_000]]


def test_short_messages_and_those_of_collectives_go_past_the_library() -> None:
    assert step(traffic(10 * 1000, 10, 1000)) == [[0, 1, 1000]]
    exchanged = fl.Traffic(
        np.zeros((2, 2)), np.zeros((2, 2)), exchange_bytes=[[0, 1e6], [0, 0]],
        exchange_messages=[[0, 1], [0, 0]],
    )  # fmt: skip
    assert step(exchanged) == [[0, 1, 1_000_000]]


def test_of_many_short_messages_and_a_few_long_ones_the_long_ones_are_sent() -> None:
    few = large_messages(traffic(4e6, 1000, 1e6), 65536)
    assert few.size_bytes == pytest.approx([1e6])
    assert large_messages(traffic(4e6, 1000, 65535), 65536).bytes.size == 0


def test_long_messages_are_shortened_but_not_below_several_segments() -> None:
    assert step(traffic(10 * 2e6, 10, 2e6), part=0.5) == [[0, 1, 1_000_000, 1]]
    assert step(traffic(10 * 2e6, 10, 2e6), part=1e-6) == [[0, 1, 1 << 18, 1]]


def test_what_stays_on_a_host_is_not_sent() -> None:
    sent = traffic(10 * 2e6, 10, 2e6)
    assert step_messages(Combination(TOGETHER, is_relayed=True), SAME, sent, 65536, 1.0) == []


def test_the_first_steps_in_which_ways_are_compared_do_not_count() -> None:
    steps_s = np.arange(12.0).reshape(12, 1)
    assert len(without_warm_up(steps_s, 1)) == 8
    assert len(without_warm_up(steps_s, 50)) == 11
    assert len(without_warm_up(steps_s[:3], 1)) == 3


@pytest.mark.parametrize(
    ("by_mpi", "by_tcp", "is_tcp"),
    [(1_000_000, 1_010_000, True), (1_000_000, 2_000, False), (1000, 0, None)],
)
def test_sockets_show_whether_the_mpi_sends_by_tcp(
    by_mpi: int, by_tcp: int, is_tcp: bool | None
) -> None:
    assert sends_by_tcp(f'{{"mpi_bytes":{by_mpi},"tcp_bytes":{by_tcp}}}') is is_tcp
    assert sends_by_tcp("nothing") is None
