# SPDX-License-Identifier: Apache-2.0
"""Which pairs `fairlead lab up` calls wrongly delayed, by packets that are made up."""

from __future__ import annotations

import pytest

from fairlead.lab import Scenario
from fairlead.lab.checking_delays import check_delays
from fairlead.lab.topology import draw_topology

TOPOLOGY = draw_topology(
    Scenario.model_validate(
        {"name": "delayed", "hosts": 2, "nic": "1Gbit/s", "latency": {"nic": "500us"}}
    )
)


def checked(times_of_try):
    """Check with these times of h0 -> h1, one list per try; h1 -> h0 is as it should be."""
    tries = iter(times_of_try)

    def ping(pairs, repeats):
        return [next(tries) if pair == (0, 1) else [1.05e-3] * repeats for pair in pairs]

    return check_delays(TOPOLOGY, ping)


def test_pair_whose_fastest_packet_is_in_time_is_right():
    measured_s, wrong = checked([[9e-3, 1.1e-3]])

    assert wrong == []
    assert measured_s[0, 1] == 1.1e-3
    assert measured_s[1, 0] == 1.05e-3


def test_pair_that_a_busy_machine_made_late_is_right_when_tried_again():
    measured_s, wrong = checked([[9e-3], [], [8e-3, 1.2e-3]])

    assert wrong == []
    assert measured_s[0, 1] == 1.2e-3


@pytest.mark.parametrize(
    ("times_of_try", "measured_s"),
    [
        ([[0.05e-3], [0.06e-3], [0.05e-3]], 0.05e-3),
        ([[2e-3], [2e-3], [1.9e-3]], 1.9e-3),
        ([[], [], []], None),
    ],
    ids=["too early", "too late", "lost"],
)
def test_pair_that_stays_wrong_is_named_with_its_time(times_of_try, measured_s):
    (wrong,) = checked(times_of_try)[1]

    assert (wrong.src, wrong.dst, wrong.delay_s) == ("h0", "h1", 1e-3)
    assert wrong.measured_s == measured_s
