# SPDX-License-Identifier: Apache-2.0
"""Schedules that were never timed begin only where they are faster on the program's own calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from repeated_calls import MORE_AND_MORE_CALLS, repeat, write_plan
from tracing import TracedMpi

from fairlead.watch.collective_drift import drift_counts
from fairlead.watch.tried_schedules import load_tried

pytestmark = [pytest.mark.mpi]

WORLD = tuple(range(5))
FAST_Bps = 1e12
"""By which a call is predicted to take next to nothing."""


def test_one_that_is_faster_than_the_mpi_is_used_by_all_ranks(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    plan = write_plan(
        tmp_path, WORLD, is_reproducible=False, rate_Bps=FAST_Bps, least_saved_ratio=0.5
    )
    slow = openmpi.build("slow_natives.c", "-shared", "-fPIC", "-ldl")

    # On a busy machine some calls by the schedule may take more than 20 ms.
    for _ in range(5):
        printed, _ = repeat(openmpi, plan, "repeat", 100, slow)
        assert printed == "repeated 100\n"
        (tried,) = load_tried(plan)
        if tried.end == "used":
            break

    assert (tried.end, tried.operation, tried.method) == ("used", "allreduce", "forest")
    assert tried.message_bytes == 16384
    assert tried.native_s >= 0.02
    assert tried.native_s > tried.schedule_s > tried.predicted_s
    counts = drift_counts(plan)
    assert counts is not None
    # Then it is watched as any other: a further schedule may compete with it.
    assert counts.comparisons >= 1 <= counts.replacements


def test_one_that_is_slower_is_left_by_all_ranks(openmpi: TracedMpi, tmp_path: Path) -> None:
    # What the library sends leaves 5 ms late.
    plan = write_plan(
        tmp_path, WORLD, is_reproducible=False, rate_Bps=FAST_Bps, least_saved_ratio=0.5
    )
    slow = openmpi.build("slow_sends.c", "-shared", "-fPIC", "-ldl")

    for num_calls in MORE_AND_MORE_CALLS:
        printed, lines = repeat(openmpi, plan, "repeat", num_calls, slow)
        assert (printed, lines) == (f"repeated {num_calls}\n", [])
        if load_tried(plan):
            break

    (tried,) = load_tried(plan)
    assert tried.end == "slower"
    assert tried.schedule_s > tried.native_s
    counts = drift_counts(plan)
    assert counts is not None
    assert (counts.comparisons, counts.replacements) == (1, 0)


def test_one_that_promises_too_little_is_not_compared(openmpi: TracedMpi, tmp_path: Path) -> None:
    # At a byte a second a schedule takes hours.
    plan = write_plan(tmp_path, WORLD, is_reproducible=False, least_saved_ratio=0.5)
    slow = openmpi.build("slow_natives.c", "-shared", "-fPIC", "-ldl")

    printed, _ = repeat(openmpi, plan, "repeat", 100, slow)

    assert printed == "repeated 100\n"
    (tried,) = load_tried(plan)
    assert (tried.end, tried.schedule_s) == ("unpromising", 0.0)
    assert tried.predicted_s > tried.native_s
    counts = drift_counts(plan)
    assert counts is not None
    assert counts.comparisons == 0


def test_a_few_calls_are_the_mpis_own_and_nothing_is_planned(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    plan = write_plan(
        tmp_path, WORLD, is_reproducible=False, rate_Bps=FAST_Bps, least_saved_ratio=0.5
    )
    slow = openmpi.build("slow_natives.c", "-shared", "-fPIC", "-ldl")

    printed, _ = repeat(openmpi, plan, "repeat", 15, slow)

    assert printed == "repeated 15\n"
    assert load_tried(plan) == []
    counts = drift_counts(plan)
    assert counts is not None
    assert (counts.calls, counts.windows, counts.planning_s) == (0, 0, 0)


def test_calls_that_fail_on_one_rank_keep_ranks_in_step(mpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path, None, is_reproducible=False, rate_Bps=FAST_Bps, least_saved_ratio=0.0
    )

    # All are watched: two windows are not complete, and after one nothing is decided yet.
    printed, _ = repeat(mpi, plan, "errors", 30)

    assert printed == "errors 7, right 30\n"
    counts = drift_counts(plan)
    assert counts is not None
    assert (counts.windows, counts.comparisons) == (1, 0)
