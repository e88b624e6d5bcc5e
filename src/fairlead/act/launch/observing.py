# SPDX-License-Identifier: Apache-2.0
"""Observes where the launcher puts ranks: each rank of a tiny program reports the machine it is on.

Nothing is computed from rules of the launcher: files, options, variables, a scheduler's allocation
and the launcher's own settings all act as they do on the user's program.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairlead.act.launch._placed_start import RANK
from fairlead.act.launch.launch_spec import Launcher, LaunchSpec
from fairlead.act.launch.process import LaunchTimeoutError, run
from fairlead.act.launch.slurm import environment_of_tools
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

__all__ = ["HostedRank", "observe_hosts", "observe_machines", "observe_ranks"]

TIMEOUT_S = 60.0
"""Guards against a launcher that hangs; starting 256 shells takes about two seconds."""

# The machine by its own name, its boot and its network: containers of one machine have one boot,
# and machines of one image may have one name.
# Ranks live for half a second: where all end within milliseconds, mpirun of Open MPI 5.0.11
# sometimes never ends.
_REPORT = (
    f'echo "fairlead-rank {RANK} '
    "$(uname -n) $(cat /proc/sys/kernel/random/boot_id) $(readlink /proc/self/ns/net) "
    "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*/cpus=/p' /proc/self/status)\"; sleep 0.5"
)
_REPORTED = re.compile(r"fairlead-rank (\d+) (\S+) (\S+) (\S+) cpus=([\d,-]+)")

_GOES_ON = re.compile(r"[a-z]|--\w")
"""How a line begins that continues the sentence of the line before."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine by its own name, and what distinguishes it from others of that name."""

    name: str
    boot: str
    network: str


class ObservedRank(NamedTuple):
    """Where a rank runs.

    Attributes:
        machine: Its machine.
        cpus: CPUs on which it may run, in the form of cpuset(7): "0-3,8".
    """

    machine: Machine
    cpus: str


class HostedRank(NamedTuple):
    """Where a rank runs, by the name that the cluster has for its machine.

    Attributes:
        host: Its host.
        cpus: As of `ObservedRank`; empty where they are not known.
    """

    host: str
    cpus: str


def observe_ranks(launcher: Launcher, spec: LaunchSpec, work_dir: Path) -> list[ObservedRank]:
    """The machine and CPUs of each rank that the launcher starts for this spec.

    Args:
        launcher: The user's launcher.
        spec: As for the program, whose place the tiny program takes; without a number of ranks, as
            many as the launcher starts by itself.
        work_dir: Folder for the launcher's files.

    Raises:
        LaunchError: The launcher failed, or not every rank reported; the message ends with what the
            launcher printed last.
    """
    small = dataclasses.replace(spec, program=("/bin/sh", "-c", _REPORT), env={}, is_tool=True)
    try:
        command = launcher.prepare_command(small, work_dir)
        finished = run(command, env=environment_of_tools(), capture=True, timeout_s=TIMEOUT_S)
    except LaunchTimeoutError as error:
        raise LaunchError(f"{error}; {_last_sentence(error.finished.stderr, 1)}") from error
    seen = {
        int(rank): ObservedRank(Machine(name, boot, network), cpus)
        for rank, name, boot, network, cpus in _REPORTED.findall(finished.stdout)
    }
    if finished.returncode != 0:
        raise LaunchError(_last_sentence(finished.stderr or finished.stdout, finished.returncode))
    num_ranks = len(seen) if spec.num_ranks is None else spec.num_ranks
    if num_ranks == 0 or sorted(seen) != list(range(num_ranks)):
        raise LaunchError(f"{len(seen)} of {num_ranks} ranks reported their host")
    return [seen[rank] for rank in range(num_ranks)]


def observe_machines(
    launcher: Launcher, cluster: Cluster, launcher_args: tuple[str, ...], work_dir: Path
) -> list[Machine]:
    """The machine of each host of a cluster, by one process on each.

    Raises:
        LaunchError: As `observe_ranks`.
    """
    one_each = Placement(cluster.hosts, np.arange(cluster.num_hosts), method="probe")
    spec = LaunchSpec(("true",), cluster.num_hosts, cluster, one_each, launcher_args=launcher_args)
    return [rank.machine for rank in observe_ranks(launcher, spec, work_dir)]


def observe_hosts(launcher: Launcher, spec: LaunchSpec, work_dir: Path) -> list[HostedRank]:
    """Host and CPUs of each rank, hosts by the names that the spec's cluster has for them.

    Raises:
        LaunchError: As `observe_ranks`; or a rank is on none of the hosts, or on one of several
            hosts that are the same machine.
    """
    cluster = spec.cluster
    if cluster is None:
        raise LaunchError("no hosts were given")
    ranks = observe_ranks(launcher, spec, work_dir)
    machines = [rank.machine for rank in ranks]
    named = {machine.name for machine in machines}
    if named <= set(cluster.hosts) and len(set(machines)) == len(named):
        return [HostedRank(rank.machine.name, rank.cpus) for rank in ranks]
    known = observe_machines(launcher, cluster, spec.launcher_args, work_dir)
    host_of_machine = dict(zip(known, cluster.hosts, strict=True))
    if len(host_of_machine) < cluster.num_hosts:
        raise LaunchError("several of the hosts are the same machine")
    for machine in machines:
        if machine not in host_of_machine:
            raise LaunchError(f"it starts ranks on {machine.name}, which is none of the hosts")
    return [HostedRank(host_of_machine[rank.machine], rank.cpus) for rank in ranks]


def _last_sentence(text: str, returncode: int) -> str:
    """What the launcher printed last; launchers break long sentences into lines."""
    said: list[str] = []
    for line in map(str.strip, reversed(text.splitlines())):
        has_words = re.search(r"\w", line) is not None
        if has_words:
            said.insert(0, line)
        if said and not (has_words and _GOES_ON.match(line)):
            break
    return " ".join(said) or f"the launcher ended with exit code {returncode}"
