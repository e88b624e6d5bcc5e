# SPDX-License-Identifier: Apache-2.0
"""Intel MPI: `mpirun` and `mpiexec.hydra`, a Hydra with options and variables of its own."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from fairlead.act.launch import _hydra
from fairlead.act.launch._cpu_list import common_cpu_list, intel_cpu_variable
from fairlead.act.launch._placed_start import has_placing_option, start_of_placement
from fairlead.act.launch._spec_checks import check_spec, given_hostfile
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.mpi_library import MPICH_ABI
from fairlead.errors import LaunchError

# "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)"; before 2021:
# "Version 2019 Update 9 Build 20200923".
_BANNER = re.compile(
    r"Intel\(R\) MPI Library for Linux\*? OS, Version (\d+)(?:\.(\d+))?(?:\.(\d+))?"
    r"(?: Update (\d+))?"
)

HOST_OPTIONS = _hydra.HOST_OPTIONS | {"hosts-group", "nolocal"}


@dataclasses.dataclass(frozen=True)
class IntelMpi:
    """Intel MPI 2019 and later; the traps named below were seen with 2021.18.1."""

    path: Path
    version: tuple[int, ...]
    family: str = "intel"
    name: str = "Intel MPI"
    abi: str = MPICH_ABI
    # The first one is taken where both are set; also with its variable alone it is used for ssh.
    agent_variables: tuple[str, ...] = ("I_MPI_HYDRA_BOOTSTRAP_EXEC", "HYDRA_LAUNCHER_EXEC")
    agent_options: tuple[str, ...] = ("-bootstrap-exec", "-launcher-exec")
    has_name_service: bool = True

    @classmethod
    def recognise(cls, path: Path, banner: str) -> IntelMpi | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(part) for part in found.groups() if part)) if found else None

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, HOST_OPTIONS)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        if spec.cpus is not None and spec.cpus.by_program:  # MPI_Init pins once more.
            raise LaunchError("Intel MPI chooses the CPUs of ranks by its own variables alone")
        spec = _pin_ranks(start_of_placement(spec))
        has_users = spec.cluster is not None and spec.cluster.logins
        own = None if has_users else given_hostfile(spec, "mpich")
        file = _hydra.hosts_file(spec, work_dir, own, lambda line: _with_user(spec, line))
        # With -f, -hostfile and -hosts the numbers behind hosts mean nothing, hosts are filled by
        # their cores, and one that is named again counts once; -ppn and I_MPI_PERHOST change that.
        # With -machinefile the lines are followed, whatever these are.
        is_spread = spec.placement is None and not has_users and _spreads_ranks(spec)
        option = "-f" if is_spread else "-machinefile"
        hosts = [] if file is None else [option, str(file)]
        return _hydra.command_line(self.path, spec, hosts, _bootstrap(spec, work_dir, file))


def _spreads_ranks(spec: LaunchSpec) -> bool:
    """Whether the user chose how many ranks follow one another on a host."""
    return has_placing_option(spec.launcher_args) or bool(os.environ.get("I_MPI_PERHOST"))


def _pin_ranks(spec: LaunchSpec) -> LaunchSpec:
    """The start with the variables that choose the CPUs of ranks, one list for all hosts.

    Raises:
        LaunchError: The hosts need different lists.
    """
    if spec.cpus is None:
        return spec
    name, value = intel_cpu_variable(common_cpu_list(spec, "Intel MPI"))
    return dataclasses.replace(spec, env={**spec.env, "I_MPI_PIN": "on", name: value})


def _bootstrap(spec: LaunchSpec, work_dir: Path, hosts: Path | None) -> list[str]:
    """How hosts are reached in a job of Slurm, where the user has not chosen it.

    2021.18.1 reaches the hosts of a file by ssh, also there. By `-bootstrap slurm` it sends srun a
    list of them, whose order Slurm does not keep: ranks run on other hosts than the file has.
    """
    variables = {"I_MPI_HYDRA_BOOTSTRAP", "HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP"}
    if _hydra.has_chosen(spec, {"bootstrap", "launcher"}, variables):
        return []
    if _hydra.must_avoid_slurm(spec):
        return ["-bootstrap", "ssh"]
    has_agent = _hydra.has_chosen(
        spec, {"bootstrap-exec", "launcher-exec"}, {*IntelMpi.agent_variables}
    )
    agent = None if hosts is None or has_agent else _hydra.srun_agent(work_dir)
    return [] if agent is None else ["-bootstrap", "ssh", "-bootstrap-exec", str(agent)]


def _with_user(spec: LaunchSpec, line: str) -> str:
    """USER@HOST:N, since a line with user= is refused."""
    host = line.rpartition(":")[0]
    login = spec.cluster.logins.get(host) if spec.cluster is not None else None
    return line if login is None or login.user is None else f"{login.user}@{line}"
