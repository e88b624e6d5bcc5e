# SPDX-License-Identifier: Apache-2.0
"""Starts MPI programs with the user's own launcher."""

from fairlead.act.launch._signals import raise_for
from fairlead.act.launch.allocation import allocated_cluster
from fairlead.act.launch.catalogue import LAUNCHERS, detect
from fairlead.act.launch.concurrent import AllFinished, OnLine, run_concurrently
from fairlead.act.launch.conversation import Conversation
from fairlead.act.launch.formats import FORMATS, Cores, write_placement
from fairlead.act.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.act.launch.launch_spec import Launcher, LaunchSpec
from fairlead.act.launch.observing import observe_hosts, observe_ranks
from fairlead.act.launch.process import Finished, LaunchTimeoutError, run
from fairlead.act.launch.reach import unreachable_hosts
from fairlead.act.launch.shared_input import SharedInput
from fairlead.act.launch.slurm import cluster_from_slurm
from fairlead.act.launch.tee import copied

__all__ = [
    "FORMATS",
    "LAUNCHERS",
    "AllFinished",
    "Conversation",
    "Cores",
    "Finished",
    "LaunchSpec",
    "LaunchTimeoutError",
    "Launcher",
    "OnLine",
    "SharedInput",
    "allocated_cluster",
    "cluster_from_slurm",
    "copied",
    "detect",
    "observe_hosts",
    "observe_ranks",
    "parse_hostfile",
    "raise_for",
    "read_hostfile",
    "run",
    "run_concurrently",
    "unreachable_hosts",
    "write_placement",
]
