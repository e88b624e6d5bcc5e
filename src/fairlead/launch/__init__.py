# SPDX-License-Identifier: Apache-2.0
"""Starting MPI programs by the launcher that the user has."""

from fairlead.launch.catalogue import LAUNCHERS, detect
from fairlead.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.launch.job import Job, Launcher
from fairlead.launch.process import Finished, LaunchTimeoutError, run

__all__ = [
    "LAUNCHERS",
    "Finished",
    "Job",
    "LaunchTimeoutError",
    "Launcher",
    "detect",
    "parse_hostfile",
    "read_hostfile",
    "run",
]
