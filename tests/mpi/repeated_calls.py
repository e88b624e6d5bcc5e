# SPDX-License-Identifier: Apache-2.0
"""A program that makes the same collective call again and again, and the plan that it follows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from tracing import PROGRAMS, TracedMpi

import fairlead as fl
from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file

ON_HOSTS = PROGRAMS / "on-hosts.sh"
HOSTS = ("a", "b", "c", "d", "e")
NUM_CALLS = 200
"""More than ten of the first windows."""
MORE_AND_MORE_CALLS = (NUM_CALLS, 5 * NUM_CALLS, 50 * NUM_CALLS)
"""For a busy machine, where a program may end before it has been helped."""


def write_plan(
    folder: Path,
    hosts: tuple[int, ...] | None,
    *,
    is_reproducible: bool,
    rate_Bps: float = 1.0,
    max_ratio: float = 999.0,
    least_saved_ratio: float | None = None,
) -> Path:
    """By default all pairs carry one byte a second, so calls are much faster than predicted.

    Drift is a factor of a thousand, which the plan is off by, but no machine that is busy.
    With `least_saved_ratio` nothing was timed.
    """
    near = np.eye(len(HOSTS), dtype=bool)
    network = fl.Network(HOSTS, np.where(near, 0.0, 1e-9), np.where(near, np.inf, rate_Bps))
    rules = [
        {"operation": operation, "min_bytes": 1024, "max_bytes": None, "hosts": hosts,
         "method": "forest", "least_saved_ratio": least_saved_ratio}
        for operation in ("allreduce", "bcast")
    ]  # fmt: skip
    write_network_plan(folder, network)
    fields = {"num_ranks": len(HOSTS), "is_reproducible": is_reproducible,
              "max_drift_ratio": max_ratio, "drift_from": "predicted", "max_watching_ratio": 1e3,
              "rules": rules}  # fmt: skip
    write_plan_file(folder, "collectives.json", fields, 2)
    return folder


def repeat(
    mpi: TracedMpi, plan: Path, mode: str = "repeat", num_calls: int = NUM_CALLS, *tools: Path
) -> tuple[str, list[str]]:
    """What the program prints, and the lines of the library."""
    launcher = detect(mpi.mpirun)
    preloaded = ":".join(map(str, (find(launcher).intercept, *tools)))
    env = {"LD_PRELOAD": preloaded, "FAIRLEAD_PLAN": str(plan)}
    env["FAIRLEAD_RECORD"] = str(plan)
    program = mpi.build("collectives.cpp")
    name, *options = mode.split()
    words = (name, str(num_calls), *options)
    spec = mpi.spec(len(HOSTS), ON_HOSTS, ",".join(HOSTS), program, *words, **env)
    command = launcher.prepare_command(spec, Path("/nonexistent"))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if line.startswith("fairlead")]
