# SPDX-License-Identifier: Apache-2.0
"""A host is measured by all CPUs of the job, whatever the launcher binds the measuring process to.

mpirun of Open MPI 4 binds it on its own machine and not on others: bound, that host would be slow.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from launchers import MPIS

from fairlead.act import mpi_builds
from fairlead.act.launch import detect

pytestmark = pytest.mark.mpi

ORDER = json.dumps({"hosts": True})


def host_row(*words: str, taskset: str | None = None) -> list:
    """What a single process reports of its host.

    Args:
        words: Further arguments of mpirun of Open MPI 4.
        taskset: CPUs that mpirun itself may use; None: all.
    """
    launcher = detect(MPIS["openmpi-4"].mpirun)
    program = str(mpi_builds.find(launcher).probe)
    prefix = ["taskset", "-c", taskset] if taskset else []
    command = [*prefix, str(launcher.path), "-n", "1", *words, program, ORDER]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return row_of(done.stdout)


def row_of(printed: str) -> list:
    """The row of the only host in what the program prints."""
    (row,) = json.loads(printed[printed.index('{"format"') :])["hosts"]
    return row


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU: binding changes nothing")
@pytest.mark.parametrize("binding", ["none", "core"])
def test_a_bound_process_measures_all_cpus_of_the_job(binding: str) -> None:
    assert host_row("--bind-to", binding)[0] == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("binding", ["none", "core"])
def test_cpus_that_the_user_has_taken_away_are_not_measured(binding: str) -> None:
    first = min(os.sched_getaffinity(0))

    assert host_row("--bind-to", binding, taskset=str(first))[0] == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU: binding changes nothing")
@pytest.mark.parametrize("are_of_job", [True, False], ids=["job", "other-jobs"])
def test_below_slurm_the_cpus_of_the_step_are_measured(tmp_path: Path, are_of_job: bool) -> None:
    """srun binds each task to its CPU, below a process that is not bound as the job is."""
    stepd = tmp_path / "slurmstepd"
    shutil.copy("/bin/sh", stepd)
    program = str(mpi_builds.find(detect(MPIS["mpich-4"].mpirun)).probe)
    all_cpus = os.sched_getaffinity(0)
    # The kernel allows all; of those, Slurm has given this step all, or one.
    step = {"SLURM_CPUS_ON_NODE": str(len(all_cpus) if are_of_job else 1)}
    bound = f"taskset -c {min(all_cpus)} {program} '{ORDER}'; exit $?"

    done = subprocess.run(
        [stepd, "-c", bound], env=os.environ | step, capture_output=True, text=True, check=True
    )

    assert row_of(done.stdout)[0] == int(step["SLURM_CPUS_ON_NODE"])


def test_every_rate_is_above_zero_or_unknown_with_its_interval() -> None:
    num_cores, *rates = host_row()

    assert num_cores >= 1
    assert all(rate > 0 for interval in rates[:2] for rate in interval)
    for interval in rates[2:]:  # unknown where the kernel shows no caches, or memory is short
        assert interval == [None] * 3 or all(rate > 0 for rate in interval)
