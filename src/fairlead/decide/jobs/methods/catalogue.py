# SPDX-License-Identifier: Apache-2.0
"""All methods by name, and `place_jobs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairlead.decide.jobs.methods import drb, filling, optimize, spread
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.errors import InputError
from fairlead.narrator import Progress
from fairlead.simulation.jobs_placement import CoresOfJobs, JobsPlacement
from fairlead.simulation.run import SimulationOptions
from fairlead.simulation.workload import Workload

__all__ = ["DEFAULT_JOB_METHOD", "JOB_METHODS", "JobMethod", "place_jobs", "require_job_method"]


class JobMethod(NamedTuple):
    """One way to place several jobs.

    Attributes:
        place: Cores of each job's ranks.
        letter: Its letter in SPREAD's figures, or in ours.
        summary: What it does, in one line.
    """

    place: Callable[[JobsProblem], CoresOfJobs]
    letter: str
    summary: str


JOB_METHODS: dict[str, JobMethod] = {
    "blocked": JobMethod(filling.blocked, "B", "neighbouring ranks together, nodes one by one"),
    "cyclic": JobMethod(filling.cyclic, "C", "a rank for each node in turn, over all jobs"),
    "drb": JobMethod(drb.drb, "D", "Scotch: all traffic mapped to the tree of nodes and sockets"),
    "spread": JobMethod(
        spread.spread, "N", "SPREAD: at most a threshold of a job's ranks on a node"
    ),
    "spread-group": JobMethod(
        spread.spread_group,
        "G",
        "our variant of spread: neighbours of neighbours also follow",
    ),
    "optimize": JobMethod(
        optimize.optimize, "O", "a search on the load model; never behind the others in simulation"
    ),
}

DEFAULT_JOB_METHOD = "optimize"
"""Never behind another method in simulation, and the fastest of all when they were run
(docs/reference/results/jobs.md)."""


def place_jobs(
    workload: Workload,
    method: str = DEFAULT_JOB_METHOD,
    *,
    seed: int = 0,
    options: SimulationOptions | None = None,
    scale: float = 1.0,
    time_limit_s: float | None = None,
    num_threads: int = 0,
    on_progress: Progress | None = None,
) -> JobsPlacement:
    """Choose a core for each rank of each job; no core gets two, no taken core is used.

    Args:
        workload: The jobs, and the machine they share.
        method: Name in `JOB_METHODS`. All others but "optimize" look at the workload and the seed
            only.
        seed: Where random numbers start, 0 to 2**32 - 1; same seed, same placement, with any
            number of threads, unless the time limit cuts the search short.
        options: How "optimize" simulates the placements that it compares.
        scale: Part of the messages that it then simulates.
        time_limit_s: When it is to stop, in seconds; by default it does a bounded amount of work
            (docs/design/optimize-jobs.md).
        num_threads: Threads of its search; 0: one for each core.
        on_progress: Called with the steps done and the steps in all.

    Raises:
        InputError: There is no such method; the message lists those there are. Or a number is
            out of range; the message names it.
    """
    require_job_method(method)
    problem = JobsProblem(
        workload,
        seed=seed,
        options=options or SimulationOptions(),
        scale=scale,
        time_limit_s=time_limit_s,
        num_threads=num_threads,
        on_progress=on_progress,
    )
    return JobsPlacement(workload.machine, JOB_METHODS[method].place(problem), method)


def require_job_method(method: str) -> None:
    """Check a name before anything is measured.

    Raises:
        InputError: There is no such method; the message lists those there are.
    """
    if method not in JOB_METHODS:
        raise InputError(f"method: unknown name {method!r}; there are {', '.join(JOB_METHODS)}")
