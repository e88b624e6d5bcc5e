# SPDX-License-Identifier: Apache-2.0
"""In which order a rank of an all-to-all serves its receivers, where its rate is its own.

The product's order ascends, so that all ranks send to the same receiver at the same time. SPREAD
does not give an order; `sweep.py` shows by these what the order does to the gain of its method.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from fairlead.simulation import Job, Workload

ORDERS = ("own next receiver first", "random receivers")


def with_turns(workload: Workload, order: str) -> Workload:
    """The same messages of each all-to-all pattern in another order; rates must be per process."""
    random = np.random.default_rng(0)
    jobs = [_with_turns(job, order, random) for job in workload.jobs]
    return dataclasses.replace(workload, jobs=jobs)


def _with_turns(job: Job, order: str, random: np.random.Generator) -> Job:
    num_receivers = job.num_ranks - 1
    if job.run_time_s > 0 or len(job.src) != job.num_ranks * num_receivers:
        return job  # recorded, or another pattern
    if order == ORDERS[0]:
        turn = (job.dst - job.src - 1) % job.num_ranks
    else:
        turn = np.concatenate([random.permutation(num_receivers) for _ in range(job.num_ranks)])
    # A rank's messages are as many as before: those left over go to the first in turn.
    total = int(job.num_messages[job.src == 0].sum())
    return dataclasses.replace(
        job,
        num_messages=total // num_receivers + (turn < total % num_receivers),
        first_s=turn / (job.rate_per_s[0] * num_receivers),
    )
