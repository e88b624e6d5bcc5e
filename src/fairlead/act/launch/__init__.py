# SPDX-License-Identifier: Apache-2.0
"""Starts MPI programs with the user's own launcher."""

from fairlead.act.launch._placed_start import PLACING_OPTIONS, has_placing_option
from fairlead.act.launch._scheduler_launcher import SchedulerLauncher
from fairlead.act.launch._signals import raise_for
from fairlead.act.launch.allocation import find_allocation
from fairlead.act.launch.binding import BindingLostError, with_binding
from fairlead.act.launch.catalogue import LAUNCHERS, detect
from fairlead.act.launch.chosen_cpus import ObserveCpus, with_chosen_cpus
from fairlead.act.launch.concurrent import AllFinished, OnLine, run_concurrently
from fairlead.act.launch.conversation import Conversation
from fairlead.act.launch.default_hostfile import default_hosts
from fairlead.act.launch.formats import FORMATS, Cores, write_placement
from fairlead.act.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.act.launch.launch_spec import Launcher, LaunchSpec, RankCpus
from fairlead.act.launch.observing import HostedRank, observe_hosts, observe_ranks
from fairlead.act.launch.process import Finished, LaunchTimeoutError, run
from fairlead.act.launch.reach import unreachable_hosts
from fairlead.act.launch.shared_input import SharedInput
from fairlead.act.launch.slurm import cluster_from_slurm, environment_of_tools
from fairlead.act.launch.tee import copy_output

__all__ = [
    "FORMATS",
    "LAUNCHERS",
    "PLACING_OPTIONS",
    "AllFinished",
    "BindingLostError",
    "Conversation",
    "Cores",
    "Finished",
    "HostedRank",
    "LaunchSpec",
    "LaunchTimeoutError",
    "Launcher",
    "ObserveCpus",
    "OnLine",
    "RankCpus",
    "SchedulerLauncher",
    "SharedInput",
    "cluster_from_slurm",
    "copy_output",
    "default_hosts",
    "detect",
    "environment_of_tools",
    "find_allocation",
    "has_placing_option",
    "observe_hosts",
    "observe_ranks",
    "parse_hostfile",
    "raise_for",
    "read_hostfile",
    "run",
    "run_concurrently",
    "unreachable_hosts",
    "with_binding",
    "with_chosen_cpus",
    "write_placement",
]
