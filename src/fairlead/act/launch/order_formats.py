# SPDX-License-Identifier: Apache-2.0
"""An order of hosts in the forms of those that start ranks, one entry each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairlead.act.launch.host_names import is_local_host
from fairlead.errors import InputError

__all__ = [
    "ORDER_FORMATS",
    "HostOrder",
    "OrderFormat",
    "format_of_command",
    "numbers_hosts_itself",
    "own_host",
]


_PYTHON = re.compile(r"python[0-9.]*", re.A)
STATIC = "static"
"""torchrun's rendezvous with the ranks that are given, which is its default."""


@dataclasses.dataclass(frozen=True)
class HostOrder:
    """Hosts in the order of their ranks.

    Attributes:
        hosts: Their names.
        slots: Ranks of each.
        own: The one that this process runs on, or that the user names; None where it is none.
        port: Port of the rendezvous on the first host.
    """

    hosts: Sequence[str]
    slots: Sequence[int]
    own: str | None = None
    port: int = 29500

    @property
    def node_rank(self) -> int:
        """Position of this node's host.

        Raises:
            InputError: It is none of the hosts.
        """
        if self.own is None or self.own not in self.hosts:
            raise InputError(
                f"this machine is none of the hosts in order ({', '.join(self.hosts)}), so it has "
                "no rank; run the command there, or name the host by --node"
            )
        return list(self.hosts).index(self.own)


class OrderFormat(NamedTuple):
    """A form of an order.

    Attributes:
        text: What is printed.
        summary: For whom, in one line.
        variables: From the order and the file with its text the variables that make a command use
            it; None where the command names the file itself.
        is_of_node: The text is that of one host, and no file is needed.
        programs: Names of the programs that read this form.
    """

    text: Callable[[HostOrder], str]
    summary: str
    variables: Callable[[HostOrder, Path | None], Mapping[str, str]] | None = None
    is_of_node: bool = False
    programs: frozenset[str] = frozenset()


def own_host(hosts: Sequence[str]) -> str | None:
    """The one of these names that means this machine; None where none does."""
    return next((host for host in hosts if is_local_host(host)), None)


def format_of_command(command: Sequence[str]) -> str | None:
    """The form that a command reads, by its program; None where that is not known.

    A program of Python may be started as a module: `python -u -m torch.distributed.run`.
    """
    names = {Path(command[0]).name} if command else set()
    if command and _PYTHON.fullmatch(Path(command[0]).name):
        names |= _module(command[1:])
    known = ((name, each.programs) for name, each in ORDER_FORMATS.items())
    return next((name for name, programs in known if programs & names), None)


def _module(arguments: Sequence[str]) -> set[str]:
    """The module that Python's arguments start; none for a script.

    Source: Python, command line and environment: -m ends the options; -W and -X have a value.
    """
    given = iter(arguments)
    for argument in given:
        if not argument.startswith("-") or argument == "-":
            return set()
        if argument in {"-W", "-X", "--check-hash-based-pycs"}:
            next(given, None)
        elif not argument.startswith("--") and "m" in argument:
            before, _, after = argument[1:].partition("m")
            if not set(before) & set("cWX"):
                return {after or next(given, "")}
    return set()


def numbers_hosts_itself(command: Sequence[str]) -> str | None:
    """The option by which torchrun sorts hosts by their names; None where it has none.

    Source: torch.distributed.run: node_rank is of the static rendezvous; --standalone is of c10d.
    """
    arguments = iter(command[1:])
    found = None
    for argument in arguments:
        if argument.endswith(".py"):
            break  # what follows is the script's
        option, equals, value = argument.partition("=")
        name = option.replace("_", "-")
        if name == "--standalone":
            return option
        if name == "--rdzv-backend":
            value = value if equals else next(arguments, "")
            found = None if value == STATIC else f"{option}={value}"
    return found


def _slots_lines(order: HostOrder) -> str:
    rows = zip(order.hosts, order.slots, strict=True)
    return "".join(f"{host} slots={slots}\n" for host, slots in rows)


