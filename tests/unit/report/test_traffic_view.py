# SPDX-License-Identifier: Apache-2.0
"""What is shown of traffic: counted messages, and those that collectives are expected to send."""

from __future__ import annotations

import numpy as np

from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic
from fairlead.report.traffic_view import busiest_pairs, facts, summary_lines


def by_collectives(*calls: CollectiveCall) -> Traffic:
    nothing = np.zeros((4, 4))
    return Traffic(nothing, nothing, collectives=calls, communicators=[np.arange(4)])


def test_messages_inside_collectives_are_marked_as_estimated() -> None:
    traffic = by_collectives(CollectiveCall("allreduce", 4, 1000, 4, 0.1, None, 0))
    lines = summary_lines(traffic)
    assert "point to point: 0 B in 0 messages" in lines
    assert "inside other collectives: 7.81 KiB in 8 messages, estimated" in lines
    assert facts(traffic)["inside_collectives"] == {"bytes": 8000, "messages": 8}
    assert [0, 1, 1000.0, 1.0] in facts(traffic)["pairs"]
    assert busiest_pairs(traffic)[0].bytes == 1000


def test_a_program_that_sends_no_bytes_has_no_pairs() -> None:
    """It only waits for all others; its facts ended in an error of SciPy."""
    found = facts(by_collectives(CollectiveCall("barrier", 4, 0, 4, 0.1, None, 0)))
    assert found["pairs"] == []
    assert found["inside_collectives"] == {"bytes": 0, "messages": 8}
    assert found["busiest_pairs"] == []


def test_without_collectives_there_is_no_line_about_them() -> None:
    assert not any("other collectives" in line for line in summary_lines(by_collectives()))
    assert facts(by_collectives())["pairs"] == []
