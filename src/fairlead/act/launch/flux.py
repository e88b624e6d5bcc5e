# SPDX-License-Identifier: Apache-2.0
"""Flux's `flux run`: starts the ranks of any MPI in the instance that this process runs in."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.act.launch._cpu_list import common_cpu_list
from fairlead.act.launch._exports import flux_exports
from fairlead.act.launch._placed_start import start_of_placement
from fairlead.act.launch._scheduler_launcher import SchedulerLauncher, choose_program_mpi
from fairlead.act.launch._spec_checks import check_spec, write_once
from fairlead.act.launch.flux_instance import is_in_flux
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.errors import LaunchError

# "commands:    \t\t0.88.0", then "libflux-core:\t\t0.88.0" and others.
_BANNER = re.compile(r"^commands:\s+(\d+)\.(\d+).*\n(?:.*\n)*?libflux-core:", re.MULTILINE)

# Options that choose hosts or the number of ranks.
_HOST_OPTIONS = frozenset({"n", "ntasks", "N", "nodes", "requires", "tasks-per-node"})

_FIRST_WITH_HOSTFILE = (0, 61)
"""The first version with `--taskmap=hostfile:`. Source: flux-core's NEWS.md."""


@dataclasses.dataclass(frozen=True)
class Flux(SchedulerLauncher):
    """`flux run` inside an instance.

    Attributes:
        path: The program `flux`.
        flux_version: Flux's version.
        mpi: The MPI of the program that is to run, or of this environment.
    """

    path: Path
    flux_version: tuple[int, ...]
    mpi: ProgramMpi
    name: str = "flux run"
    agent_variables: tuple[str, ...] = ()
    agent_options: tuple[str, ...] = ()
    has_name_service: bool = False

    @classmethod
    def recognise(cls, path: Path, banner: str, program: str | None = None) -> Flux | None:
        """This launcher, when `banner` (the output of `--version`) is its own.

        Args:
            path: The program `flux`.
            banner: What it prints.
            program: The program that is to run, whose libraries show the MPI; None for the MPI of
                this environment.

        Raises:
            LaunchError: This is no instance of Flux, or there is no MPI.
        """
        found = _BANNER.search(banner)
        if found is None:
            return None
        if not is_in_flux():
            raise LaunchError(
                f"{path}: this is no instance of Flux, and each start by flux run would wait in "
                "the queue as a job of its own; run inside flux alloc or flux batch"
            )
        mpi, _ = choose_program_mpi(path, program)
        return cls(path, tuple(int(part) for part in found.groups()), mpi)

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _HOST_OPTIONS)
        if spec.placement is not None and self.flux_version < _FIRST_WITH_HOSTFILE:
            version = ".".join(map(str, self.flux_version))
            raise LaunchError(
                f"Flux {version} takes no hostfile for the places of tasks; Flux 0.61 and later do"
            )

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = start_of_placement(spec, unbinding=("-o", "cpu-affinity=off"))
        arguments, program = flux_exports(spec.env, spec.launcher_args, spec.program)
        return [
            str(self.path),
            "run",
            *(("--input=0",) if spec.is_tool else ()),
            *_hosts(spec, work_dir),
            *(() if spec.num_ranks is None else (f"--ntasks={spec.num_ranks}",)),
            *arguments,
            *_cpu_option(spec),
            *program,
        ]


def _hosts(spec: LaunchSpec, work_dir: Path) -> list[str]:
    """The job's hosts, and a line of a file for each rank. Source: flux-run(1), `--taskmap`."""
    if spec.placement is not None:
        hosts = spec.placement.host_names()
        named = [*dict.fromkeys(hosts)]
        file = write_once(work_dir, "ranks", hosts)
        return [*_on_hosts(named), *_whole_hosts(spec, hosts), f"--taskmap=hostfile:{file}"]
    if spec.cluster is None:
        return []
    num_used = len(spec.cluster.hosts)
    if spec.num_ranks is not None and spec.num_ranks < num_used:  # Which hosts is Flux's choice.
        return [f"--requires=host:{','.join(spec.cluster.hosts)}"]
    return _on_hosts([*spec.cluster.hosts])


def _on_hosts(hosts: list[str]) -> list[str]:
    return [f"--nodes={len(hosts)}", f"--requires=host:{','.join(hosts)}"]


def _whole_hosts(spec: LaunchSpec, hosts: list[str]) -> list[str]:
    """A job gets cores for as many tasks on each host: where one has more, it takes whole hosts."""
    num_of_host = [hosts.count(host) for host in set(hosts)]
    is_even = max(num_of_host) * len(num_of_host) < len(hosts) + len(num_of_host)
    return [] if is_even or spec.shares_hosts else ["--exclusive"]


def _cpu_option(spec: LaunchSpec) -> list[str]:
    """The CPUs of ranks by one list for all hosts, since there is no other.

    Raises:
        LaunchError: The hosts need different lists.
    """
    if spec.cpus is None:
        return []
    return ["-o", f"cpu-affinity=map:{';'.join(common_cpu_list(spec, 'flux run'))}"]
