# SPDX-License-Identifier: Apache-2.0
"""Starting MPI programs by the launcher that the user has."""

from fairlead.launch.catalogue import LAUNCHERS, detect
from fairlead.launch.conversation import Conversation
from fairlead.launch.copying import copied
from fairlead.launch.formats import FORMATS, Cores, read_placement, write_placement
from fairlead.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.launch.job import Job, Launcher
from fairlead.launch.process import Finished, LaunchTimeoutError, run
from fairlead.launch.reach import unreachable_hosts
from fairlead.launch.shared_input import SharedInput
from fairlead.launch.slurm import cluster_from_slurm
from fairlead.launch.together import OnLine, Together, run_together

__all__ = [
    "FORMATS",
    "LAUNCHERS",
    "Conversation",
    "Cores",
    "Finished",
    "Job",
    "LaunchTimeoutError",
    "Launcher",
    "OnLine",
    "SharedInput",
    "Together",
    "cluster_from_slurm",
    "copied",
    "detect",
    "parse_hostfile",
    "read_hostfile",
    "read_placement",
    "run",
    "run_together",
    "unreachable_hosts",
    "write_placement",
]
