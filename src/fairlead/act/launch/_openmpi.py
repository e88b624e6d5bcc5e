# SPDX-License-Identifier: Apache-2.0
"""What Open MPI 4 and 5 have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch._exports import openmpi_exports
from fairlead.act.launch._spec_checks import (
    given_hostfile,
    is_in_allocation,
    login_words,
    named_hosts,
    option_names,
    write_once,
)
from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.act.launch.parameter_files import file_parameter
from fairlead.act.launch.slurm import is_reached_by_launchers
from fairlead.errors import LaunchError

HOST_OPTIONS = frozenset(
    {"n", "np", "c", "H", "host", "hostfile", "machinefile", "default-hostfile"}
)

# Both must be exactly "1": tried with Open MPI 4.1.4 and 5.0.11, where other values, one variable
# alone and (in 5) the names with PRTE_ are refused.
_ALLOW_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def check_root(spec: LaunchSpec) -> None:
    """Check that Open MPI will not refuse to start because the user is root.

    Raises:
        LaunchError: The user is root and has not allowed Open MPI to run as root.
    """
    allowed = all(os.environ.get(name) == "1" for name in _ALLOW_ROOT)
    if os.geteuid() == 0 and not allowed and "--allow-run-as-root" not in spec.launcher_args:
        raise LaunchError(
            "Open MPI refuses to run as root; become an ordinary user, or accept the risk with "
            "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
        )


def command_line(
    path: Path, spec: LaunchSpec, hosts: Sequence[str], delimiter: str = ";"
) -> list[str]:
    """Command line that starts the program on the hosts that the arguments `hosts` give.

    `delimiter` stands between two variables of the parameter mca_base_env_list.
    """
    return [
        str(path),
        *hosts,
        *_without_slurm(spec),
        *(() if spec.num_ranks is None else ("-n", str(spec.num_ranks))),
        *binding(spec),
        *openmpi_exports(spec.env, spec.launcher_args, path, delimiter),
        *spec.program,
    ]


def _without_slurm(spec: LaunchSpec) -> list[str]:
    """Arguments by which hosts of all components of a heterogeneous Slurm job can be used.

    Open MPI's parts for Slurm take the first component for the whole job, and refuse other hosts.
    """
    if spec.cluster is None or is_reached_by_launchers(spec.cluster.hosts):
        return []
    prefixes = ("OMPI_MCA_", "PRTE_MCA_")
    return [
        word
        for part in ("ras", "plm")
        if parameter(spec, part) is None and not any(p + part in os.environ for p in prefixes)
        for word in ("--mca", part, "^slurm")
    ]


def hostfile_options(spec: LaunchSpec, work_dir: Path) -> list[str]:
    """Arguments that name hosts and leave the placement to the launcher: the user's own file."""
    if spec.cluster is None or is_in_allocation(spec):
        return []
    own = given_hostfile(spec, "openmpi")
    return ["--hostfile", str(own or write_once(work_dir, "hosts", hostfile_lines(spec)))]


def hostfile_lines(spec: LaunchSpec) -> list[str]:
    """The hostfile, with one line for the slots of a host: Open MPI refuses two with slots=."""
    slots_of_host: dict[str, int] = {}
    lines: dict[str, list[str]] = {}
    for host, slots in named_hosts(spec):
        if slots is None:  # Each further line adds one.
            lines.setdefault(host, []).append(host)
        else:
            slots_of_host[host] = slots_of_host.get(host, 0) + slots
            lines[host] = [f"{host} slots={slots_of_host[host]}"]
    return [line + login_of(spec, host) for host, some in lines.items() for line in some]


def mapping_parts(path: Path, parts: str, prefix: str, runtime: str) -> list[str]:
    """Arguments that let these parts map ranks, where a variable or a file chooses other ones.

    Args:
        path: The launcher.
        parts: The parts that read the files of a placement.
        prefix: Beginning of variables that set parameters.
        runtime: As for `file_parameter`.
    """
    chosen = os.environ.get(f"{prefix}rmaps") or file_parameter("rmaps", path, runtime=runtime)
    return ["--mca", "rmaps", parts] if chosen else []


def parameter(spec: LaunchSpec, name: str) -> str | None:
    """Value of an MCA parameter among the user's launcher arguments."""
    words = spec.launcher_args
    for at in range(len(words) - 2):
        if words[at].lstrip("-") in {"mca", "gmca"} and words[at + 1] == name:
            return words[at + 2]
    return None


def login_of(spec: LaunchSpec, host: str) -> str:
    """User and port of a host, as words of a line of Open MPI's hostfile."""
    return login_words(spec, host, "username", "port")


def must_unbind(spec: LaunchSpec) -> bool:
    """Whether the program shares its hosts and the user says nothing about binding.

    Each mpirun would bind its first rank on a host to the first core, since it ignores the others.
    """
    return spec.shares_hosts and "bind-to" not in option_names(spec.launcher_args)


def binding(spec: LaunchSpec) -> list[str]:
    """Arguments that leave ranks unbound, for a program that shares its hosts."""
    return ["--bind-to", "none"] if must_unbind(spec) else []
