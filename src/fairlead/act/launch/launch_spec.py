# SPDX-License-Identifier: Apache-2.0
"""What a launcher is to start, and the interface of all launchers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement


@dataclasses.dataclass(frozen=True)
class RankCpus:
    """The CPUs on which each rank may run.

    Attributes:
        lists: For each rank, in the form of cpuset(7): "0-3,8".
        by_program: Whether each rank asks for them itself, by taskset(1) before its program, and
            not the launcher.
    """

    lists: tuple[str, ...]
    by_program: bool


@dataclasses.dataclass(frozen=True)
class LaunchSpec:
    """One MPI program on some hosts.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks to start; None leaves it to the launcher.
        cluster: Hosts and slots; None leaves both to the launcher (one machine, or a scheduler's
            allocation).
        placement: Host of each rank; None leaves the placement to the launcher.
        env: Environment variables that every rank gets in addition to its usual ones.
        launcher_args: The user's own arguments for the launcher, passed on unchanged. Those that
            place ranks have no effect in a start with a placement.
        shares_hosts: Other jobs run on the same hosts; its ranks are not bound to cores then,
            unless `launcher_args` bind them.
        cpus: CPUs of the ranks, for a start with a placement; None leaves them to the launcher.
        is_tool: A program of Fairlead's own. It may share CPUs with what the job runs already, and
            its first rank alone reads standard input.
    """

    program: tuple[str, ...]
    num_ranks: int | None
    cluster: Cluster | None = None
    placement: Placement | None = None
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    launcher_args: tuple[str, ...] = ()
    shares_hosts: bool = False
    cpus: RankCpus | None = None
    is_tool: bool = False


class Launcher(Protocol):
    """One MPI launcher that was found on this machine; one file per family and generation."""

    @property
    def family(self) -> str:
        """Family of MPIs: "openmpi", "mpich" or "intel"."""
        ...

    @property
    def name(self) -> str:
        """Name in messages, for example "Open MPI"."""
        ...

    @property
    def version(self) -> tuple[int, ...]:
        """Version of the MPI, for example (4, 1, 4)."""
        ...

    @property
    def abi(self) -> str:
        """Binary interface of the MPI's library, for example "mpich-libmpi.so.12"."""
        ...

    @property
    def path(self) -> Path:
        """The launcher's program, for example /usr/bin/mpirun.openmpi."""
        ...

    @property
    def agent_variables(self) -> tuple[str, ...]:
        """Environment variables that name the program that reaches other hosts, instead of ssh."""
        ...

    @property
    def agent_options(self) -> tuple[str, ...]:
        """Launcher parameters that do the same."""
        ...

    @property
    def has_name_service(self) -> bool:
        """Whether its ranks find one another by MPI_Publish_name (MPI 4.0, section 11.4.4)."""
        ...

    def check(self, spec: LaunchSpec) -> None:
        """Check what is to be started, without starting or writing anything.

        Raises:
            TopologyError: The ranks or the placement do not fit the cluster.
            LaunchError: The launcher would refuse, or an argument overrules the placement.
        """
        ...

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        """Write the files that the program's start needs to `work_dir`; return the command line.

        Raises:
            Error: As `check`, or a file cannot be written.
        """
        ...