def _colon_lines(order: HostOrder) -> str:
    """Source: mpiexec of MPICH (Hydra), -f; MPI Operator, the hostfile of Intel MPI and MPICH."""
    rows = zip(order.hosts, order.slots, strict=True)
    return "".join(f"{host}:{slots}\n" for host, slots in rows)


def _names(order: HostOrder) -> str:
    return "".join(f"{host}\n" for host in order.hosts)


def _slurm(order: HostOrder) -> str:
    """A line for each task. Source: srun(1), `--distribution=arbitrary` and SLURM_HOSTFILE."""
    rows = zip(order.hosts, order.slots, strict=True)
    return "".join(f"{host}\n" * slots for host, slots in rows)


def _slurm_variables(_order: HostOrder, file: Path | None) -> Mapping[str, str]:
    return {"SLURM_HOSTFILE": str(file), "SLURM_DISTRIBUTION": "arbitrary"}


def _torchrun(order: HostOrder) -> str:
    """Options with underscores, which torch 1.13 and 2 take; those with hyphens came with 2."""
    return (
        f"--nnodes={len(order.hosts)} --node_rank={order.node_rank} "
        f"--master_addr={order.hosts[0]} --master_port={order.port}\n"
    )


def _torchrun_variables(order: HostOrder, _file: Path | None) -> Mapping[str, str]:
    """PET_ and the name of an option of torchrun is the variable with its default."""
    values = {
        "NNODES": str(len(order.hosts)),
        "NODE_RANK": str(order.node_rank),
        "MASTER_ADDR": order.hosts[0],
        "MASTER_PORT": str(order.port),
    }
    # Kubeflow's operator sets another rendezvous, which would sort hosts by their names.
    rendezvous = {"RDZV_BACKEND": STATIC, "RDZV_ENDPOINT": f"{order.hosts[0]}:{order.port}"}
    options = {**values, **rendezvous}
    return {**values, **{f"PET_{name}": value for name, value in options.items()}}


def _task_prolog(order: HostOrder) -> str:
    """Lines that set variables of the task. Source: slurm.conf(5), TaskProlog."""
    variables = _torchrun_variables(order, None)
    return "".join(f"export {name}={value}\n" for name, value in variables.items())


def _kueue(order: HostOrder) -> str:
    return "".join(
        f"kubectl label --overwrite node {host} fairlead.dev/rank={index:06d}\n"
        for index, host in enumerate(order.hosts)
    )


ORDER_FORMATS: Mapping[str, OrderFormat] = {
    "hostfile": OrderFormat(
        _slots_lines,
        "Open MPI's hostfile",
        programs=frozenset(
            {"mpirun", "mpiexec", "prterun", "orterun", "mpirun.openmpi", "mpiexec.openmpi"}
        ),
    ),
    "mpich": OrderFormat(
        _colon_lines,
        "the hostfile of MPICH and Intel MPI",
        programs=frozenset({"mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich"}),
    ),
    "slurm": OrderFormat(
        _slurm,
        "the file for srun's SLURM_HOSTFILE",
        _slurm_variables,
        programs=frozenset({"srun"}),
    ),
    "torchrun": OrderFormat(
        _torchrun,
        "torchrun's options, of this host",
        _torchrun_variables,
        is_of_node=True,
        programs=frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"}),
    ),
    "task-prolog": OrderFormat(
        _task_prolog,
        "torchrun's variables, of this host, as Slurm's TaskProlog prints them",
        is_of_node=True,
    ),
    "deepspeed": OrderFormat(
        _slots_lines, "DeepSpeed's hostfile", programs=frozenset({"deepspeed"})
    ),
    "mpi-operator": OrderFormat(
        _slots_lines, "the hostfile of Kubernetes' MPI Operator, where that is Open MPI's"
    ),
    "kueue": OrderFormat(_kueue, "commands that label nodes by their rank"),
    "names": OrderFormat(_names, "names alone, one a line"),
}
