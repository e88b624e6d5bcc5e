# SPDX-License-Identifier: Apache-2.0
"""Which schedules of a call are measured."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.collectives.candidates import MOST_CANDIDATES, candidates
from fairlead.decide.collectives.catalogue import VARIANTS

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

    searched = [schedule for schedule in found if schedule.method not in VARIANTS]
    assert [one.predicted_s for one in searched] == sorted(one.predicted_s for one in searched)
    assert len(searched) == MOST_CANDIDATES


@pytest.mark.parametrize("block_bytes", [2**16, 2**18, 2**20, 2**22])
def test_allreduce_is_measured_by_trees_and_by_what_incast_may_slow(block_bytes: int) -> None:
    found = candidates("allreduce", even(), block_bytes, [1] * NUM_HOSTS)

    assert {"linear", "forest"} <= {schedule.method for schedule in found}


def test_segments_of_fixed_sizes_are_measured_too_where_the_message_is_longer() -> None:
    def methods(block_bytes: int) -> set[str]:
        found = candidates("bcast", even(), block_bytes, [1] * NUM_HOSTS, 0)
        return {schedule.method for schedule in found}

    assert {"forest_8k", "forest_64k"} <= methods(2**20)
    assert "forest_8k" in methods(2**16)
    assert not {"forest_64k", "pipeline_64k"} & methods(2**16)
    assert not VARIANTS.keys() & methods(2**12)
