# SPDX-License-Identifier: Apache-2.0
"""`optimize`: a search on the load model, whose best placements the simulator compares.

The load model: docs/design/optimize-jobs.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import numpy as np

from fairlead import _core
from fairlead.decide.jobs.methods import drb, filling, spread
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.narrator import Progress
from fairlead.simulation.jobs_placement import CoresOfJobs, JobsPlacement
from fairlead.simulation.run import (
    SimulationOptions,
    SimulationResult,
    simulate_each,
    to_core_machine,
)
from fairlead.simulation.workload import Workload

__all__ = ["load_model", "optimize"]

STARTS: tuple[Callable[[JobsProblem], CoresOfJobs], ...] = (
    spread.spread_group,
    drb.drb_by_rate,
    drb.drb,
    spread.spread,
    filling.cyclic,
    filling.blocked,
)
"""All other methods, so that the answer is never worse than theirs, and a variant of `drb` from
which the search ends lower on SPREAD's Real 3."""

NUM_WALKED = 2
"""Walks begin from this many starts, and from the one that waits least: with a bounded number of
swaps, fewer walks have more swaps each."""

PROPOSALS_PER_RANK, MOST_PROPOSALS = 3_200, 200_000
"""Swaps of all walks together without a time limit; docs/design/optimize-jobs.md has the gain of
more."""

FEWEST_JUDGED, MOST_JUDGED = 6, 16
"""Placements of the search that are simulated in addition to the starts: the model separates good
from bad placements, but cannot rank nearly equal ones."""

JUDGED_MESSAGES = 5e7
"""More than the fewest are simulated while they have no more messages than this together."""

MOST_JUDGED_MESSAGES = 1e8
"""Messages simulated in all without a time limit; of more messages a part is simulated. No workload
of SPREAD has more."""

MESSAGES_PER_S = 3e6
"""Messages that a core simulates per second at least (bench/spread/speed.py), for planning by
time."""

LATER_RATIO = 1.001
"""Ends that are later by less are not counted as later: the last messages of recorded jobs vary by
milliseconds after minutes."""

_STEPS, _PARTS = 1000, 3
"""Steps of each part of the progress: simulating the starts, the search, simulating its results."""


def optimize(problem: JobsProblem) -> CoresOfJobs:
    """The best placement of the starts and of the search's results, by `best_of`.

    With a time limit, simulating takes at most half of the time, at a smaller scale if necessary.
    Without one, the amount of work is bounded, so that the answer is the same on any machine.
    """
    begin_s = time.monotonic()
    starts = [np.concatenate(start(problem)) for start in STARTS]
    search_s, scale = _divide_time(problem, begin_s)
    results = _simulate(problem, starts, scale, part=0)
    found = _search(problem, _walk(starts, results), search_s)[: _num_judged(problem)]
    results += _simulate(problem, found, scale, part=2)
    best = best_of(results, len(starts))
    return problem.workload.by_job([*starts, *found][best])


def load_model(workload: Workload, options: SimulationOptions) -> _core.JobsProblem:
    """The jobs in the load model's form; ranks are numbered over all jobs."""
    first_rank = np.cumsum([0, *(job.num_ranks for job in workload.jobs)])
    rows = [
        np.column_stack(
            [job.src + first, job.dst + first, job.message_bytes, job.num_messages],
        )
        for job, first in zip(workload.jobs, first_rank[:-1], strict=True)
    ]
    return _core.JobsProblem(
        to_core_machine(workload.machine),
        np.ascontiguousarray(np.concatenate(rows)),
        np.concatenate([1e9 / job.rate_per_s for job in workload.jobs]),
        int(first_rank[-1]),
        workload.machine.free_cores(),
        nic=_core.Nic[options.nic],
        arrivals=_core.Arrivals[options.arrivals],
    )


def _divide_time(problem: JobsProblem, begin_s: float) -> tuple[float, float]:
    """How long the search may take, and the scale of the simulations."""
    num_messages = _num_judged_messages(problem)
    if problem.time_limit_s is None:
        return float("inf"), problem.scale * min(1.0, MOST_JUDGED_MESSAGES / num_messages)
    judging_s = num_messages / MESSAGES_PER_S / _num_cores()
    # The starts alone may have taken longer, but the results still have to be compared.
    left_s = max(problem.time_limit_s / 10, problem.time_limit_s - time.monotonic() + begin_s)
    scale = problem.scale * min(1.0, left_s / 2 / judging_s)
    return left_s - min(judging_s, left_s / 2), scale


