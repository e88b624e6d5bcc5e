# SPDX-License-Identifier: Apache-2.0
"""Starting MPI programs by the launcher that the user has."""

from fairlead.act.launch.catalogue import LAUNCHERS, detect
from fairlead.act.launch.conversation import Conversation
from fairlead.act.launch.copying import copied
from fairlead.act.launch.formats import FORMATS, Cores, write_placement
from fairlead.act.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.act.launch.launch_spec import Launcher, LaunchSpec
from fairlead.act.launch.process import Finished, LaunchTimeoutError, run
from fairlead.act.launch.reach import unreachable_hosts
from fairlead.act.launch.shared_input import SharedInput
from fairlead.act.launch.slurm import cluster_from_slurm
from fairlead.act.launch.together import OnLine, Together, run_together

__all__ = [
    "FORMATS",
    "LAUNCHERS",
    "Conversation",
    "Cores",
    "Finished",
    "LaunchSpec",
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
    "run",
    "run_together",
    "unreachable_hosts",
    "write_placement",
]
