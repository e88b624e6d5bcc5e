# SPDX-License-Identifier: Apache-2.0
"""The input of a method."""

from __future__ import annotations

import dataclasses

from fairlead.errors import InputError
from fairlead.narrator import Progress
from fairlead.seed import require_seed
from fairlead.simulation.checks import require_scale
from fairlead.simulation.run import SimulationOptions
from fairlead.simulation.workload import Workload

__all__ = ["JobsProblem", "require_search_limits"]


@dataclasses.dataclass(frozen=True, eq=False)
class JobsProblem:
    """Jobs to be placed; only `optimize` uses more than the jobs and the seed.

    Attributes:
        workload: The jobs, and the machine they share.
        seed: Where random numbers start, 0 to 2**32 - 1.
        options: How placements are simulated to compare them.
        scale: Part of the messages of such a simulation, at most 1.
        time_limit_s: When to stop, in seconds, or None: after a bounded amount of work.
        num_proposals: Swaps that the search may try in all; 0: by the number of ranks, bounded.
        num_threads: Threads; 0: one for each core.
        on_progress: Called now and then.
    """

    workload: Workload
    seed: int = 0
    options: SimulationOptions = dataclasses.field(default_factory=SimulationOptions)
    scale: float = 1.0
    time_limit_s: float | None = None
    num_proposals: int = 0
    num_threads: int = 0
    on_progress: Progress | None = None

    def __post_init__(self) -> None:
        require_search_limits(self.seed, self.scale, self.time_limit_s)
        if self.num_threads < 0:
            raise InputError(f"threads: must be >= 0, got {self.num_threads}")


def require_search_limits(seed: int, scale: float | None, time_limit_s: float | None) -> None:
    """Check the options of a placement before anything is measured.

    Raises:
        InputError: A number is out of its range; the message names it. None leaves it open.
    """
    require_seed(seed)
    if scale is not None:
        require_scale(scale)
    if time_limit_s is not None and not time_limit_s > 0:
        raise InputError(f"time limit: must be > 0 s, got {time_limit_s}")