def _num_judged_messages(problem: JobsProblem) -> float:
    """Messages of all simulations together at the wanted scale."""
    return _num_messages(problem) * (len(STARTS) + _num_judged(problem))


def _num_judged(problem: JobsProblem) -> int:
    affordable = int(JUDGED_MESSAGES / _num_messages(problem))
    return min(max(FEWEST_JUDGED, affordable), MOST_JUDGED)


def _num_messages(problem: JobsProblem) -> float:
    """Messages of one simulation."""
    return max(problem.workload.num_messages * problem.scale, 1.0)


def _num_cores() -> int:
    """Cores that this process may use, perhaps fewer than there are."""
    return len(os.sched_getaffinity(0))


def _walk(starts: Sequence[np.ndarray], results: Sequence[SimulationResult]) -> list[np.ndarray]:
    """The starts of the walks; results must not end later than the first of them."""
    least = min(range(len(starts)), key=lambda index: results[index].waiting_time_s)
    return [starts[index] for index in sorted({*range(NUM_WALKED), least})]


def _num_proposals(problem: JobsProblem) -> int:
    """Number of proposals without a time limit; 0 makes the search plan by the limit."""
    if problem.time_limit_s is not None:
        return 0
    return min(PROPOSALS_PER_RANK * problem.workload.num_ranks, MOST_PROPOSALS)


def _search(problem: JobsProblem, starts: Sequence[np.ndarray], limit_s: float) -> list[np.ndarray]:
    """Results of the walks, the least predicted waiting first."""

    def count(done: int, total: int) -> bool:
        if problem.on_progress is not None:
            problem.on_progress(_STEPS + _STEPS * done // total, _PARTS * _STEPS)
        return True

    limits = _core.SearchLimits(
        seed=problem.seed,
        num_proposals=problem.num_proposals or _num_proposals(problem),
        time_limit_s=limit_s,
        num_threads=problem.num_threads or _num_cores(),
        starts=[start.tolist() for start in starts],
        fixed_host_of_rank=np.zeros(0, dtype=np.int64),
        most_moves=-1,
        on_progress=count,
    )
    found = _core.optimize_jobs(
        load_model(problem.workload.scaled(problem.scale), problem.options), limits
    )
    return [np.array(placement.core_of_rank) for placement in found]


def _simulate(
    problem: JobsProblem, candidates: Sequence[np.ndarray], scale: float, part: int
) -> list[SimulationResult]:
    """Simulate each placement, as this part of the progress."""
    workload = problem.workload
    placements = [
        JobsPlacement(workload.machine, workload.by_job(cores), "optimize") for cores in candidates
    ]

    def count(done: int, total: int) -> None:
        assert problem.on_progress is not None
        problem.on_progress(part * _STEPS + _STEPS * done // total, _PARTS * _STEPS)

    on_progress: Progress | None = count if problem.on_progress is not None else None
    return simulate_each(
        workload, placements, problem.options, scale=scale, on_progress=on_progress
    )


def best_of(results: Sequence[SimulationResult], num_starts: int) -> int:
    """Index of the answer among the results, which begin with those of the starts.

    Nothing that waits longer than a start. Of the others, those that are done no later than the
    first start if there are any; of these the one that waits least; of equals the one whose jobs
    are done first.
    """
    first = results[0]
    least_s = min(result.waiting_time_s for result in results[:num_starts])

    def is_later(result: SimulationResult) -> bool:
        return (
            result.finish_time_s > first.finish_time_s * LATER_RATIO
            or result.total_finish_time_s > first.total_finish_time_s * LATER_RATIO
        )

    def order(index: int) -> tuple[bool, bool, float, float]:
        result = results[index]
        waits_s = result.waiting_time_s
        return waits_s > least_s, is_later(result), waits_s, result.total_finish_time_s

    return min(range(len(results)), key=order)
