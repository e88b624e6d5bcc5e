# SPDX-License-Identifier: Apache-2.0
"""Starting MPI programs by the launcher that the user has."""

from fairlead.launch.catalogue import LAUNCHERS, detect
from fairlead.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.launch.job import Job, Launcher
from fairlead.launch.process import Finished, LaunchTimeoutError, run
from fairlead.launch.reach import unreachable_hosts
from fairlead.launch.slurm import cluster_from_slurm

__all__ = [
    "LAUNCHERS",
    "Finished",
    "Job",
    "LaunchTimeoutError",
    "Launcher",
    "cluster_from_slurm",
    "detect",
    "parse_hostfile",
    "read_hostfile",
    "run",
    "unreachable_hosts",
]
