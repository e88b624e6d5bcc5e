# SPDX-License-Identifier: Apache-2.0
"""Which schedules of a call are measured."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.collectives.candidates import candidates

NUM_HOSTS = 8


def even() -> fl.Network:
    is_self = np.eye(NUM_HOSTS, dtype=bool)
    return fl.Network(
        [f"host{host}" for host in range(NUM_HOSTS)],
        np.where(is_self, 0.0, 5e-5),
        np.where(is_self, np.inf, 125e6),
    )


@pytest.mark.parametrize("block_bytes", [2**16, 2**18, 2**20, 2**22])
def test_candidates_are_the_fastest_predicted_first(block_bytes: int) -> None:
    found = candidates("allreduce", even(), block_bytes, [1] * NUM_HOSTS)

    predicted_s = [schedule.predicted_s for schedule in found]
    assert predicted_s == sorted(predicted_s)


@pytest.mark.parametrize("block_bytes", [2**16, 2**18, 2**20, 2**22])
def test_allreduce_is_measured_by_trees_beside_what_incast_may_slow(block_bytes: int) -> None:
    found = candidates("allreduce", even(), block_bytes, [1] * NUM_HOSTS)

    assert {"linear", "forest"} <= {schedule.method for schedule in found}
