# SPDX-License-Identifier: Apache-2.0
"""MPICH: `mpiexec` of the Hydra process manager."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from fairlead.act.launch._exports import hydra_exports
from fairlead.act.launch._placed_start import placed_start
from fairlead.act.launch._spec_checks import (
    check_spec,
    given_hostfile,
    is_in_allocation,
    login_words,
    option_names,
    slots_per_host,
    write_once,
)
from fairlead.act.launch.formats.machinefile import machinefile_lines
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.slurm import is_reached_by_launchers
from fairlead.errors import LaunchError

_BANNER = re.compile(r"HYDRA build details:\s*Version:\s*(\d+)\.(\d+)(?:\.(\d+))?")

HOST_OPTIONS = frozenset({"n", "np", "f", "hostfile", "machinefile", "machine", "hosts", "host"})


@dataclasses.dataclass(frozen=True)
class Mpich:
    """MPICH 3.3 and later; tried with 4.0.2."""

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

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything."""
        check_spec(spec, HOST_OPTIONS)

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line."""
        self.check(spec)
        spec = placed_start(spec)
        if spec.cpus is not None:
            raise LaunchError("Hydra takes no list of CPUs for each rank")
        return [
            str(self.path),
            *_hosts(spec, work_dir),
            *_without_slurm(spec),
            *(() if spec.num_ranks is None else ("-n", str(spec.num_ranks))),
            *hydra_exports(spec.env, spec.launcher_args),
            *spec.program,
        ]


def _hosts(spec: LaunchSpec, work_dir: Path) -> list[str]:
    # Hydra assigns ranks in the order of the lines, and a host may appear again, so lines in rank
    # order can express any placement. Binding is a separate option (-bind-to, default none) and is
    # not set here.
    if spec.placement is not None:
        lines = machinefile_lines(spec.placement.host_names())
        return [
            "-f",
            str(write_once(work_dir, "ranks", [_with_user(spec, line) for line in lines])),
        ]
    if spec.cluster is None or is_in_allocation(spec):
        return []
    own = given_hostfile(spec, "mpich")
    lines = [f"{host}:{slots}" for host, slots in slots_per_host(spec).items()]
    lines = [_with_user(spec, line) for line in lines]
    return ["-f", str(own or write_once(work_dir, "hosts", lines))]


def _without_slurm(spec: LaunchSpec) -> list[str]:
    # Hydra's part for Slurm starts its proxies by srun, in the first component of a heterogeneous
    # job alone.
    if spec.cluster is None or is_reached_by_launchers(spec.cluster.hosts):
        return []
    named = option_names(spec.launcher_args)
    words = [] if "rmk" in named or "HYDRA_RMK" in os.environ else ["-rmk", "user"]
    has_launcher = {"launcher", "bootstrap"} & {*named} or "HYDRA_LAUNCHER" in os.environ
    return words if has_launcher else [*words, "-launcher", "ssh"]


def _with_user(spec: LaunchSpec, line: str) -> str:
    return line + login_words(spec, line.rpartition(":")[0], "user", None)
