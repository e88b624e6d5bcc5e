# SPDX-License-Identifier: Apache-2.0
"""MPICH: `mpiexec` of the Hydra process manager."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.act.launch import _hydra
from fairlead.act.launch._cpu_list import are_neighbours, common_cpu_list, hydra_cpu_option
from fairlead.act.launch._placed_start import start_of_placement
from fairlead.act.launch._spec_checks import check_spec, given_hostfile, login_words
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.mpi_library import mpich_abi
from fairlead.errors import LaunchError

_BANNER = re.compile(r"HYDRA build details:\s*Version:\s*(\d+)\.(\d+)(?:\.(\d+))?")


@dataclasses.dataclass(frozen=True)
class Mpich:
    """MPICH 3.3 and later; tried with 4.0.2, 4.3.2 and 5.0.2.

    `abi` is MPICH's, with the name that the library has here, unless the program has another.
    """

    path: Path
    version: tuple[int, ...]
    family: str = "mpich"
    name: str = "MPICH"
    agent_variables: tuple[str, ...] = ("HYDRA_LAUNCHER_EXEC",)
    agent_options: tuple[str, ...] = ("-launcher-exec",)
    has_name_service: bool = True
    abi: str = ""

    def __post_init__(self) -> None:
        if not self.abi:
            object.__setattr__(self, "abi", mpich_abi(self.path))

    @classmethod
    def recognise(cls, path: Path, banner: str) -> Mpich | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(part) for part in found.groups() if part)) if found else None

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _hydra.HOST_OPTIONS)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = start_of_placement(spec)
        binding = _bind_option(spec)
        own = given_hostfile(spec, self.family)
        file = _hydra.hosts_file(spec, work_dir, own, lambda line: _with_settings(spec, line))
        hosts = [] if file is None else ["-f", str(file)]
        start = [*_without_slurm(spec, work_dir), *binding]
        return _hydra.command_line(self.path, spec, hosts, start)


def _bind_option(spec: LaunchSpec) -> list[str]:
    """The CPUs of ranks by one list for all hosts.

    Raises:
        LaunchError: The hosts need different lists, or a host has ranks that are no neighbours.
    """
    if spec.cpus is None:
        return []
    assert spec.placement is not None
    lists = common_cpu_list(spec, "Hydra")
    if not are_neighbours(spec.placement):
        raise LaunchError("Hydra binds only neighbouring ranks of a host by a list of CPUs")
    return list(hydra_cpu_option(lists))


def _without_slurm(spec: LaunchSpec, work_dir: Path) -> list[str]:
    is_unreached = _hydra.must_avoid_slurm(spec)
    has_launcher = _hydra.has_chosen(
        spec, {"launcher", "bootstrap"}, {"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP"}
    )
    if has_launcher and not is_unreached:
        return []
    # Hydra 4.0.2 itself asks srun for as many hosts as the file has lines: "Only allocated 4 nodes
    # asked for 8", and waits for ever.
    is_by_agent = spec.placement is not None and not is_unreached and not has_launcher
    agent = _hydra.srun_agent(work_dir) if is_by_agent else None
    if not is_unreached and agent is None:
        return []
    words = [] if _hydra.has_chosen(spec, {"rmk"}, {"HYDRA_RMK"}) else ["-rmk", "user"]
    by_agent = [] if agent is None else ["-launcher-exec", str(agent)]
    return words if has_launcher else [*words, "-launcher", "ssh", *by_agent]


def _with_settings(spec: LaunchSpec, line: str) -> str:
    """The line `HOST:N` with what the user's hostfile sets for the host."""
    host = line.rpartition(":")[0]
    binding = spec.cluster.bindings.get(host) if spec.cluster is not None else None
    # CPUs that were chosen for the ranks replace it, as they replace -bind-to.
    bound = "" if binding is None or spec.cpus is not None else f" binding={binding}"
    return line + bound + login_words(spec, host, "user", None)
