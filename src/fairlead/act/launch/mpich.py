# SPDX-License-Identifier: Apache-2.0
"""MPICH: `mpiexec` of the Hydra process manager."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.act.launch import _hydra
from fairlead.act.launch._placed_start import placed_start
from fairlead.act.launch._spec_checks import check_spec, given_hostfile, login_words
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.mpi_library import mpich_abi
from fairlead.errors import LaunchError

_BANNER = re.compile(r"HYDRA build details:\s*Version:\s*(\d+)\.(\d+)(?:\.(\d+))?")


@dataclasses.dataclass(frozen=True)
class Mpich:
    """MPICH 3.3 and later; tried with 4.0.2 and 4.3.2."""

    path: Path
    version: tuple[int, ...]
    family: str = "mpich"
    name: str = "MPICH"
    agent_variables: tuple[str, ...] = ("HYDRA_LAUNCHER_EXEC",)
    agent_options: tuple[str, ...] = ("-launcher-exec",)

    @classmethod
    def recognise(cls, path: Path, banner: str) -> Mpich | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(part) for part in found.groups() if part)) if found else None

    @property
    def abi(self) -> str:
        """The binary interface of its MPI: MPICH's, with the name that the library has here."""
        return mpich_abi(self.path)

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, _hydra.HOST_OPTIONS)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = placed_start(spec)
        if spec.cpus is not None:
            raise LaunchError("Hydra takes no list of CPUs for each rank")
        own = given_hostfile(spec, self.family)
        file = _hydra.hosts_file(spec, work_dir, own, lambda line: _with_user(spec, line))
        hosts = [] if file is None else ["-f", str(file)]
        return _hydra.command_line(self.path, spec, hosts, _without_slurm(spec))


def _without_slurm(spec: LaunchSpec) -> list[str]:
    if not _hydra.must_avoid_slurm(spec):
        return []
    words = [] if _hydra.has_chosen(spec, {"rmk"}, {"HYDRA_RMK"}) else ["-rmk", "user"]
    has_launcher = _hydra.has_chosen(spec, {"launcher", "bootstrap"}, {"HYDRA_LAUNCHER"})
    return words if has_launcher else [*words, "-launcher", "ssh"]


def _with_user(spec: LaunchSpec, line: str) -> str:
    return line + login_words(spec, line.rpartition(":")[0], "user", None)
