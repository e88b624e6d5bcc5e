# SPDX-License-Identifier: Apache-2.0
"""Collectives whose times drift are looked after, and stay right."""

from __future__ import annotations

from pathlib import Path

import pytest
from repeated_calls import MORE_AND_MORE_CALLS, NUM_CALLS, repeat, write_plan
from tracing import TracedMpi

from fairlead.watch.collective_drift import drift_counts

pytestmark = [pytest.mark.mpi]


def test_drift_is_looked_into_and_a_new_schedule_compared(mpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, tuple(range(5)), is_reproducible=False)

    for num_calls in MORE_AND_MORE_CALLS:
        printed, lines = repeat(mpi, plan, num_calls=num_calls)
        assert printed == f"repeated {num_calls}\n"
        counts = drift_counts(plan)
        assert counts is not None
        assert counts.windows >= counts.drifts >= counts.probes >= 1
        if counts.comparisons > 0:
            break
    assert counts.comparisons >= 1
    assert counts.replacements == len(lines), lines
    assert counts.longest_stop_s > 0
    # On a thread of its own, while the program runs.
    assert counts.planning_s > 0


# On two cores MPICH's waiting ranks take the time from those that work, whatever the sends take.
def test_a_schedule_that_is_slower_than_the_mpi_is_left_by_all_ranks(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    # A call is planned to take microseconds, and takes 5 ms and more by any schedule.
    plan = write_plan(tmp_path, tuple(range(5)), is_reproducible=False, rate_Bps=1e12)
    slow = openmpi.build("slow_sends.c", "-shared", "-fPIC", "-ldl")

    for num_calls in MORE_AND_MORE_CALLS:
        printed, lines = repeat(openmpi, plan, "repeat", num_calls, slow)
        assert printed == f"repeated {num_calls}\n"
        if any("follows no schedule any more" in line for line in lines):
            break

    counts = drift_counts(plan)
    assert counts is not None
    assert counts.replacements == len(lines) >= 1, lines


def test_one_probe_serves_all_calls_that_drift(openmpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, tuple(range(5)), is_reproducible=False)

    # On a busy machine a probe may end before it came to all pairs, and another one is needed.
    for num_calls in MORE_AND_MORE_CALLS:
        printed, _ = repeat(openmpi, plan, "sizes", num_calls)
        assert printed == f"repeated {num_calls}\n"
        counts = drift_counts(plan)
        assert counts is not None
        if 1 <= counts.probes < counts.comparisons:
            return
    pytest.fail(f"each call was probed for by itself: {counts}")


def test_calls_of_another_size_that_follow_the_same_schedule_are_not_timed(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, tuple(range(5)), is_reproducible=False)

    printed, _ = repeat(openmpi, plan, "near")

    assert printed == f"repeated {NUM_CALLS}\n"
    counts = drift_counts(plan)
    assert counts is not None
    # Those of the first size; a median of both would change with how many of each it has.
    assert 0 < counts.calls <= NUM_CALLS // 2


def test_communicators_that_overlap_are_looked_after_without_a_deadlock(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, None, is_reproducible=False)

    printed, _ = repeat(openmpi, plan)

    assert printed == f"repeated {NUM_CALLS}\n"
    counts = drift_counts(plan)
    assert counts is not None
    assert counts.probes >= 1


def test_a_reproducible_plan_is_never_looked_after(openmpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, None, is_reproducible=True)

    printed, lines = repeat(openmpi, plan)

    assert (printed, lines) == (f"repeated {NUM_CALLS}\n", [])
    assert drift_counts(plan) is None


def test_calls_that_fail_on_one_rank_are_counted_there_too(mpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, None, is_reproducible=False)

    printed, _ = repeat(mpi, plan, "errors")

    # If not, that rank is in the next call while the others agree on times.
    assert printed == f"errors {NUM_CALLS // 4}, right {NUM_CALLS}\n"
    counts = drift_counts(plan)
    assert counts is not None
    assert counts.windows > 0


@pytest.mark.parametrize(("mode", "num_right"), [("errors", 30), ("errors 0", 23)])
def test_calls_that_fail_on_one_rank_while_the_mpi_is_compared_keep_ranks_in_step(
    mpi: TracedMpi, tmp_path: Path, mode: str, num_right: int
) -> None:
    # A call is planned to take less time than any does, so the MPI's own are compared after 16
    # calls. With 15 more calls they could win: then calls that fail are as without the library.
    plan = write_plan(tmp_path, None, is_reproducible=False, rate_Bps=1e11, max_ratio=0.5)
    num_calls = 30

    printed, _ = repeat(mpi, plan, mode, num_calls)

    assert printed == f"errors {num_calls // 4}, right {num_right}\n"
    counts = drift_counts(plan)
    assert counts is not None
    assert (counts.windows, counts.replacements) == (1, 0)
