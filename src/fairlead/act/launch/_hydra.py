# SPDX-License-Identifier: Apache-2.0
"""What the launchers have in common that are Hydra: those of MPICH and of Intel MPI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.act.launch._exports import hydra_exports
from fairlead.act.launch._spec_checks import (
    is_in_allocation,
    named_hosts,
    option_names,
    write_once,
)
from fairlead.act.launch.formats.machinefile import machinefile_lines
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.slurm import is_reached_by_launchers

_SRUN_AGENT = (
    "#!/bin/sh",
    "while :; do case $1 in -*) shift ;; *) break ;; esac; done",
    "host=$1",
    "shift",
    'exec srun --nodes=1 --ntasks=1 --overlap --quiet --nodelist="$host" /bin/sh -c "$*"',
)
"""As ssh is called: options, a host, and words of a shell."""

HOST_OPTIONS = frozenset({"n", "np", "f", "hostfile", "machinefile", "machine", "hosts", "host"})


def command_line(
    path: Path, spec: LaunchSpec, hosts: Sequence[str], start: Sequence[str]
) -> list[str]:
    """Command line that starts the program.

    Args:
        path: The launcher.
        spec: The program.
        hosts: Arguments that choose the hosts.
        start: Arguments that choose how processes are started on them.
    """
    return [
        str(path),
        *hosts,
        *start,
        *(() if spec.num_ranks is None else ("-n", str(spec.num_ranks))),
        *hydra_exports(spec.env, spec.launcher_args),
        *spec.program,
    ]


def hosts_file(
    spec: LaunchSpec, work_dir: Path, own: Path | None, with_settings: Callable[[str], str]
) -> Path | None:
    """The file that names the hosts; None where the launcher finds them itself.

    Hydra assigns ranks in the order of the lines, and a host may appear again, so lines in rank
    order can express any placement. Binding is a separate option, which is not set here.

    Args:
        spec: The program, and where it is to run.
        work_dir: Folder for a file that has to be written.
        own: The user's own file, where the launcher places ranks and can read it.
        with_settings: Adds to the line `HOST:N` what the user's hostfile sets for the host.
    """
    if spec.placement is not None:
        lines = machinefile_lines(spec.placement.host_names())
        return write_once(work_dir, "ranks", [with_settings(line) for line in lines])
    if spec.cluster is None or is_in_allocation(spec):
        return None
    lines = [f"{host}:{slots or 1}" for host, slots in named_hosts(spec)]
    return own or write_once(work_dir, "hosts", [with_settings(line) for line in lines])


def must_avoid_slurm(spec: LaunchSpec) -> bool:
    """Whether a host is used that Hydra's part for Slurm does not reach.

    It starts the proxies by srun, in the first component of a heterogeneous job alone.
    """
    return spec.cluster is not None and not is_reached_by_launchers(spec.cluster.hosts)


def srun_agent(work_dir: Path) -> Path | None:
    """A program that reaches the hosts of a job of Slurm by srun; None outside a job."""
    if "SLURM_JOB_ID" not in os.environ or shutil.which("srun") is None:
        return None
    path = write_once(work_dir, "agent", _SRUN_AGENT)
    path.chmod(0o700)
    return path


def has_chosen(spec: LaunchSpec, options: set[str], variables: set[str]) -> bool:
    """Whether the user's launcher arguments or variables have one of these."""
    named = option_names(spec.launcher_args)
    return not options.isdisjoint(named) or not variables.isdisjoint(os.environ)
